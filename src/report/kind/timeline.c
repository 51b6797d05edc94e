// SPDX-License-Identifier: BSD-2-Clause
/* The timeline: who ran, who waited, and for what. Strips show in each span of time what a lane was for most of it. */

#include "report/kind/kinds.h"

#include "base/alloc.h"
#include "report/table.h"
#include "report/tally.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { TIMELINE_SPANS = 28, STRIPS_MAX = 8192, SHOWN = 5, TIMELINE_PAIRS_MAX = 1 << 20, TIMELINE_PAIRS_HELD = 1 << 16 };

struct strip {
	float ns[TIMELINE_SPANS][SHOWN]; /* per state, up to IDLE */
};

struct timeline_pair {
	uint64_t key[3]; /* thread, reason, state */
	uint64_t count, ns;
};

struct timeline {
	struct report report;
	struct strip **strips[2]; /* of threads, of CPUs */
	size_t counts[2], capacities[2], held;
	uint64_t span_ns;
	struct report_tally pairs;
};

static const char letters[REPORT_STATES] = {
	[REPORT_UNKNOWN] = '?', [REPORT_RUNNING] = '#', [REPORT_READY] = '+',
	[REPORT_BLOCKED] = '.', [REPORT_OTHERS] = '/',  [REPORT_IDLE] = ' ',
};

/* Of the states that a strip keeps: a CPU's OTHERS and IDLE share places with what only threads are. */
static unsigned state_place(enum report_state state)
{
	return state == REPORT_IDLE ? REPORT_READY : state;
}

static void add_timeline_pair(void *to, const void *from)
{
	struct timeline_pair *sum = to;

	sum->count += ((const struct timeline_pair *)from)->count;
	sum->ns += ((const struct timeline_pair *)from)->ns;
}

static int timeline_open(const struct report_view *view, struct report **made)
{
	struct timeline *timeline = alloc_zero(1, sizeof *timeline);

	(void)view;
	if (!timeline)
		return -ENOMEM;
	timeline->span_ns = 1;
	timeline->pairs = REPORT_TALLY(struct timeline_pair, TIMELINE_PAIRS_MAX);
	timeline->pairs.held = TIMELINE_PAIRS_HELD;
	timeline->pairs.add = add_timeline_pair;
	*made = &timeline->report;
	return 0;
}

static void timeline_free(struct report *report)
{
	struct timeline *timeline = (struct timeline *)report;

	for (unsigned set = 0; set < 2; set++) {
		for (size_t i = 0; i < timeline->counts[set]; i++)
			alloc_free(timeline->strips[set][i]);
		alloc_free(timeline->strips[set]);
	}
	report_tally_fini(&timeline->pairs);
	alloc_free(timeline);
}

static void halve(struct strip *strip)
{
	for (unsigned i = 0; i < TIMELINE_SPANS; i++) {
		for (unsigned state = 0; state < SHOWN; state++)
			strip->ns[i][state] =
				i < TIMELINE_SPANS / 2 ? strip->ns[2 * i][state] + strip->ns[2 * i + 1][state] : 0;
	}
}

/* Spans get twice as long until so long a time fits. */
static void widen_strips(struct timeline *timeline, uint64_t length)
{
	while ((length - 1) / timeline->span_ns >= TIMELINE_SPANS) {
		timeline->span_ns *= 2;
		for (unsigned set = 0; set < 2; set++) {
			for (size_t i = 0; i < timeline->counts[set]; i++) {
				if (timeline->strips[set][i])
					halve(timeline->strips[set][i]);
			}
		}
	}
}

static struct strip *strip_of(struct timeline *timeline, unsigned set, uint32_t number)
{
	while (timeline->counts[set] <= number) {
		if (alloc_grow(&timeline->strips[set], &timeline->capacities[set], timeline->counts[set],
			       sizeof *timeline->strips[set]))
			return NULL;
		timeline->strips[set][timeline->counts[set]++] = NULL;
	}
	if (!timeline->strips[set][number] && timeline->held < STRIPS_MAX) {
		timeline->strips[set][number] = alloc_zero(1, sizeof(struct strip));
		timeline->held += timeline->strips[set][number] != NULL;
	}
	return timeline->strips[set][number];
}

