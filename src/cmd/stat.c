// SPDX-License-Identifier: BSD-2-Clause
/* `asterism stat`: what a trace consists of. */

#include "base/alloc.h"
#include "base/text.h"
#include "cli/print.h"
#include "cmd/input/inputs.h"
#include "cmd/options/commands.h"
#include "cmd/options/status.h"
#include "cmd/text/filter.h"
#include "cmd/text/signals.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The time is counted in up to SPANS spans of equal length, which doubles when there would be more: always half full.
 */
enum { SPANS = 20, BAR_COLUMNS = 40, NAME_COLUMNS = 32 };

struct row {
	const char *name;
	uint64_t events, bytes;
};

struct stat_totals {
	struct inputs inputs;
	struct filter filter;
	struct row *rows;
	size_t row_count, row_capacity;
	uint32_t *rows_of; /* per type number of the input: its row + 1; 0: none yet */
	size_t number_count, number_capacity;
	uint64_t events, bytes, first_ns, last_ns;
	uint64_t spans[SPANS], span_ns;
};

static int stat_no_memory(void)
{
	cli_error("out of memory");
	return STATUS_USAGE;
}

/* Types of one name are one row, from whichever trace they are. */
static int find_row(struct stat_totals *totals, const struct event *event, struct row **row)
{
	uint32_t number = event->record->type;
	size_t at = 0;

	while (totals->number_count <= number) {
		if (alloc_grow(&totals->rows_of, &totals->number_capacity, totals->number_count,
			       sizeof *totals->rows_of))
			return stat_no_memory();
		totals->rows_of[totals->number_count++] = 0;
	}
	if (!totals->rows_of[number]) {
		while (at < totals->row_count && strcmp(totals->rows[at].name, event->type->name) != 0)
			at++;
		if (at == totals->row_count) {
			if (alloc_grow(&totals->rows, &totals->row_capacity, at, sizeof *totals->rows))
				return stat_no_memory();
			totals->rows[totals->row_count++] = (struct row){ .name = event->type->name };
		}
		totals->rows_of[number] = (uint32_t)at + 1;
	}
	*row = &totals->rows[totals->rows_of[number] - 1];
	return STATUS_FINE;
}

static void count_time(struct stat_totals *totals, uint64_t ts)
{
	if (!totals->events) {
		totals->first_ns = totals->last_ns = ts;
		totals->span_ns = 1;
	}
	if (ts > totals->last_ns)
		totals->last_ns = ts;
	if (ts < totals->first_ns) /* the input goes back in time */
		ts = totals->first_ns;
	while ((ts - totals->first_ns) / totals->span_ns >= SPANS) {
		for (unsigned i = 0; i < SPANS; i++)
			totals->spans[i] = i < SPANS / 2 ? totals->spans[2 * i] + totals->spans[2 * i + 1] : 0;
		totals->span_ns *= 2;
	}
	totals->spans[(ts - totals->first_ns) / totals->span_ns]++;
}

/* Whatever is asked for, its fields are not looked at. */
static bool wants_no_field(void *context, const struct event_type *type, uint32_t field)
{
	(void)context;
	(void)type;
	(void)field;
	return false;
}

static int count_all(struct stat_totals *totals)
{
	struct event_want want = filter_want(&totals->filter);
	enum filter_verdict verdict = FILTER_SHOW;
	struct event event;
	int status = STATUS_FINE;

	want.wants_field = wants_no_field;
	event_source_want(totals->inputs.source, &want);
	while (!status && verdict != FILTER_END && inputs_next(&totals->inputs, &event)) {
		struct row *row;

		verdict = filter_judge(&totals->filter, &event);
		if (verdict != FILTER_SHOW)
			continue;
		status = find_row(totals, &event, &row);
		if (status)
			break;
		count_time(totals, event.record->ts);
		row->events++;
		row->bytes += event.bytes;
		totals->events++;
		totals->bytes += event.bytes;
	}
	if (!status && verdict != FILTER_END && !signals_came() && !totals->inputs.errors)
		status = filter_check_names(&totals->filter);
	if (verdict != FILTER_END && !signals_came())
		filter_warn_of_end(&totals->filter);
	return status;
}

/* Those with most events first, then by name. */
static int compare_stat_rows(const void *left, const void *right)
{
	const struct row *a = left, *b = right;

	if (a->events != b->events)
		return a->events > b->events ? -1 : 1;
	return strcmp(a->name, b->name);
}

