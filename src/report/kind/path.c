// SPDX-License-Identifier: BSD-2-Clause
/* The critical path of the recorded command, or of one thread: what its time went to, through those it waited for. */

#include "report/kind/kinds.h"

#include "base/alloc.h"
#include "meaning/meaning.h"
#include "report/svg.h"
#include "report/table.h"
#include "report/tally.h"
#include "report/walk.h"

#include <errno.h>
#include <stdlib.h>

enum { KEPT = 3 << 18, REASONS_MAX = 1 << 16, ROWS_DRAWN = 40, SAID = 3 };

struct share {
	uint64_t key[2]; /* thread; what, and above that the reason */
	uint64_t count, ns;
};

struct path {
	struct report report;
	struct past past;
	struct walk walk;
	struct report_tally shares;
	uint32_t thread;     /* whose path it is; REPORT_NONE: there is none */
	uint64_t begin, end; /* of it */
};

static const struct {
	const char *name, *text, *colour;
} whats[WALK_WHATS] = {
	[WALK_UNKNOWN] = { "unknown", "in an unknown state", "#bbbbbb" },
	[WALK_RUNNING] = { "running", "running", "#4a78b0" },
	[WALK_READY] = { "ready", "waiting for a CPU", "#d9a441" },
	[WALK_BLOCKED] = { "blocked", "blocked", "#b05a4a" },
	[WALK_TIMER] = { "timer", "sleeping", "#8f7fb5" },
	[WALK_INTERRUPT] = { "interrupt", "waiting for an interrupt", "#7fa650" },
};

static int path_open(const struct report_view *view, struct report **made)
{
	struct path *path = alloc_zero(1, sizeof *path);

	(void)view;
	if (!path)
		return -ENOMEM;
	path->past.most = KEPT;
	path->shares = REPORT_TALLY(struct share, REASONS_MAX);
	path->thread = REPORT_NONE;
	*made = &path->report;
	return 0;
}

static void path_free(struct report *report)
{
	struct path *path = (struct path *)report;

	past_fini(&path->past);
	walk_fini(&path->walk);
	report_tally_fini(&path->shares);
	alloc_free(path);
}

static int path_slice(struct report *report, const struct report_slice *slice)
{
	return past_keep(&((struct path *)report)->past, slice);
}

/*
 * Whose path it is: that of the thread asked for; else of the first thread of a recorded command, which shows by its
 * start or its program; else, as in a recording of the machine, of who ran longest.
 */
static uint32_t choose_thread(const struct report_view *view)
{
	uint32_t chosen = REPORT_NONE, first = REPORT_NONE;

	for (uint32_t i = 1; i < view->thread_count; i++) {
		const struct report_thread *thread = &view->threads[i];

		if (thread->is_stranger || (view->tid && thread->tid != view->tid))
			continue;
		if (first == REPORT_NONE && (thread->is_born || thread->program))
			first = i;
		if (chosen == REPORT_NONE ||
		    thread->state_ns[REPORT_RUNNING] > view->threads[chosen].state_ns[REPORT_RUNNING])
			chosen = i;
	}
	return first != REPORT_NONE && !view->tid && !view->is_whole ? first : chosen;
}

static int by_step_time(const void *left, const void *right)
{
	const struct share *a = left, *b = right;

	if (a->ns != b->ns)
		return a->ns > b->ns ? -1 : 1;
	if (a->key[0] != b->key[0])
		return a->key[0] < b->key[0] ? -1 : 1;
	return a->key[1] < b->key[1] ? -1 : a->key[1] > b->key[1];
}

static int sum_path(struct path *path)
{
	for (size_t i = 0; i < path->walk.count; i++) {
		const struct walk_step *step = &path->walk.steps[i];
		uint64_t key[2] = { step->thread, (uint64_t)step->reason << 8 | step->what };
		struct share *share = report_tally_at(&path->shares, key);

		if (share) {
			share->count++;
			share->ns += step->end - step->begin;
		}
	}
	report_tally_sort(&path->shares, by_step_time);
	return path->shares.failure;
}

static int path_finish(struct report *report)
{
	struct path *path = (struct path *)report;
	const struct report_view *view = report->view;
	const struct report_thread *thread;
	int result;

	path->thread = choose_thread(view);
	if (path->thread == REPORT_NONE)
		return 0;
	thread = &view->threads[path->thread];
	path->begin = thread->birth > view->first_ns ? thread->birth : view->first_ns;
	path->end = thread->death && thread->death < view->last_ns ? thread->death : view->last_ns;
	if (path->begin >= path->end)
		return 0;
	result = walk_back(&path->walk, &path->past, view,
			   (struct walk_step){ path->begin, path->end, .thread = path->thread });
	return result ? result : sum_path(path);
}

