// SPDX-License-Identifier: BSD-2-Clause
/* Decides which reader a replayed input gets: a directory is a trace, anything else is JSON lines. */

#include "session/replay-input.h"

#include "base/alloc.h"
#include "session/input.h"
#include "trace/babel.h"
#include "trace/jsonl.h"
#include "trace/merge.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

/* What is open already, while the next one is opened. */
struct opening {
	struct replay_input *input;
	struct event_catalog *catalog;
	struct asterism_diag *diag;
	struct trace_source **sources;
	size_t source_count;
	bool sized; /* every input so far says how long it is */
};

static int open_lines(struct opening *opening, const char *file)
{
	struct replay_input *input = opening->input;
	struct stat status;
	int fd = session_input_open(file, opening->diag), result;

	if (fd < 0)
		return fd;
	input->fds[input->fd_count++] = fd;
	if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode))
		input->bytes_total += (uint64_t)status.st_size;
	else
		opening->sized = false;
	result = trace_jsonl_new(fd, session_input_name(file), opening->catalog, opening->diag,
				 &opening->sources[opening->source_count]);
	opening->source_count += !result;
	return result;
}

static int open_trace(struct opening *opening, const char *folder)
{
	int result = trace_babel_new(folder, opening->catalog, opening->diag, &opening->sources[opening->source_count]);

	opening->sized = false;
	opening->source_count += !result;
	return result;
}

static bool is_folder(const char *file)
{
	struct stat status;

	return stat(file, &status) == 0 && S_ISDIR(status.st_mode);
}

static int open_all(struct opening *opening, const char *const *files, size_t count)
{
	int result = 0;

	opening->sources = alloc_zero(count, sizeof(struct trace_source *));
	opening->input->fds = alloc_zero(count, sizeof *opening->input->fds);
	if (!opening->sources || !opening->input->fds)
		return diag_no_memory(opening->diag);
	for (size_t i = 0; i < count && !result; i++)
		result = is_folder(files[i]) ? open_trace(opening, files[i]) : open_lines(opening, files[i]);
	return result;
}

int replay_input_open(const char *const *files, size_t count, struct event_catalog *catalog, struct asterism_diag *diag,
		      struct replay_input *input)
{
	struct opening opening = { .input = input, .catalog = catalog, .diag = diag, .sized = true };
	int result;

	*input = (struct replay_input){ 0 };
	result = open_all(&opening, files, count);
	if (!result && count == 1)
		input->source = opening.sources[0];
	else if (!result)
		result = trace_merge_new(opening.sources, count, diag, &input->source);
	for (size_t i = 0; i < opening.source_count && result; i++)
		trace_source_free(opening.sources[i]);
	if (!opening.sized)
		input->bytes_total = 0;
	alloc_free(opening.sources);
	return result;
}

void replay_input_close(struct replay_input *input)
{
	trace_source_free(input->source);
	for (size_t i = 0; i < input->fd_count; i++)
		close(input->fds[i]);
	alloc_free(input->fds);
	*input = (struct replay_input){ 0 };
}