static void draw_strip(const struct timeline *timeline, struct strip *strip, const struct report_slice *slice)
{
	uint64_t first = timeline->report.view->first_ns, begin = slice->begin - first, end = slice->end - first;

	while (begin < end) {
		uint64_t span = begin / timeline->span_ns, until = (span + 1) * timeline->span_ns;

		until = until < end ? until : end;
		strip->ns[span][state_place(slice->state)] += (float)(until - begin);
		begin = until;
	}
}

/* What threads waited for, each reason added up. */
static int count_reason(struct timeline *timeline, const struct report_slice *slice)
{
	struct timeline_pair *pair =
		report_tally_at(&timeline->pairs, (uint64_t[]){ slice->thread, slice->reason, slice->state });

	if (pair) {
		pair->count++;
		pair->ns += slice->end - slice->begin;
	}
	return timeline->pairs.failure;
}

static int timeline_slice(struct report *report, const struct report_slice *slice)
{
	struct timeline *timeline = (struct timeline *)report;
	struct strip *strip;

	widen_strips(timeline, slice->end - report->view->first_ns);
	if (slice->thread == REPORT_NONE || slice->state == REPORT_RUNNING) {
		strip = strip_of(timeline, 1, slice->cpu);
		if (strip)
			draw_strip(timeline, strip, slice);
	}
	if (slice->thread == REPORT_NONE)
		return 0;
	strip = strip_of(timeline, 0, slice->thread);
	if (strip)
		draw_strip(timeline, strip, slice);
	if (slice->state == REPORT_BLOCKED || slice->state == REPORT_READY)
		return count_reason(timeline, slice);
	return 0;
}

static const char *show_strip(const struct timeline *timeline, unsigned set, size_t number,
			      char text[TIMELINE_SPANS + 1])
{
	const struct strip *strip = number < timeline->counts[set] ? timeline->strips[set][number] : NULL;
	uint64_t length = timeline->report.view->last_ns - timeline->report.view->first_ns;
	unsigned spans = length ? (unsigned)((length - 1) / timeline->span_ns) + 1 : 0;

	if (!strip)
		return NULL;
	for (unsigned i = 0; i < spans && i < TIMELINE_SPANS; i++) {
		unsigned most = 0;

		for (unsigned state = 1; state < SHOWN; state++)
			most = strip->ns[i][state] > strip->ns[i][most] ? state : most;
		text[i] = strip->ns[i][most] > 0 ? letters[most] : ' ';
		if (set == 1 && most == REPORT_READY)
			text[i] = letters[REPORT_IDLE];
	}
	text[spans < TIMELINE_SPANS ? spans : TIMELINE_SPANS] = 0;
	return text;
}

static const struct report_view *sorted_view; /* qsort has no context */

static int by_strip_running(const void *left, const void *right)
{
	const uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
	uint64_t x = sorted_view->threads[a].state_ns[REPORT_RUNNING];
	uint64_t y = sorted_view->threads[b].state_ns[REPORT_RUNNING];

	return x != y ? (x > y ? -1 : 1) : (a < b ? -1 : a > b);
}

static void write_strip_threads(const struct timeline *timeline, struct report_tables *tables)
{
	static const struct report_column columns[] = {
		{ "thread", "thread", CELL_THREAD, false },        { "running_ns", "running", CELL_DURATION, false },
		{ "ready_ns", "ready", CELL_DURATION, false },     { "blocked_ns", "blocked", CELL_DURATION, false },
		{ "unknown_ns", "unknown", CELL_DURATION, false }, { "strip", "", CELL_STRIP, false },
	};
	const struct report_view *view = tables->view;
	uint32_t *order = alloc_zero(view->thread_count, sizeof *order), count = 0;

	if (!order) {
		tables->failure = -ENOMEM;
		return;
	}
	for (uint32_t i = 1; i < view->thread_count; i++) {
		if (!view->threads[i].is_stranger)
			order[count++] = i;
	}
	sorted_view = view;
	qsort(order, count, sizeof *order, by_strip_running);
	report_table(tables, "threads", "Threads", columns, 6);
	for (uint32_t i = 0; i < count; i++) {
		const uint64_t *ns = view->threads[order[i]].state_ns;
		char strip[TIMELINE_SPANS + 1];

		report_row(tables,
			   (struct report_cell[]){ report_cell_thread(order[i]), report_cell_number(ns[REPORT_RUNNING]),
						   report_cell_number(ns[REPORT_READY]),
						   report_cell_number(ns[REPORT_BLOCKED]),
						   report_cell_number(ns[REPORT_UNKNOWN]),
						   report_cell_text(show_strip(timeline, 0, order[i], strip)) },
			   0);
	}
	report_table_end(tables);
	alloc_free(order);
}

