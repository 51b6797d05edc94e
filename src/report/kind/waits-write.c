// SPDX-License-Identifier: BSD-2-Clause
/* Writes what was found of waits as tables. */

#include "report/kind/waits-priv.h"

#include <string.h>

static const char *const kinds[] = { [WAITS_CONDITION] = "condition", [WAITS_MUTEX] = "mutex", [WAITS_JOIN] = "join" };

void waits_object_name(struct text_buffer *text, const struct waits *waits, uint32_t index)
{
	text_printf(text, "%s %u", kinds[waits_kind_of(waits_object(waits, index))], waits->numbers[index]);
}

const char *waits_proof_name(unsigned proof)
{
	return proof == WAITS_PROVED ? "proved" : proof == WAITS_SUSPECTED ? "suspected" : NULL;
}

static const char *name_object(struct text_buffer *text, const struct waits *waits, uint32_t index)
{
	text->length = 0;
	waits_object_name(text, waits, index);
	return text->bytes ? text->bytes : "";
}

static void write_objects(const struct waits *waits, struct report_tables *tables)
{
	static const struct report_column columns[] = {
		{ "object", "object", CELL_TEXT, false },     { "address", NULL, CELL_TEXT, false },
		{ "process", "of", CELL_THREAD, false },      { "threads", "threads", CELL_COUNT, false },
		{ "count", "waits", CELL_COUNT, false },      { "sum_ns", "sum", CELL_DURATION, false },
		{ "mean_ns", NULL, CELL_DURATION, false },    { "most_ns", NULL, CELL_DURATION, false },
		{ "holder", "last had", CELL_THREAD, false }, { "proof", "proof", CELL_TEXT, false },
	};
	struct text_buffer name = { 0 };

	report_table(tables, "objects", "What threads waited for", columns, 10);
	for (uint32_t i = 0; i < waits->shown; i++) {
		const struct waits_object *object = waits_object(waits, waits->order[i]);
		char address[24];

		snprintf(address, sizeof address, "0x%llx", (unsigned long long)object->key[1]);
		report_row(
			tables,
			(struct report_cell[]){
				report_cell_text(name_object(&name, waits, waits->order[i])),
				tables->view->is_redacted ? CELL_NONE : report_cell_text(address),
				report_cell_thread(object->process), report_cell_number(object->threads),
				report_cell_number(object->sum.count), report_cell_number(object->sum.ns),
				object->sum.count ? report_cell_number(object->sum.ns / object->sum.count) : CELL_NONE,
				report_cell_number(object->sum.most_ns), report_cell_thread(object->last),
				report_cell_text(waits_proof_name(object->last_proof)) },
			0);
	}
	report_table_end(tables);
	text_fini(&name);
}

static int by_edge_time(const void *left, const void *right)
{
	const struct waits_edge *a = left, *b = right;

	if (a->is_red != b->is_red)
		return a->is_red ? -1 : 1;
	if (a->sum.ns != b->sum.ns)
		return a->sum.ns > b->sum.ns ? -1 : 1;
	return memcmp(a->key, b->key, sizeof a->key);
}

static void write_edges(struct waits *waits, struct report_tables *tables)
{
	static const struct report_column columns[] = {
		{ "thread", "thread", CELL_THREAD, false },   { "function", NULL, CELL_TEXT, false },
		{ "object", "waited for", CELL_TEXT, false }, { "count", "waits", CELL_COUNT, false },
		{ "sum_ns", "sum", CELL_DURATION, false },    { "most_ns", "most", CELL_DURATION, false },
	};
	const struct waits_edge *edges = waits->edges.items;
	struct text_buffer name = { 0 };

	report_table(tables, "edges", "Threads and what they waited for", columns, 6);
	for (size_t i = 0; i < waits->edges.count; i++) {
		uint32_t thread = (uint32_t)edges[i].key[0], function = tables->view->threads[thread].function;

		if (!edges[i].sum.count)
			continue;
		report_row(tables,
			   (struct report_cell[]){
				   report_cell_thread(thread),
				   report_cell_text(function ? report_name(tables->view, function) : NULL),
				   report_cell_text(name_object(&name, waits, (uint32_t)edges[i].key[1])),
				   report_cell_number(edges[i].sum.count), report_cell_number(edges[i].sum.ns),
				   report_cell_number(edges[i].sum.most_ns) },
			   0);
	}
	report_table_end(tables);
	text_fini(&name);
}

