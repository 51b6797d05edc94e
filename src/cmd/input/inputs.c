// SPDX-License-Identifier: BSD-2-Clause
/* Handles inputs that are damaged, and ends reading. */

#include "cmd/input/inputs.h"

#include "base/alloc.h"
#include "base/diag.h"
#include "cli/print.h"
#include "cmd/input/rules.h"
#include "cmd/options/status.h"
#include "cmd/text/signals.h"
#include "trace/ctf/read.h"
#include "trace/merge.h"
#include "trace/open.h"

#include <errno.h>
#include <inttypes.h>

/* A file that is something else altogether is not complained of line by line. */
enum { ERRORS_MAX = 10 };

static int open_catalog(const char *path, const struct cli_arguments *arguments, struct asterism_diag *diag,
			struct event_catalog **catalog)
{
	int status;

	if (trace_ctf_is_own(path)) {
		*catalog = event_catalog_new();
		return *catalog ? STATUS_FINE : (diag_no_memory(diag), STATUS_USAGE);
	}
	status = cmd_read_catalog(catalog);
	return status ? status : cmd_add_catalogs(arguments, *catalog, diag) ? STATUS_USAGE : STATUS_FINE;
}

struct trace_jsonl_form inputs_form(const struct cli_arguments *arguments, struct sink *sink)
{
	return (struct trace_jsonl_form){ .is_lenient = cli_has(arguments, OPTION_LENIENT),
					  .time_field = arguments->options[OPTION_TIME_FIELD].text,
					  .on_cut = sink ? sink_cut : NULL,
					  .context = sink };
}

static int open_inputs(struct inputs *inputs, const struct cli_arguments *arguments, struct event_source **sources)
{
	const struct trace_jsonl_form form = inputs_form(arguments, inputs->sink);

	for (size_t i = 0; i < arguments->operand_count; i++) {
		const char *path = arguments->operands[i];
		int status = open_catalog(path, arguments, inputs->diag, &inputs->catalogs[i]);

		inputs->count += inputs->catalogs[i] != NULL;
		if (!status && trace_open(path, inputs->catalogs[i], inputs->diag, &sources[i]))
			status = STATUS_USAGE;
		if (status)
			return status;
		trace_jsonl_read_as(sources[i], &form);
	}
	if (arguments->operand_count == 1)
		inputs->source = sources[0];
	else if (trace_merge_new(sources, arguments->operand_count, inputs->diag, &inputs->source))
		return STATUS_USAGE;
	return STATUS_FINE;
}

int inputs_open(struct inputs *inputs, const struct cli_arguments *arguments)
{
	struct event_source **sources = alloc_zero(arguments->operand_count, sizeof(struct event_source *));
	int status = STATUS_USAGE;

	*inputs = (struct inputs){ .diag = asterism_diag_new(), .sink = inputs->sink };
	inputs->catalogs = alloc_zero(arguments->operand_count, sizeof(struct event_catalog *));
	if (sources && inputs->catalogs && inputs->diag)
		status = open_inputs(inputs, arguments, sources);
	else
		cli_error("out of memory");
	for (size_t i = 0; sources && status && i < arguments->operand_count; i++)
		event_source_free(sources[i]);
	alloc_free(sources);
	if (inputs->diag) {
		cli_print(inputs->diag);
		asterism_diag_clear(inputs->diag);
	}
	if (!status)
		inputs->stop = signals_take();
	return status;
}

void inputs_close(struct inputs *inputs)
{
	event_source_free(inputs->source);
	for (size_t i = 0; i < inputs->count; i++)
		event_catalog_free(inputs->catalogs[i]);
	alloc_free(inputs->catalogs);
	asterism_diag_free(inputs->diag);
}

int inputs_next(struct inputs *inputs, struct event *event)
{
	int result = signals_came() ? 0 : event_source_next(inputs->source, event);

	while (result < 0 && result != -EINTR) {
		cli_print(inputs->diag);
		asterism_diag_clear(inputs->diag);
		inputs->errors++;
		if (result != -EINVAL || inputs->errors == ERRORS_MAX)
			inputs->failure = result;
		if (inputs->failure || signals_came())
			return 0;
		result = event_source_next(inputs->source, event);
	}
	/* What is wrong with an input that has been read to its end. */
	if (!result) {
		cli_print(inputs->diag);
		asterism_diag_clear(inputs->diag);
	}
	return result > 0;
}

int inputs_status(const struct inputs *inputs)
{
	uint64_t lost = inputs->source->lost;

	if (lost)
		cli_warning("%" PRIu64 " event%s lost when this was recorded", lost, lost == 1 ? " was" : "s were");
	if (inputs->errors)
		return STATUS_USAGE;
	return lost ? STATUS_LOST : STATUS_FINE;
}