static void write_timeline_cpus(const struct timeline *timeline, struct report_tables *tables)
{
	static const struct report_column columns[] = {
		{ "cpu", "cpu", CELL_COUNT, false },
		{ "strip", "", CELL_STRIP, false },
	};

	report_table(tables, "processors", "CPUs", columns, 2);
	for (size_t i = 0; i < timeline->counts[1]; i++) {
		char strip[TIMELINE_SPANS + 1];
		const char *shown = show_strip(timeline, 1, i, strip);

		if (shown)
			report_row(tables, (struct report_cell[]){ report_cell_number(i), report_cell_text(shown) }, 0);
	}
	report_table_end(tables);
}

static int by_ns(const void *left, const void *right)
{
	const struct timeline_pair *a = left, *b = right;

	if (a->ns != b->ns)
		return a->ns > b->ns ? -1 : 1;
	if (a->key[0] != b->key[0])
		return a->key[0] < b->key[0] ? -1 : 1;
	return a->key[1] < b->key[1] ? -1 : a->key[1] > b->key[1];
}

static void write_reasons(struct timeline *timeline, struct report_tables *tables)
{
	static const struct report_column columns[] = {
		{ "thread", "thread", CELL_THREAD, false }, { "state", "was", CELL_TEXT, false },
		{ "reason", "why", CELL_TEXT, false },      { "count", "count", CELL_COUNT, false },
		{ "sum_ns", "sum", CELL_DURATION, false },  { "mean_ns", "mean", CELL_DURATION, false },
	};
	const struct timeline_pair *pair;

	int code = report_tally_begin(&timeline->pairs, by_ns);

	if (code)
		tables->failure = code;
	report_table(tables, "reasons", "What threads waited for", columns, 6);
	while (!tables->failure && (pair = report_tally_next(&timeline->pairs)))
		report_row(tables,
			   (struct report_cell[]){
				   report_cell_thread((uint32_t)pair->key[0]),
				   report_cell_text(pair->key[2] == REPORT_READY ? "ready" : "blocked"),
				   report_cell_text(pair->key[1] ? report_name(tables->view, (uint32_t)pair->key[1])
								 : "not known"),
				   report_cell_number(pair->count), report_cell_number(pair->ns),
				   report_cell_number(pair->ns / pair->count) },
			   0);
	report_table_end(tables);
	if (timeline->pairs.failure)
		tables->failure = timeline->pairs.failure;
	report_note_left_out(tables, timeline->pairs.left_out);
}

static void timeline_write(struct report *report, struct report_tables *tables)
{
	struct timeline *timeline = (struct timeline *)report;

	report_note(tables, "In strips, for most of a span: # running, + ready, . blocked, ? unknown, / others.");
	write_timeline_cpus(timeline, tables);
	write_strip_threads(timeline, tables);
	write_reasons(timeline, tables);
}

const struct report_kind report_timeline = {
	.name = "timeline",
	.title = "Timeline",
	.question = "who ran, who waited, and why",
	.needs =
		(const struct report_need[]){
			{ ROLE_SWITCH, "Which threads ran is unknown" },
			{ ROLE_WAKING, "When threads became ready, and which thread woke them, is unknown" },
			{ ROLE_CALL, "In which system call threads waited is unknown" },
			{ ROLE_IRQ, "Whether an interrupt or the interrupted thread was the waker is unknown" },
			{ 0 } },
	.open = timeline_open,
	.slice = timeline_slice,
	.write = timeline_write,
	.free = timeline_free,
};
