// SPDX-License-Identifier: BSD-2-Clause
/*
 * Priorities: which each thread had and when, how long it ran and was ready at each, and inversions: that it was ready
 * while a thread of worse priority ran on the CPU where it had left. A slice is cut where the priority changes.
 */

#include "report/kind/kinds.h"

#include "base/alloc.h"
#include "meaning/meaning.h"
#include "report/past.h"
#include "report/svg.h"
#include "report/table.h"
#include "report/tally.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	PRIORITIES_KEPT = 1 << 18,
	TIMES_MAX = 1 << 16,
	CHANGES_MAX = 1 << 16,
	PENDING = 4,
	LONGEST = 1000,
	LOOKS_MAX = 1 << 25, /* at pairs of a thread that was ready and one that ran */
	DRAWN = 24,
};

struct time {
	uint64_t key[2]; /* thread, priority */
	uint64_t running, ready;
};

/* What is known of a thread. */
struct lane {
	uint64_t changes;
	uint64_t unknown[2];          /* the time that it ran, was ready, until its priority was known */
	uint64_t pending_ns[PENDING]; /* changes since its last slice */
	uint8_t pending[PENDING], pending_count;
	uint8_t first, last; /* as shown */
	uint8_t prio;        /* as of the last slice */
	bool is_behind;      /* there is an inversion of it */
	bool is_coarse;      /* there were more changes in one slice */
};

struct change {
	uint64_t ns;
	uint32_t thread, prio;
};

struct inversion {
	uint64_t begin, end;
	uint32_t thread, behind, cpu;
	uint8_t prio, behind_prio;
};

struct sum {
	uint64_t count, ns;
};

struct priorities {
	struct report report;
	struct past past;
	struct report_tally times;
	struct lane *lanes;
	size_t lane_count, lane_capacity;
	struct change *changes;
	size_t change_count, change_capacity;
	uint64_t changes_left_out;
	struct inversion longest[LONGEST]; /* a heap, the shortest first; then in order */
	size_t longest_count;
	struct sum all, real_time;
	uint64_t looks;
};

static int priorities_open(const struct report_view *view, struct report **made)
{
	struct priorities *priorities = alloc_zero(1, sizeof *priorities);

	(void)view;
	if (!priorities)
		return -ENOMEM;
	priorities->past.most = PRIORITIES_KEPT;
	priorities->times = REPORT_TALLY(struct time, TIMES_MAX);
	*made = &priorities->report;
	return 0;
}

static void priorities_free(struct report *report)
{
	struct priorities *priorities = (struct priorities *)report;

	past_fini(&priorities->past);
	report_tally_fini(&priorities->times);
	alloc_free(priorities->lanes);
	alloc_free(priorities->changes);
	alloc_free(priorities);
}

static struct lane *lane_of(struct priorities *priorities, uint32_t thread)
{
	while (priorities->lane_count <= thread) {
		if (alloc_grow(&priorities->lanes, &priorities->lane_capacity, priorities->lane_count,
			       sizeof *priorities->lanes))
			return NULL;
		priorities->lanes[priorities->lane_count++] =
			(struct lane){ .first = REPORT_NO_PRIO, .last = REPORT_NO_PRIO, .prio = REPORT_NO_PRIO };
	}
	return &priorities->lanes[thread];
}

static int keep_change(struct priorities *priorities, struct change change)
{
	if (priorities->change_count == CHANGES_MAX) {
		priorities->changes_left_out++;
		return 0;
	}
	if (alloc_grow(&priorities->changes, &priorities->change_capacity, priorities->change_count,
		       sizeof *priorities->changes))
		return -ENOMEM;
	priorities->changes[priorities->change_count++] = change;
	return 0;
}

static int add_priority_time(struct priorities *priorities, uint32_t thread, uint8_t prio, const uint64_t ns[2])
{
	struct time *time = report_tally_at(&priorities->times, (uint64_t[]){ thread, prio });

	if (time) {
		time->running += ns[0];
		time->ready += ns[1];
	}
	return priorities->times.failure;
}

