// SPDX-License-Identifier: BSD-2-Clause
/* `asterism dump`: shows recorded events. */

#include "cli/print.h"
#include "cmd/input/inputs.h"
#include "cmd/options/commands.h"
#include "cmd/options/status.h"
#include "cmd/text/event-text.h"
#include "cmd/text/filter.h"
#include "cmd/text/output.h"
#include "cmd/text/signals.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { OUTPUT_BYTES = 1 << 16, TIME_BYTES = 64 };

enum time_form { TIME_START, TIME_WALL, TIME_CLOCK };

struct dump {
	struct inputs inputs;
	struct filter filter;
	struct text_buffer text;
	const char *file; /* NULL: standard output */
	int fd;
	int error; /* errno of the first failure to write */
	bool is_json, is_verbose, at_once;
	enum time_form form;
	uint64_t lost;   /* as far as it has been told */
	uint64_t second; /* whose date this is */
	char date[32];
};

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
	dump->at_once = isatty(dump->fd);
	return STATUS_FINE;
}

/* Says why the output cannot be written, unless its reader has just gone away. */
static void fail_output(struct dump *dump, int error)
{
	dump->error = error;
	if (error != EPIPE)
		cli_error("%s cannot be written: %s", dump->file ? dump->file : "standard output", strerror(error));
}

static void flush(struct dump *dump)
{
	size_t done = 0;

	if (dump->text.failure && !dump->error)
		fail_output(dump, -dump->text.failure);
	while (done < dump->text.length && !dump->error) {
		ssize_t wrote = write(dump->fd, dump->text.bytes + done, dump->text.length - done);

		if (wrote >= 0)
			done += (size_t)wrote;
		else if (errno != EINTR || signals_came())
			fail_output(dump, errno == EINTR ? EPIPE : errno); /* who stops us does not wait for a reader */
	}
	dump->text.length = 0;
}

static void close_output(struct dump *dump)
{
	flush(dump);
	if (dump->file && dump->fd >= 0 && close(dump->fd) && !dump->error)
		fail_output(dump, errno);
	text_fini(&dump->text);
}

/* number, right in a column of width; returns behind it. */
static char *put_digits(char *at, uint64_t number, size_t width, char fill)
{
	char digits[20];
	size_t first = sizeof digits;

	do {
		digits[--first] = (char)('0' + number % 10);
		number /= 10;
	} while (number);
	for (size_t count = sizeof digits - first; count < width; count++)
		*at++ = fill;
	memcpy(at, digits + first, sizeof digits - first);
	return at + (sizeof digits - first);
}

/* The date of the second, which is the last one's for most events. */
static const char *date_of(struct dump *dump, uint64_t second)
{
	time_t seconds = (time_t)second;
	struct tm date;

	if (second != dump->second || !*dump->date) {
		dump->second = second;
		if (!gmtime_r(&seconds, &date) || !strftime(dump->date, sizeof dump->date, "%Y-%m-%d %H:%M:%S", &date))
			strcpy(dump->date, "?");
	}
	return dump->date;
}

/* Seconds since the start or the date, with all their digits. Inputs without wall-clock time count from the start. */
static void show_time(struct dump *dump, uint64_t ts, char time[TIME_BYTES])
{
	uint64_t wall_ns = dump->inputs.source->wall_ns, shown = ts - dump->filter.start_ns;
	char *at = time;

	if (dump->form == TIME_CLOCK) {
		*put_digits(at, ts, 0, ' ') = 0;
		return;
	}
	if (dump->form == TIME_WALL && wall_ns) {
		shown = ts + wall_ns;
		at = stpcpy(at, date_of(dump, shown / 1000000000));
	} else {
		at = put_digits(at, shown / 1000000000, 5, ' ');
	}
	*at++ = '.';
	*put_digits(at, shown % 1000000000, 9, '0') = 0;
}

static void show(struct dump *dump, const struct event *event)
{
	uint64_t lost = dump->inputs.source->lost - dump->lost;
	char time[TIME_BYTES];

	if (dump->is_json) {
		event_text_json(&dump->text, event);
	} else {
		if (lost)
			text_printf(&dump->text, "--- %" PRIu64 " event%s lost from here on ---\n", lost,
				    lost == 1 ? " was" : "s were");
		if (dump->is_verbose)
			text_printf(&dump->text, "%10" PRIu64 " ", event->record->seq);
		show_time(dump, event->record->ts, time);
		event_text_line(&dump->text, event, time);
	}
	dump->lost += lost;
	if (dump->at_once || dump->text.length >= OUTPUT_BYTES)
		flush(dump);
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
			show(dump, &event);
	}
	flush(dump);
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

static int run(const struct cli_arguments *arguments)
{
	struct dump dump = {
		.is_json = arguments->options[OPTION_FORMAT_EVENTS].number == 1,
		.is_verbose = cli_has(arguments, OPTION_VERBOSE),
		.form = (enum time_form)arguments->options[OPTION_TIMES].number,
		.fd = -1,
	};
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

static const struct cli_example examples[] = {
	{ "asterism dump trace", "Shows all events of the trace in the directory trace." },
	{ "asterism dump -e 'sched_*' --cpu 0 --from 2s --to 2500ms trace",
	  "Half a second of what the scheduler did on one processor." },
	{ "asterism dump -f json -p 1234 trace >events.jsonl", "Writes the events of a process for other programs." },
	{ NULL, NULL },
};

const struct cli_command cmd_dump = {
	.name = "dump",
	.summary = "show recorded events",
	.operands = "TRACE...",
	.operands_min = 1,
	.description =
		"Shows the events of all traces, merged by time. A trace is a directory that 'asterism record' has "
		"written, any other directory with a CTF trace, or a file of JSON lines; '-' is standard input.\n\n"
		"A line of text has the time of the event, the processor, the name of the thread, its process and "
		"thread, the event and its fields. With -v its ordinal comes first. In JSON an event is one object per "
		"line, as 'asterism replay' reads it. Where events were lost when the trace was recorded, a line of "
		"text says so, and a warning and the exit status in the end.\n\n"
		"The options that choose events all hold at once. Ordinals and times are those of the whole input, "
		"whatever is shown of it: --from 1.5s is one and a half seconds after its first event, --from @TIME a "
		"time on its clock in ns.\n\n"
		"A trace that is damaged is shown up to the damage, and its other streams to their end.",
	.options = { OPTION_CATALOG, OPTION_CPUS, OPTION_EVENT, OPTION_FORMAT_EVENTS, OPTION_FROM, OPTION_MODE,
		     OPTION_ORDINALS, OPTION_OUTPUT, OPTION_PIDS, OPTION_TIDS, OPTION_TIMES, OPTION_TO,
		     OPTION_VERBOSE },
	.examples = examples,
	.run = run,
};