/* gzip 12 running (1.1s); sleep 13 sleeping (50ms, clock_nanosleep) */
static void put_share(struct text_buffer *text, const struct report_view *view, const struct share *share)
{
	const char *reason = report_name(view, (uint32_t)(share->key[1] >> 8));

	report_thread_name(text, view, (uint32_t)share->key[0]);
	text_printf(text, " %s (", whats[share->key[1] & 0xff].text);
	meaning_show(text, &meaning_duration, (struct meaning_number){ share->ns, false });
	if (*reason && (share->key[1] & 0xff) != WALK_READY)
		text_printf(text, ", %s", reason);
	text_append(text, ")");
}

/* The path in a sentence. */
static void put_sentence(const struct path *path, struct text_buffer *text)
{
	const struct share *shares = path->shares.items;
	size_t said = path->shares.count < SAID ? path->shares.count : SAID;

	report_thread_name(text, path->report.view, path->thread);
	text_append(text, ": ");
	meaning_show(text, &meaning_duration, (struct meaning_number){ path->end - path->begin, false });
	text_append(text, said < path->shares.count ? ", mostly " : said == 1 ? ", all of it " : ": ");
	for (size_t i = 0; i < said; i++) {
		text_append(text, i ? ", " : "");
		put_share(text, path->report.view, &shares[i]);
	}
	text_append(text, ".");
}

/* The path in a sentence, and what it was in sum, whichever thread it went through. */
static void path_say(const struct report *report, struct text_buffer *text)
{
	const struct path *path = (const struct path *)report;
	const struct share *shares = path->shares.items;
	uint64_t sums[WALK_WHATS] = { 0 };
	const char *comma = " In all threads together:";

	if (!path->walk.count)
		return;
	put_sentence(path, text);
	for (size_t i = 0; i < path->shares.count; i++)
		sums[shares[i].key[1] & 0xff] += shares[i].ns;
	for (unsigned i = 1; i <= WALK_WHATS; i++) {
		unsigned what = i % WALK_WHATS; /* what is not known comes last */

		if (!sums[what])
			continue;
		text_printf(text, "%s ", comma);
		meaning_show(text, &meaning_duration, (struct meaning_number){ sums[what], false });
		text_printf(text, " %s", whats[what].text);
		comma = ",";
	}
	text_append(text, ".");
}

static void note_sentence(const struct path *path, struct report_tables *tables)
{
	struct text_buffer text = { 0 };

	put_sentence(path, &text);
	report_note(tables, "%s", text.bytes ? text.bytes : "");
	text_fini(&text);
}

static void say_path_missing(const struct path *path, struct report_tables *tables)
{
	if (path->past.lost_until_ns > path->begin)
		report_note(tables,
			    "Before %.6f s the path is incomplete: only the last %d intervals are kept. Choose a "
			    "shorter time with --from and --to.",
			    (double)(path->past.lost_until_ns - tables->view->first_ns) / 1e9, KEPT);
	if (path->walk.too_deep)
		report_note(tables, "%llu waits are not followed: too many threads waited for each other.",
			    (unsigned long long)path->walk.too_deep);
	if (path->shares.left_out)
		report_note(tables, "%llu intervals are missing in the sums: there are more than %d reasons.",
			    (unsigned long long)path->shares.left_out, REASONS_MAX);
}

static struct report_cell reason_cell(const struct report_view *view, uint64_t reason)
{
	return report_cell_text(reason ? report_name(view, (uint32_t)reason) : NULL);
}

static void write_shares(const struct path *path, struct report_tables *tables)
{
	static const struct report_column columns[] = {
		{ "thread", "thread", CELL_THREAD, false },
		{ "what", "what", CELL_TEXT, false },
		{ "reason", "why", CELL_TEXT, false },
		{ "count", "count", CELL_COUNT, false },
		{ "sum_ns", "sum", CELL_DURATION, false },
		{ "share", "share", CELL_SHARE, false },
		{ "bar", "", CELL_BAR, false },
	};
	const struct share *shares = path->shares.items;
	uint64_t length = path->end - path->begin;

	report_table(tables, "reasons", "By thread and reason", columns, 7);
	for (size_t i = 0; i < path->shares.count; i++) {
		double part = (double)shares[i].ns / (double)length;

		report_row(tables,
			   (struct report_cell[]){ report_cell_thread((uint32_t)shares[i].key[0]),
						   report_cell_text(whats[shares[i].key[1] & 0xff].name),
						   reason_cell(tables->view, shares[i].key[1] >> 8),
						   report_cell_number(shares[i].count),
						   report_cell_number(shares[i].ns), report_cell_real(part),
						   report_cell_real(part) },
			   0);
	}
	report_table_end(tables);
}

static void write_steps(const struct path *path, struct report_tables *tables)
{
	static const struct report_column columns[] = {
		{ "begin_ns", "from s", CELL_TIME, false },  { "end_ns", NULL, CELL_TIME, false },
		{ "took_ns", "took", CELL_DURATION, false }, { "thread", "thread", CELL_THREAD, false },
		{ "what", "what", CELL_TEXT, false },        { "reason", "why", CELL_TEXT, false },
		{ "by", "because of", CELL_THREAD, false },
	};
	uint64_t first = tables->view->first_ns;

	report_table(tables, "path", "From beginning to end", columns, 7);
	for (size_t i = path->walk.count; i > 0; i--) {
		const struct walk_step *step = &path->walk.steps[i - 1];

		report_row(tables,
			   (struct report_cell[]){
				   report_cell_number(step->begin - first), report_cell_number(step->end - first),
				   report_cell_number(step->end - step->begin), report_cell_thread(step->thread),
				   report_cell_text(whats[step->what].name), reason_cell(tables->view, step->reason),
				   report_cell_thread(step->by) },
			   0);
	}
	report_table_end(tables);
}