static int priorities_priority(struct report *report, uint32_t thread, uint8_t prio, uint64_t ns)
{
	struct priorities *priorities = (struct priorities *)report;
	struct lane *lane = lane_of(priorities, thread);
	bool is_first = lane && lane->last == REPORT_NO_PRIO;

	if (!lane)
		return -ENOMEM;
	lane->last = prio;
	if (is_first || ns < report->view->first_ns) {
		lane->first = lane->prio = prio;
		lane->pending_count = 0;
		if (!is_first || !(lane->unknown[0] | lane->unknown[1]))
			return 0;
		return add_priority_time(priorities, thread, prio, lane->unknown);
	}
	lane->changes++;
	if (lane->pending_count == PENDING) {
		lane->pending_count--;
		lane->is_coarse = true;
	}
	lane->pending_ns[lane->pending_count] = ns;
	lane->pending[lane->pending_count++] = prio;
	return keep_change(priorities, (struct change){ ns, thread, prio });
}

/* A part of a slice in which the priority was the same. */
static int take_piece(struct priorities *priorities, struct lane *lane, struct report_slice piece)
{
	bool is_ready = piece.state == REPORT_READY;
	uint64_t ns[2] = { is_ready ? 0 : piece.end - piece.begin, is_ready ? piece.end - piece.begin : 0 };

	if (piece.begin == piece.end || (piece.state != REPORT_RUNNING && !is_ready))
		return 0;
	if (lane->prio == REPORT_NO_PRIO) {
		lane->unknown[is_ready] += ns[is_ready];
		return 0;
	}
	return add_priority_time(priorities, piece.thread, lane->prio, ns) ? -ENOMEM
									   : past_keep(&priorities->past, &piece);
}

static int priorities_slice(struct report *report, const struct report_slice *slice)
{
	struct priorities *priorities = (struct priorities *)report;
	struct lane *lane = slice->thread == REPORT_NONE ? NULL : lane_of(priorities, slice->thread);
	struct report_slice rest = *slice, piece = *slice;
	unsigned taken = 0;
	int result = 0;

	if (slice->thread == REPORT_NONE)
		return 0;
	if (!lane)
		return -ENOMEM;
	for (; !result && taken < lane->pending_count && lane->pending_ns[taken] < slice->end; taken++) {
		piece.begin = rest.begin;
		piece.prio = lane->prio;
		if (lane->pending_ns[taken] > rest.begin) {
			piece.end = rest.begin = lane->pending_ns[taken];
			result = take_piece(priorities, lane, piece);
		}
		lane->prio = lane->pending[taken];
	}
	lane->pending_count -= (uint8_t)taken;
	memmove(lane->pending, lane->pending + taken, lane->pending_count);
	memmove(lane->pending_ns, lane->pending_ns + taken, lane->pending_count * sizeof *lane->pending_ns);
	rest.prio = lane->prio;
	/* It was given that while it ran, at a time not known: what is surely worse is no better than both. */
	if (lane->pending_count && lane->pending_ns[0] == rest.end && rest.state == REPORT_RUNNING &&
	    lane->pending[0] < rest.prio)
		rest.prio = lane->pending[0];
	return result ? result : take_piece(priorities, lane, rest);
}

static uint64_t inversion_length(const struct inversion *inversion)
{
	return inversion->end - inversion->begin;
}