static int by_pair_time(const void *left, const void *right)
{
	const struct waits_pair *a = left, *b = right;

	if (a->ns != b->ns)
		return a->ns > b->ns ? -1 : 1;
	return memcmp(a->key, b->key, sizeof a->key);
}

static void write_waiting_pairs(struct waits *waits, struct report_tables *tables)
{
	static const struct report_column columns[] = {
		{ "waiter", "who waited", CELL_THREAD, false }, { "waker", "woken by", CELL_THREAD, false },
		{ "reason", "for", CELL_TEXT, false },          { "count", "waits", CELL_COUNT, false },
		{ "sum_ns", "sum", CELL_DURATION, false },
	};
	const struct waits_pair *pairs = waits->pairs.items;

	report_tally_sort(&waits->pairs, by_pair_time);
	report_table(tables, "pairs", "Which threads waited, and which woke them", columns, 5);
	for (size_t i = 0; i < waits->pairs.count; i++) {
		uint64_t why = pairs[i].key[2];
		const char *reason = why < 256 ? kinds[why] : report_name(tables->view, (uint32_t)(why - 256));

		report_row(tables,
			   (struct report_cell[]){ report_cell_thread((uint32_t)pairs[i].key[0]),
						   report_cell_thread((uint32_t)pairs[i].key[1]),
						   report_cell_text(*reason ? reason : NULL),
						   report_cell_number(pairs[i].count),
						   report_cell_number(pairs[i].ns) },
			   0);
	}
	report_table_end(tables);
}

static uint64_t since_view_start(const struct report_view *view, uint64_t ns)
{
	return ns > view->first_ns ? ns - view->first_ns : 0;
}

/* Returns how many there are. */
static uint64_t write_circles(const struct waits *waits, struct report_tables *tables)
{
	static const struct report_column columns[] = {
		{ "circle", "cycle", CELL_COUNT, false },       { "length", "threads", CELL_COUNT, false },
		{ "proof", "proof", CELL_TEXT, false },         { "begin_ns", "since s", CELL_TIME, false },
		{ "end_ns", "until s", CELL_TIME, false },      { "count", "times", CELL_COUNT, false },
		{ "most_ns", "longest", CELL_DURATION, false }, { "end", "end", CELL_TEXT, false },
	};
	static const char *const fates[] = { [WAITS_NOT_KNOWN_HOW] = NULL,
					     [WAITS_ENDED] = "ended",
					     [WAITS_INTERRUPTED] = "signal",
					     [WAITS_ENDED_BY_EXIT] = "threads ended",
					     [WAITS_STANDS] = "stands" };
	const struct waits_circle *circles = waits->circles.items;
	uint64_t number = 0;

	report_table(tables, "circles", "Threads that wait for each other in a cycle", columns, 8);
	for (size_t i = 0; i < waits->circles.count; i++) {
		const struct waits_circle *circle = &circles[i];

		if (!circle->count)
			continue;
		report_row(tables,
			   (struct report_cell[]){
				   report_cell_number(++number), report_cell_number(circle->key[2]),
				   report_cell_text(circle->key[3] == WAITS_PROVED ? "proved" : "suspected"),
				   report_cell_number(since_view_start(tables->view, circle->since)),
				   circle->fate == WAITS_STANDS
					   ? CELL_NONE
					   : report_cell_number(since_view_start(tables->view, circle->end)),
				   report_cell_number(circle->count), report_cell_number(circle->longest),
				   report_cell_text(fates[circle->fate]) },
			   0);
	}
	report_table_end(tables);
	return number;
}

