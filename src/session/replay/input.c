// SPDX-License-Identifier: BSD-2-Clause
/* Merges the inputs of a replay. */

#include "session/replay/input.h"

#include "base/alloc.h"
#include "session/derive/derive.h"
#include "trace/merge.h"
#include "trace/open.h"

#include <errno.h>
#include <stdbool.h>
#include <sys/stat.h>

/* What is open already, while the next one is opened. */
struct opening {
	struct replay_input *input;
	struct event_catalog *catalog;
	struct asterism_diag *diag;
	struct event_source **sources;
	size_t source_count;
	bool sized; /* every input so far says how long it is */
};

static int open_replay_input(struct opening *opening, const char *file)
{
	struct event_source **source = &opening->sources[opening->source_count];
	int result = trace_open(file, opening->catalog, opening->diag, source);
	struct stat status;

	if (result)
		return result;
	opening->source_count++;
	/* An input that says what it holds may lack what follows from that. */
	if ((*source)->kind->holds)
		result = derive_new(*source, opening->catalog, opening->diag, source);
	else if (stat(file, &status) == 0 && S_ISDIR(status.st_mode))
		diag_add(opening->diag, ASTERISM_NOTE, NULL, NULL,
			 "%s does not list which events were enabled, so an absent event may have happened and not "
			 "been recorded",
			 file);
	if (result)
		return result;
	opening->input->bytes_total += (*source)->bytes_total;
	opening->sized &= (*source)->bytes_total != 0;
	return 0;
}

static int open_replay_inputs(struct opening *opening, const struct session_replay_options *options)
{
	int result = 0;

	opening->sources = alloc_zero(options->file_count, sizeof(struct event_source *));
	if (!opening->sources)
		return diag_no_memory(opening->diag);
	for (size_t i = 0; i < options->file_count && !result; i++) {
		result = open_replay_input(opening, options->files[i]);
		if (!result && options->form)
			trace_jsonl_read_as(opening->sources[i], options->form);
	}
	return result;
}

int replay_input_open(const struct session_replay_options *options, struct event_catalog *catalog,
		      struct asterism_diag *diag, struct replay_input *input)
{
	size_t count = options->file_count;
	struct opening opening = { .input = input, .catalog = catalog, .diag = diag, .sized = true };
	int result;

	*input = (struct replay_input){ 0 };
	result = open_replay_inputs(&opening, options);
	if (!result && count == 1)
		input->source = opening.sources[0];
	else if (!result)
		result = trace_merge_new(opening.sources, count, diag, &input->source);
	for (size_t i = 0; i < opening.source_count && result; i++)
		event_source_free(opening.sources[i]);
	if (!opening.sized)
		input->bytes_total = 0;
	alloc_free(opening.sources);
	return result;
}

void replay_input_relax(struct replay_input *input)
{
	trace_jsonl_relax(input->source);
}

void replay_input_close(struct replay_input *input)
{
	event_source_free(input->source);
	*input = (struct replay_input){ 0 };
}