/* Keeps the longest: the first one is the shortest of them. */
static void keep_longest(struct priorities *priorities, const struct inversion *inversion)
{
	struct inversion *heap = priorities->longest;
	size_t at, child;

	if (priorities->longest_count < LONGEST) {
		at = priorities->longest_count++;
		for (; at && inversion_length(&heap[(at - 1) / 2]) > inversion_length(inversion); at = (at - 1) / 2)
			heap[at] = heap[(at - 1) / 2];
	} else if (inversion_length(inversion) <= inversion_length(&heap[0])) {
		return;
	} else {
		for (at = 0; (child = 2 * at + 1) < LONGEST; at = child) {
			child += child + 1 < LONGEST &&
				 inversion_length(&heap[child + 1]) < inversion_length(&heap[child]);
			if (inversion_length(&heap[child]) >= inversion_length(inversion))
				break;
			heap[at] = heap[child];
		}
	}
	heap[at] = *inversion;
}

static void count_inversion(struct priorities *priorities, const struct inversion *inversion)
{
	priorities->all.count++;
	priorities->all.ns += inversion_length(inversion);
	if (inversion->prio < 100) {
		priorities->real_time.count++;
		priorities->real_time.ns += inversion_length(inversion);
	}
	priorities->lanes[inversion->thread].is_behind = true;
	keep_longest(priorities, inversion);
}

static void find_inversions(struct priorities *priorities, const struct past_item *ready)
{
	const struct report_thread *threads = priorities->report.view->threads;
	const struct past_item *run = past_find_run(&priorities->past, ready->cpu, ready->end);

	for (; run && run->end > ready->begin && priorities->looks < LOOKS_MAX; priorities->looks++) {
		if (run->prio > ready->prio && !threads[run->thread].is_stranger)
			count_inversion(priorities,
					&(struct inversion){
						.begin = run->begin > ready->begin ? run->begin : ready->begin,
						.end = run->end < ready->end ? run->end : ready->end,
						.thread = ready->thread,
						.behind = run->thread,
						.cpu = ready->cpu,
						.prio = ready->prio,
						.behind_prio = run->prio,
					});
		run = past_run_before(&priorities->past, run);
	}
}

struct ready {
	uint64_t end, index; /* in the past */
};

static int by_end(const void *left, const void *right)
{
	const struct ready *a = left, *b = right;

	return a->end != b->end ? (a->end > b->end ? -1 : 1) : (a->index < b->index ? -1 : a->index > b->index);
}

static int by_length(const void *left, const void *right)
{
	const struct inversion *a = left, *b = right;

	if (inversion_length(a) != inversion_length(b))
		return inversion_length(a) > inversion_length(b) ? -1 : 1;
	return a->begin < b->begin ? -1 : a->begin > b->begin;
}

static int by_priority_time(const void *left, const void *right)
{
	const struct time *a = left, *b = right;

	if (a->running + a->ready != b->running + b->ready)
		return a->running + a->ready > b->running + b->ready ? -1 : 1;
	if (a->key[0] != b->key[0])
		return a->key[0] < b->key[0] ? -1 : 1;
	return a->key[1] < b->key[1] ? -1 : a->key[1] > b->key[1];
}

static int priorities_finish(struct report *report)
{
	struct priorities *priorities = (struct priorities *)report;
	size_t kept = past_kept(&priorities->past), count = 0;
	struct ready *ready = alloc_zero(kept, sizeof *ready);

	if (!ready)
		return -ENOMEM;
	for (size_t i = 0; i < kept; i++) {
		const struct past_item *item = past_at(&priorities->past, i);

		if (item->state == REPORT_READY && !report->view->threads[item->thread].is_stranger)
			ready[count++] = (struct ready){ item->end, i };
	}
	qsort(ready, count, sizeof *ready, by_end);
	for (size_t i = 0; i < count; i++)
		find_inversions(priorities, past_at(&priorities->past, ready[i].index));
	alloc_free(ready);
	qsort(priorities->longest, priorities->longest_count, sizeof *priorities->longest, by_length);
	report_tally_sort(&priorities->times, by_priority_time);
	return 0;
}

static struct report_cell prio_cell(uint8_t prio)
{
	return prio == REPORT_NO_PRIO ? CELL_NONE : report_cell_number(prio);
}