/* Who is in a cycle: each waits for what the next one has; where that is not known next is none. */
static void write_members(const struct waits *waits, struct report_tables *tables)
{
	static const struct report_column columns[] = {
		{ "circle", "cycle", CELL_COUNT, false },
		{ "thread", "thread", CELL_THREAD, false },
		{ "object", "waits for", CELL_TEXT, false },
		{ "holder", "held by", CELL_THREAD, false },
	};
	const struct waits_circle *circles = waits->circles.items;
	struct text_buffer name = { 0 };
	uint64_t number = 0;

	report_table(tables, "members", "Cycles, thread by thread", columns, 4);
	for (size_t i = 0; i < waits->circles.count; i++) {
		size_t length = circles[i].key[2];

		number += circles[i].count != 0;
		for (size_t j = 0; circles[i].count && j < length; j++) {
			const struct waits_member *member = &circles[i].members[j];
			uint32_t next = circles[i].members[(j + 1) % length].thread;

			report_row(
				tables,
				(struct report_cell[]){
					report_cell_number(number), report_cell_thread(member->thread),
					report_cell_text(name_object(&name, waits, member->object)),
					report_cell_thread(circles[i].key[3] == WAITS_NOT_KNOWN ? REPORT_NONE : next) },
				0);
		}
	}
	report_table_end(tables);
	text_fini(&name);
}

/* A thread that stands makes no more events: what is not seen of it is said. */
static void note_standing(const struct waits *waits, struct report_tables *tables)
{
	const struct report_view *view = tables->view;
	uint64_t before = 0;

	for (uint32_t i = 1; i < view->thread_count; i++) {
		const struct report_thread *thread = &view->threads[i];

		if (i < waits->thread_count && waits->threads[i].is_told)
			continue;
		before += !thread->is_stranger && !thread->is_kernel && !thread->is_born && !thread->runs &&
			  thread->state_ns[REPORT_BLOCKED];
	}
	if (waits->standing)
		report_note(tables, "%llu waits do not end in the trace: they are counted up to its end, at %.6f s.",
			    (unsigned long long)waits->standing, (double)(view->last_ns - view->first_ns) / 1e9);
	if (waits->earlier)
		report_note(tables, "%llu waits began before the recording: they are counted from its beginning.",
			    (unsigned long long)waits->earlier);
	if (before)
		report_note(tables,
			    "%llu threads waited from before the recording until its end: the trace does not show for "
			    "what. Start the recording with the program.",
			    (unsigned long long)before);
}

static void write_notes(const struct waits *waits, struct report_tables *tables)
{
	uint64_t left_out =
		waits->objects.left_out + waits->edges.left_out + waits->pairs.left_out + waits->processes.left_out;
	bool is_probed = tables->view->seen[ROLE_LOCK_TAKEN].count;

	if (!is_probed && waits->shown)
		report_note(tables,
			    "Holders of mutexes are inferred from wake-ups. Record probes to know them for certain: "
			    "record --for-report --catalog pthread.events -e 'pthread_mutex_*,pthread_cond_wait*'.");
	if (waits->epoch)
		report_note(tables,
			    "Waits and holders are forgotten at each gap of missing events (%u times). Cycles across "
			    "these gaps are not found.",
			    waits->epoch);
	if (waits->halves)
		report_note(tables, "%llu waits are not counted: the trace does not have their return.",
			    (unsigned long long)waits->halves);
	if (waits->unread)
		report_note(tables,
			    "%llu calls of futex_waitv and futex_requeue are not counted: the trace does not have "
			    "their addresses.",
			    (unsigned long long)waits->unread);
	note_standing(waits, tables);
	report_note_functions(tables);
	report_note_left_out(tables, left_out);
	if (waits->circles_left_out)
		report_note(tables, "%llu cycles are omitted: the limit is %d cycles with %d threads in all.",
			    (unsigned long long)waits->circles_left_out, WAITS_CIRCLES_MAX, WAITS_MEMBERS_MAX);
	if (waits->steps >= WAITS_STEPS_MAX)
		report_note(tables, "The search for cycles stopped after too many steps. Choose a shorter time with "
				    "--from and --to.");
}

void waits_write(struct report *report, struct report_tables *tables)
{
	struct waits *waits = (struct waits *)report;

	report_tally_sort(&waits->edges, by_edge_time);
	if (write_circles(waits, tables))
		write_members(waits, tables);
	write_objects(waits, tables);
	write_edges(waits, tables);
	write_waiting_pairs(waits, tables);
	write_notes(waits, tables);
}
