// SPDX-License-Identifier: BSD-2-Clause
/* `asterism dump`: shows recorded events. */

#include "cli/print.h"
#include "cmd/input/inputs.h"
#include "cmd/options/commands.h"
#include "cmd/options/status.h"
#include "cmd/text/filter.h"
#include "cmd/text/output.h"
#include "cmd/text/signals.h"
#include "trace/sink/sink.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

struct dump {
	struct inputs inputs;
	struct filter filter;
	struct event_sink *sink;
	const char *file; /* NULL: standard output */
	int fd;
	int error; /* errno of the first failure to write */
};

static int open_sink(struct dump *dump, const struct cli_arguments *arguments)
{
	const char *chosen = arguments->options[OPTION_FORMAT_EVENTS].text, *format = chosen ? chosen : "text";
	const struct event_sink_options options = {
		.fd = dump->fd,
		.at_once = isatty(dump->fd),
		.stop = dump->inputs.stop,
		.time = (enum event_sink_time)arguments->options[OPTION_TIMES].number,
		.ordinals = cli_has(arguments, OPTION_VERBOSE),
	};
	int result = trace_sink_open(format, &options, &dump->sink);

	if (result)
		cli_error("cannot write events as %s: %s", format, strerror(-result));
	return result ? STATUS_USAGE : STATUS_FINE;
}

static int open_output(struct dump *dump, const struct cli_arguments *arguments)
{
	const char *file = arguments->options[OPTION_OUTPUT].text;

	dump->fd = STDOUT_FILENO;
	if (file && strcmp(file, "-") != 0) {
		dump->file = file;
		dump->fd = cmd_output_open(arguments, file);
		if (dump->fd < 0)
			return STATUS_USAGE;
	}
	return open_sink(dump, arguments);
}

/* Says why the output cannot be written, once and unless its reader has just gone away. */
static void check_output(struct dump *dump, int result)
{
	if (!result || dump->error)
		return;
	dump->error = -result;
	if (result != -EPIPE)
		cli_error("cannot write %s: %s", dump->file ? dump->file : "standard output", strerror(-result));
}

static void close_output(struct dump *dump)
{
	if (dump->sink)
		check_output(dump, event_sink_flush(dump->sink));
	event_sink_free(dump->sink);
	if (dump->file && dump->fd >= 0 && close(dump->fd))
		check_output(dump, -errno);
}

static int show_all(struct dump *dump)
{
	struct event_want want = filter_want(&dump->filter);
	enum filter_verdict verdict = FILTER_SHOW;
	struct event event;
	int status;

	event_source_want(dump->inputs.source, &want);
	while (verdict != FILTER_END && !dump->error && inputs_next(&dump->inputs, &event)) {
		verdict = filter_judge(&dump->filter, &event);
		if (verdict == FILTER_SHOW)
			check_output(dump,
				     event_sink_put(dump->sink, dump->inputs.source, dump->filter.start_ns, &event));
	}
	check_output(dump, event_sink_flush(dump->sink));
	if (dump->error == EPIPE)
		return STATUS_FINE;
	status = inputs_status(&dump->inputs);
	/* A type may be unheard of because its first event did not come. */
	if (!status && verdict != FILTER_END && !signals_came() && !dump->error)
		status = filter_check_names(&dump->filter);
	if (verdict != FILTER_END && !signals_came())
		filter_warn_of_end(&dump->filter);
	return status;
}

static int run_dump(const struct cli_arguments *arguments)
{
	struct dump dump = { .fd = -1 };
	int status = filter_open(&dump.filter, arguments);

	if (!status)
		status = inputs_open(&dump.inputs, arguments);
	if (!status)
		status = open_output(&dump, arguments);
	if (!status)
		status = show_all(&dump);
	close_output(&dump);
	if (dump.error && dump.error != EPIPE)
		status = STATUS_USAGE;
	inputs_close(&dump.inputs);
	filter_close(&dump.filter);
	return status;
}

static const struct cli_example dump_examples[] = {
	{ "asterism dump trace", "Shows all events of the trace in the directory trace." },
	{ "asterism dump -e 'sched_*' --cpu 0 --from 2s --to 2500ms trace",
	  "Shows half a second of scheduling on one CPU." },
	{ "asterism dump -f json -p 1234 trace >events.jsonl", "Writes the events of a process as JSON lines." },
	{ NULL, NULL },
};

const struct cli_command cmd_dump = {
	.name = "dump",
	.summary = "show recorded events",
	.operands = "TRACE...",
	.operands_min = 1,
	.description =
		"Shows the events of all traces, merged by time. A trace is a directory that 'asterism record' has "
		"written, any other directory with a CTF trace, or a file of JSON lines; '-' is standard input.\n\nA "
		"line of text has the time of the event, the CPU, the thread's name, its process and thread ids, the "
		"event and its fields; -v puts the event's ordinal in front. With -f json an event is one object per "
		"line, which 'asterism replay' can read. Where events were lost during recording, the text has a line "
		"that says so; a warning and the exit status repeat it at the end.\n\nAn event is shown if all options "
		"that select events select it. Ordinals and times refer to the whole input: --from 1.5s is one and a "
		"half seconds after its first event, --from @TIME a time on its clock in ns.\n\nA damaged trace is "
		"shown up to the damage, and its other streams to their end.",
	.options = { OPTION_CATALOG, OPTION_CPUS, OPTION_EVENT, OPTION_FORMAT_EVENTS, OPTION_FROM, OPTION_LENIENT,
		     OPTION_MODE, OPTION_ORDINALS, OPTION_OUTPUT, OPTION_PIDS, OPTION_TIDS, OPTION_TIMES,
		     OPTION_TIME_FIELD, OPTION_TO, OPTION_VERBOSE },
	.examples = dump_examples,
	.run = run_dump,
};