static bool has_priorities(const struct priorities *priorities, uint32_t thread)
{
	return thread && thread < priorities->lane_count && !priorities->report.view->threads[thread].is_stranger &&
	       priorities->lanes[thread].first != REPORT_NO_PRIO;
}

static void write_priority_threads(const struct priorities *priorities, struct report_tables *tables)
{
	static const struct report_column columns[] = {
		{ "thread", "thread", CELL_THREAD, false },
		{ "first", "first", CELL_PRIO, false },
		{ "last", "last", CELL_PRIO, false },
		{ "changes", "changes", CELL_COUNT, false },
	};

	report_table(tables, "threads", "Priorities of each thread", columns, 4);
	/* Those that changed come first. */
	for (uint32_t at = 0; at < 2 * priorities->lane_count; at++) {
		uint32_t i = at % (uint32_t)priorities->lane_count;
		const struct lane *lane = &priorities->lanes[i];

		if (has_priorities(priorities, i) && (lane->changes == 0) == (at >= priorities->lane_count))
			report_row(tables,
				   (struct report_cell[]){ report_cell_thread(i), prio_cell(lane->first),
							   prio_cell(lane->last), report_cell_number(lane->changes) },
				   0);
	}
	report_table_end(tables);
}

static void write_times(const struct priorities *priorities, struct report_tables *tables)
{
	static const struct report_column columns[] = {
		{ "thread", "thread", CELL_THREAD, false },
		{ "prio", "priority", CELL_PRIO, false },
		{ "running_ns", "running", CELL_DURATION, false },
		{ "ready_ns", "ready", CELL_DURATION, false },
	};
	const struct time *times = priorities->times.items;

	report_table(tables, "times", "Running and ready time at each priority", columns, 4);
	for (size_t i = 0; i < priorities->times.count; i++) {
		if (has_priorities(priorities, (uint32_t)times[i].key[0]))
			report_row(tables,
				   (struct report_cell[]){ report_cell_thread((uint32_t)times[i].key[0]),
							   prio_cell((uint8_t)times[i].key[1]),
							   report_cell_number(times[i].running),
							   report_cell_number(times[i].ready) },
				   0);
	}
	report_table_end(tables);
}

static void write_inversions(const struct priorities *priorities, struct report_tables *tables)
{
	static const struct report_column columns[] = {
		{ "begin_ns", "from s", CELL_TIME, false },      { "end_ns", NULL, CELL_TIME, false },
		{ "took_ns", "took", CELL_DURATION, false },     { "thread", "thread", CELL_THREAD, false },
		{ "prio", "priority", CELL_PRIO, false },        { "behind", "behind", CELL_THREAD, false },
		{ "behind_prio", "priority", CELL_PRIO, false }, { "cpu", "cpu", CELL_COUNT, false },
	};
	uint64_t first = tables->view->first_ns;

	report_table(tables, "inversions", "The longest inversions", columns, 8);
	for (size_t i = 0; i < priorities->longest_count; i++) {
		const struct inversion *one = &priorities->longest[i];

		report_row(tables,
			   (struct report_cell[]){
				   report_cell_number(one->begin - first), report_cell_number(one->end - first),
				   report_cell_number(inversion_length(one)), report_cell_thread(one->thread),
				   report_cell_number(one->prio), report_cell_thread(one->behind),
				   report_cell_number(one->behind_prio), report_cell_number(one->cpu) },
			   0);
	}
	report_table_end(tables);
}

static void say_sum(struct text_buffer *text, const char *of, const struct sum *sum)
{
	text_printf(text, "%llu inversions%s, ", (unsigned long long)sum->count, of);
	meaning_show(text, &meaning_duration, (struct meaning_number){ sum->ns, false });
}