static void path_write(struct report *report, struct report_tables *tables)
{
	const struct path *path = (struct path *)report;

	if (path->thread == REPORT_NONE && tables->view->tid)
		report_note(tables, "The trace has no thread %u: the report 'processes' lists its threads.",
			    tables->view->tid);
	else if (!path->walk.count)
		report_note(tables, "The trace has no thread to follow.");
	if (path->walk.count)
		note_sentence(path, tables);
	say_path_missing(path, tables);
	write_shares(path, tables);
	write_steps(path, tables);
}

/* Threads of the path by their time in it, no more than are drawn. Returns how many. */
static size_t rows_of(const struct path *path, uint32_t rows[ROWS_DRAWN], bool *is_cut)
{
	const struct share *shares = path->shares.items;
	size_t count = 0;

	*is_cut = false;
	for (size_t i = 0; i < path->shares.count; i++) {
		size_t row = 0;

		while (row < count && rows[row] != shares[i].key[0])
			row++;
		if (row == count && count < ROWS_DRAWN)
			rows[count++] = (uint32_t)shares[i].key[0];
		else if (row == count)
			*is_cut = true;
	}
	return count;
}

/* The intervals of one thread; of those that share a pixel the first. */
static void draw_row(const struct path *path, FILE *stream, uint32_t thread, struct report_box box)
{
	double scale = box.width / (double)(path->end - path->begin), drawn = 0;

	for (size_t i = path->walk.count; i > 0; i--) {
		const struct walk_step *step = &path->walk.steps[i - 1];
		double begin = box.x + scale * (double)(step->begin - path->begin);
		double end = box.x + scale * (double)(step->end - path->begin);
		struct text_buffer hint = { 0 };

		if (step->thread != thread || end <= drawn)
			continue;
		end = end > begin + 1 ? end : begin + 1;
		drawn = end;
		if (end - begin >= 2)
			put_share(&hint, path->report.view,
				  &(struct share){ .key = { thread, (uint64_t)step->reason << 8 | step->what },
						   .ns = step->end - step->begin });
		report_svg_rect(stream, (struct report_box){ begin, box.y, end - begin, box.height },
				whats[step->what].colour, hint.bytes);
		text_fini(&hint);
	}
}

static void draw_legend(FILE *stream, double x, double y)
{
	for (unsigned what = 0; what < WALK_WHATS; what++, x += 100) {
		report_svg_rect(stream, (struct report_box){ x, y, 10, 10 }, whats[what].colour, NULL);
		report_svg_text(stream, (struct report_label){ .x = x + 15, .y = y + 10 }, whats[what].name);
	}
}

static int path_draw(struct report *report, FILE *stream)
{
	enum { NAMES = 200, WIDTH = 1100, RIGHT = 60 };
	const struct path *path = (struct path *)report;
	uint32_t rows[ROWS_DRAWN];
	bool is_cut;
	size_t count = rows_of(path, rows, &is_cut);
	double height = (double)(count + 4) * SVG_ROW, width = WIDTH - NAMES - RIGHT;

	report_svg_begin(stream, WIDTH, height, "The critical path: where the time went, thread by thread");
	report_svg_times(stream, (struct report_box){ NAMES, SVG_ROW, width, (double)count * SVG_ROW },
			 path->end > path->begin ? path->end - path->begin : 0);
	for (size_t i = 0; i < count; i++) {
		double y = (double)(i + 1) * SVG_ROW;

		report_svg_thread(stream,
				  (struct report_label){ .x = 4, .y = y + 13, .most = (NAMES - 8) / SVG_LETTER },
				  report->view, rows[i]);
		draw_row(path, stream, rows[i], (struct report_box){ NAMES, y + 3, width, SVG_ROW - 6 });
	}
	draw_legend(stream, NAMES, (double)(count + 2) * SVG_ROW);
	if (is_cut)
		report_svg_text(stream, (struct report_label){ .x = 4, .y = height - 5 },
				"Threads with less time than these are not drawn.");
	report_svg_end(stream);
	return 0;
}

const struct report_kind report_path = {
	.name = "path",
	.title = "Path",
	.question = "where the time of the command went",
	.needs = (const struct report_need[]){ { ROLE_SWITCH, "What threads did is unknown" },
					       { ROLE_WAKING, "What threads waited for is unknown" },
					       { ROLE_FORK, "Which thread created which is unknown" },
					       { 0 } },
	.open = path_open,
	.slice = path_slice,
	.finish = path_finish,
	.write = path_write,
	.say = path_say,
	.draw = path_draw,
	.free = path_free,
};