static double share_of_whole(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

static double per_second(uint64_t events, uint64_t ns)
{
	return ns ? (double)events * 1e9 / (double)ns : 0;
}

/* How many spans there are until the last event. */
static unsigned span_count(const struct stat_totals *totals)
{
	return totals->events ? (unsigned)((totals->last_ns - totals->first_ns) / totals->span_ns) + 1 : 0;
}

/* What a span covers of the time: the last one ends with the last event. */
static uint64_t span_length(const struct stat_totals *totals, unsigned span)
{
	uint64_t begin = span * totals->span_ns, whole = totals->last_ns - totals->first_ns;

	return whole - begin < totals->span_ns ? whole - begin : totals->span_ns;
}

static void put_rates(const struct stat_totals *totals)
{
	double greatest = 0;

	for (unsigned i = 0; i < span_count(totals); i++) {
		double rate = per_second(totals->spans[i], totals->span_ns);

		greatest = rate > greatest ? rate : greatest;
	}
	puts("\n          from s      events/s");
	for (unsigned i = 0; i < span_count(totals); i++) {
		double rate = per_second(totals->spans[i], totals->span_ns);
		int columns = (int)(rate / greatest * BAR_COLUMNS + 0.5);

		printf("%16.9f %13.0f  %.*s\n", (double)(i * totals->span_ns) / 1e9, rate, columns,
		       "########################################");
	}
}

static void put_stat_text(const struct stat_totals *totals)
{
	uint64_t ns = totals->last_ns - totals->first_ns;

	printf("%" PRIu64 " events in %.9f s, %.0f events/s, %" PRIu64 " bytes, %" PRIu64 " lost\n", totals->events,
	       (double)ns / 1e9, per_second(totals->events, ns), totals->bytes, totals->inputs.source->lost);
	if (!totals->events)
		return;
	printf("\n%-*s %12s %7s %14s %7s %7s\n", NAME_COLUMNS, "event", "events", "%", "bytes", "%", "mean");
	for (size_t i = 0; i < totals->row_count; i++) {
		const struct row *row = &totals->rows[i];

		int width = text_write(stdout, row->name, TEXT_VALUE);

		printf("%*s %12" PRIu64 " %7.2f %14" PRIu64 " %7.2f %7.1f\n",
		       width < NAME_COLUMNS ? NAME_COLUMNS - width : 0, "", row->events,
		       share_of_whole(row->events, totals->events), row->bytes,
		       share_of_whole(row->bytes, totals->bytes), (double)row->bytes / (double)row->events);
	}
	put_rates(totals);
}

static void put_stat_json(const struct stat_totals *totals)
{
	struct text_buffer text = { 0 };

	text_printf(&text, "{\"events\":%" PRIu64 ",\"bytes\":%" PRIu64 ",\"lost\":%" PRIu64, totals->events,
		    totals->bytes, totals->inputs.source->lost);
	text_printf(&text, ",\"first_ns\":%" PRIu64 ",\"last_ns\":%" PRIu64 ",\"types\":[", totals->first_ns,
		    totals->last_ns);
	for (size_t i = 0; i < totals->row_count; i++) {
		text_append(&text, i ? ",{\"event\":" : "{\"event\":");
		text_json(&text, totals->rows[i].name);
		text_printf(&text, ",\"events\":%" PRIu64 ",\"bytes\":%" PRIu64 "}", totals->rows[i].events,
			    totals->rows[i].bytes);
	}
	text_append(&text, "],\"rate\":[");
	for (unsigned i = 0; i < span_count(totals); i++)
		text_printf(&text, "%s{\"from_ns\":%" PRIu64 ",\"length_ns\":%" PRIu64 ",\"events\":%" PRIu64 "}",
			    i ? "," : "", totals->first_ns + i * totals->span_ns, span_length(totals, i),
			    totals->spans[i]);
	text_append(&text, "]}\n");
	if (text.failure)
		stat_no_memory();
	else
		fputs(text.bytes, stdout);
	text_fini(&text);
}

static int run_stat(const struct cli_arguments *arguments)
{
	struct stat_totals totals = { 0 };
	int status = filter_open(&totals.filter, arguments);

	if (!status)
		status = inputs_open(&totals.inputs, arguments);
	if (!status)
		status = count_all(&totals);
	if (!status) {
		if (totals.row_count)
			qsort(totals.rows, totals.row_count, sizeof *totals.rows, compare_stat_rows);
		if (arguments->options[OPTION_FORMAT_EVENTS].number == 1)
			put_stat_json(&totals);
		else
			put_stat_text(&totals);
		status = signals_status(inputs_status(&totals.inputs));
	}
	inputs_close(&totals.inputs);
	filter_close(&totals.filter);
	alloc_free(totals.rows);
	alloc_free(totals.rows_of);
	return status;
}

static const struct cli_example stat_examples[] = {
	{ "asterism stat trace", "Shows which events the trace contains, and how many of each." },
	{ "asterism stat -p 1234 --from 2s --to 3s trace", "The same of one process within one second." },
	{ NULL, NULL },
};

const struct cli_command cmd_stat = {
	.name = "stat",
	.summary = "show which events a trace contains",
	.operands = "TRACE...",
	.operands_min = 1,
	.description = "Counts the events of all traces (asterism-dump(1) says what a trace is). For each event type "
		       "it shows their number, their bytes, their shares of both and their mean size. It also shows "
		       "how many events were lost during recording, and the rate of events over time.\n\nBytes are "
		       "those of the events, without packet headers. In formats other than asterism's they may be "
		       "unknown, and are 0.\n\nThe options that select events are those of asterism-dump(1). Losses "
		       "are always those of the whole input, as far as it was read.",
	.options = { OPTION_CATALOG, OPTION_CPUS, OPTION_EVENT, OPTION_FORMAT_EVENTS, OPTION_FROM, OPTION_LENIENT,
		     OPTION_ORDINALS, OPTION_PIDS, OPTION_TIDS, OPTION_TIME_FIELD, OPTION_TO },
	.examples = stat_examples,
	.run = run_stat,
};