static void say_priorities_missing(const struct priorities *priorities, struct report_tables *tables)
{
	uint64_t coarse = 0;

	for (uint32_t i = 1; i < priorities->lane_count; i++)
		coarse += priorities->lanes[i].is_coarse && has_priorities(priorities, i);
	if (coarse)
		report_note(tables,
			    "%llu threads changed priority more than %d times while running or ready: their times at "
			    "each priority are not exact.",
			    (unsigned long long)coarse, PENDING);
	if (priorities->past.lost_until_ns)
		report_note(tables,
			    "Inversions before %.6f s may be missing: only the last %d intervals are kept. Choose a "
			    "time with --from and --to.",
			    (double)(priorities->past.lost_until_ns - tables->view->first_ns) / 1e9, PRIORITIES_KEPT);
	if (priorities->looks >= LOOKS_MAX)
		report_note(tables, "Earlier inversions were not searched: there is too much to compare. Choose a "
				    "shorter time with --from and --to.");
	if (priorities->times.left_out)
		report_note(tables,
			    "%llu times are missing in the table: there are more than %d threads and priorities.",
			    (unsigned long long)priorities->times.left_out, TIMES_MAX);
}

static void priorities_write(struct report *report, struct report_tables *tables)
{
	const struct priorities *priorities = (struct priorities *)report;
	struct text_buffer text = { 0 };

	say_sum(&text, "", &priorities->all);
	text_append(&text, "; ");
	say_sum(&text, " of real-time threads", &priorities->real_time);
	report_note(tables, "%s.", text.bytes ? text.bytes : "");
	text_fini(&text);
	say_priorities_missing(priorities, tables);
	write_priority_threads(priorities, tables);
	write_times(priorities, tables);
	write_inversions(priorities, tables);
}

/* Where things are drawn: times from left to right, priorities of the thread from the best to the worst downwards. */
struct canvas {
	const struct priorities *priorities;
	FILE *stream;
	struct report_box box;
	uint64_t first, length;
	unsigned best, worst;
};

static double x_of(const struct canvas *canvas, uint64_t ns)
{
	return canvas->box.x + canvas->box.width * (double)(ns - canvas->first) / (double)canvas->length;
}

static double y_of(const struct canvas *canvas, unsigned prio)
{
	unsigned range = canvas->worst - canvas->best;

	return canvas->box.y + (range ? canvas->box.height * (prio - canvas->best) / range : canvas->box.height / 2);
}

static void draw_inversions(const struct canvas *canvas, uint32_t thread)
{
	for (size_t i = 0; i < canvas->priorities->longest_count; i++) {
		const struct inversion *one = &canvas->priorities->longest[i];
		double begin = x_of(canvas, one->begin), end = x_of(canvas, one->end);

		if (one->thread == thread)
			report_svg_rect(canvas->stream,
					(struct report_box){ begin, canvas->box.y - 2,
							     end - begin > 1 ? end - begin : 1,
							     canvas->box.height + 4 },
					"#f0b8a8", NULL);
	}
}

/* Changes that share a pixel are one. */
static void draw_steps(struct canvas *canvas, uint32_t thread)
{
	const struct priorities *priorities = canvas->priorities;
	unsigned prio = priorities->lanes[thread].first;
	double x = canvas->box.x, end = canvas->box.x + canvas->box.width;

	canvas->best = canvas->worst = prio;
	for (size_t i = 0; i < priorities->change_count; i++) {
		const struct change *change = &priorities->changes[i];

		if (change->thread == thread) {
			canvas->best = change->prio < canvas->best ? change->prio : canvas->best;
			canvas->worst = change->prio > canvas->worst ? change->prio : canvas->worst;
		}
	}
	for (size_t i = 0; i < priorities->change_count; i++) {
		const struct change *change = &priorities->changes[i];
		double next = x_of(canvas, change->ns);

		if (change->thread != thread || next < x + 0.5)
			continue;
		report_svg_line(canvas->stream, (struct report_box){ x, y_of(canvas, prio), next - x, 0 }, "#4a78b0");
		report_svg_line(canvas->stream,
				(struct report_box){ next, y_of(canvas, prio), 0,
						     y_of(canvas, change->prio) - y_of(canvas, prio) },
				"#4a78b0");
		x = next;
		prio = change->prio;
	}
	report_svg_line(canvas->stream, (struct report_box){ x, y_of(canvas, prio), end - x, 0 }, "#4a78b0");
}

static void put_prio(const struct canvas *canvas, unsigned prio)
{
	struct text_buffer text = { 0 };

	meaning_show(&text, meaning_find("prio"), (struct meaning_number){ prio, false });
	report_svg_text(canvas->stream,
			(struct report_label){ .x = canvas->box.x - 6, .y = y_of(canvas, prio) + 4, .anchor = "end" },
			text.bytes ? text.bytes : "");
	text_fini(&text);
}

/* Threads whose priorities changed, or that waited behind worse ones; the first of them. */
static size_t choose_rows(const struct priorities *priorities, uint32_t rows[DRAWN])
{
	size_t count = 0;

	for (uint32_t i = 1; i < priorities->lane_count && count < DRAWN; i++) {
		if (has_priorities(priorities, i) && (priorities->lanes[i].changes || priorities->lanes[i].is_behind))
			rows[count++] = i;
	}
	return count;
}

static int priorities_draw(struct report *report, FILE *stream)
{
	enum { NAMES = 170, PRIOS = 60, WIDTH = 1100, RIGHT = 60, HEIGHT = 3 * SVG_ROW };
	const struct priorities *priorities = (struct priorities *)report;
	const struct report_view *view = report->view;
	uint32_t rows[DRAWN];
	size_t count = choose_rows(priorities, rows);
	double height = (double)count * HEIGHT + 3 * SVG_ROW, width = WIDTH - NAMES - PRIOS - RIGHT;
	struct canvas canvas = { priorities, stream, .first = view->first_ns,
				 .length = view->last_ns - view->first_ns };

	report_svg_begin(stream, WIDTH, height, "Priorities: lines; inversions are shaded");
	report_svg_times(stream, (struct report_box){ NAMES + PRIOS, SVG_ROW, width, (double)count * HEIGHT },
			 canvas.length);
	for (size_t i = 0; i < count && canvas.length; i++) {
		double y = SVG_ROW + (double)i * HEIGHT;

		canvas.box = (struct report_box){ NAMES + PRIOS, y + 12, width, HEIGHT - 24 };
		report_svg_thread(stream,
				  (struct report_label){ .x = 4, .y = y + 30, .most = (NAMES - 8) / SVG_LETTER }, view,
				  rows[i]);
		draw_inversions(&canvas, rows[i]);
		draw_steps(&canvas, rows[i]);
		put_prio(&canvas, canvas.best);
		if (canvas.worst != canvas.best)
			put_prio(&canvas, canvas.worst);
	}
	if (!count)
		report_svg_text(stream, (struct report_label){ .x = 4, .y = 2 * SVG_ROW },
				"No priority changed, and no thread waited for one of lower priority.");
	else if (count == DRAWN || priorities->changes_left_out || priorities->all.count > LONGEST)
		report_svg_text(stream, (struct report_label){ .x = 4, .y = height - 8 },
				"The first threads, and the longest inversions: there may be more.");
	report_svg_end(stream);
	return 0;
}

const struct report_kind report_priorities = {
	.name = "priorities",
	.title = "Priorities",
	.question = "the priority of each thread, and where a lower one ran first",
	.needs = (const struct report_need[]){ { ROLE_SWITCH, "Which threads ran is unknown" },
					       { ROLE_PRIORITY, "When a lock lent its priority is unknown" },
					       { 0 } },
	.open = priorities_open,
	.slice = priorities_slice,
	.priority = priorities_priority,
	.finish = priorities_finish,
	.write = priorities_write,
	.draw = priorities_draw,
	.free = priorities_free,
};
