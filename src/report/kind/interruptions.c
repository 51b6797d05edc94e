// SPDX-License-Identifier: BSD-2-Clause
/*
 * Interruptions: how long threads ran at a stretch, what they lost the CPU to, and the interrupts while they ran.
 */

#include "report/kind/kinds.h"

#include "base/alloc.h"
#include "meaning/meaning.h"
#include "report/distribution.h"
#include "report/names.h"
#include "report/tally.h"

#include <errno.h>
#include <string.h>

enum { PAIRS_MAX = 1 << 20, PAIRS_HELD = 1 << 16, RUNS_MAX = 1 << 16, NESTED = 16, NAME_BYTES = 24 };

enum by { BY_THREAD, BY_IRQ, BY_SOFTIRQ, BY_VECTOR, BY_TIMER };

struct pair {
	uint64_t key[2]; /* the interrupted thread, above that enum by; who or what interrupts */
	uint64_t ns, most;
	uint64_t count : 40, name : 24; /* of a device's interrupt, its number */
};

struct run {
	uint64_t key[1]; /* the thread */
	uint64_t preempted;
	struct report_sparse lengths;
};

struct handler {
	uint64_t begin, number;
	uint32_t thread;
	enum by by;
	char name[NAME_BYTES];
};

/* The handlers that a CPU is in. */
struct nest {
	struct handler handlers[NESTED];
	unsigned depth; /* greater than NESTED: the innermost are not kept */
};

struct interruptions {
	struct report report;
	struct report_tally pairs, runs;
	struct report_names names;
	uint32_t *takers; /* by thread the one that came when it last left its CPU, and 1; 0: not known */
	size_t taker_capacity;
	struct nest *nests;
	size_t nest_capacity;
	uint64_t halves; /* handlers whose begin or end is missing */
};

static void add_pair(void *to, const void *from)
{
	struct pair *sum = to;
	const struct pair *more = from;

	sum->count += more->count;
	sum->ns += more->ns;
	sum->most = more->most > sum->most ? more->most : sum->most;
	sum->name = more->name > sum->name ? more->name : sum->name;
}

static enum by by_of(const struct pair *pair)
{
	return (enum by)(pair->key[0] >> 32);
}

static int interruptions_open(const struct report_view *view, struct report **made)
{
	struct interruptions *interruptions = alloc_zero(1, sizeof *interruptions);

	(void)view;
	if (!interruptions)
		return -ENOMEM;
	interruptions->pairs = REPORT_TALLY(struct pair, PAIRS_MAX);
	interruptions->pairs.held = PAIRS_HELD;
	interruptions->pairs.add = add_pair;
	interruptions->runs = REPORT_TALLY(struct run, RUNS_MAX);
	*made = &interruptions->report;
	return 0;
}

static void interruptions_free(struct report *report)
{
	struct interruptions *interruptions = (struct interruptions *)report;

	for (size_t i = 0; i < interruptions->runs.count; i++)
		report_sparse_fini(&((struct run *)interruptions->runs.items)[i].lengths);
	report_tally_fini(&interruptions->pairs);
	report_tally_fini(&interruptions->runs);
	report_names_fini(&interruptions->names);
	alloc_free(interruptions->takers);
	alloc_free(interruptions->nests);
	alloc_free(interruptions);
}

static int add_interruption(struct interruptions *interruptions, const uint64_t key[3], uint64_t ns, const char *name)
{
	struct pair *pair = report_tally_at(&interruptions->pairs, (uint64_t[]){ key[0] | key[1] << 32, key[2] });
	uint32_t number = 0;

	if (!pair)
		return interruptions->pairs.failure;
	pair->count++;
	pair->ns += ns;
	pair->most = ns > pair->most ? ns : pair->most;
	if (report_names_add(&interruptions->names, name, &number) != 0)
		return -ENOMEM;
	pair->name = number;
	return 0;
}

/* Slices of a thread come with its end of waiting, so who took the CPU is kept until then. */
static int on_switch(struct interruptions *interruptions, const struct report_event *event)
{
	if (event->thread == REPORT_NONE)
		return 0;
	if (alloc_grow(&interruptions->takers, &interruptions->taker_capacity, event->thread,
		       sizeof *interruptions->takers))
		return -ENOMEM;
	interruptions->takers[event->thread] = event->comes + 1; /* of REPORT_NONE: 0 */
	return 0;
}

static struct nest *nest_of(struct interruptions *interruptions, uint32_t cpu)
{
	return alloc_grow(&interruptions->nests, &interruptions->nest_capacity, cpu, sizeof *interruptions->nests)
		       ? NULL
		       : &interruptions->nests[cpu];
}

static const struct {
	uint32_t role, end;
	enum by by;
} handlers[] = {
	{ ROLE_IRQ, ROLE_IRQ_END, BY_IRQ },
	{ ROLE_SOFTIRQ, ROLE_SOFTIRQ_END, BY_SOFTIRQ },
	{ ROLE_VECTOR, ROLE_VECTOR_END, BY_VECTOR },
	{ ROLE_TIMER, ROLE_TIMER_END, BY_TIMER },
};

static void enter_interruption(struct nest *nest, const struct report_event *event, enum by by)
{
	struct handler *handler = &nest->handlers[nest->depth];

	if (nest->depth++ >= NESTED)
		return;
	*handler = (struct handler){ .begin = event->event->record->ts,
				     .number = (uint64_t)report_number(event->layout, event->event, IRQ_NUMBER),
				     .thread = event->thread,
				     .by = by };
	if (by == BY_TIMER)
		handler->number = 0;
	if (by == BY_IRQ)
		snprintf(handler->name, NAME_BYTES, "%s", report_text(event->layout, event->event, IRQ_NAME));
}

static int leave_interruption(struct interruptions *interruptions, struct nest *nest, const struct report_event *event,
			      enum by by)
{
	const struct handler *handler;

	if (!nest->depth || (nest->depth <= NESTED && nest->handlers[nest->depth - 1].by != by)) {
		interruptions->halves++;
		nest->depth = 0;
		return 0;
	}
	if (nest->depth-- > NESTED)
		return 0;
	handler = &nest->handlers[nest->depth];
	if (!handler->thread || handler->thread == REPORT_NONE || event->event->record->ts < handler->begin)
		return 0;
	return add_interruption(interruptions, (uint64_t[]){ handler->thread, by, handler->number },
				event->event->record->ts - handler->begin, handler->name);
}

static int interruptions_event(struct report *report, const struct report_event *event)
{
	struct interruptions *interruptions = (struct interruptions *)report;
	uint32_t role = event->layout->role;
	struct nest *nest;

	if (role == ROLE_SWITCH)
		return on_switch(interruptions, event);
	if (event->event->record->cpu >= REPORT_CPUS_MAX)
		return 0;
	nest = nest_of(interruptions, event->event->record->cpu);
	if (!nest)
		return -ENOMEM;
	for (size_t i = 0; i < sizeof handlers / sizeof *handlers; i++) {
		if (role == handlers[i].role)
			enter_interruption(nest, event, handlers[i].by);
		else if (role == handlers[i].end)
			return leave_interruption(interruptions, nest, event, handlers[i].by);
	}
	return 0;
}

static int interruptions_loss(struct report *report, const struct report_loss *loss)
{
	struct interruptions *interruptions = (struct interruptions *)report;

	(void)loss;
	for (size_t i = 0; i < interruptions->nest_capacity; i++)
		interruptions->nests[i].depth = 0;
	for (size_t i = 0; i < interruptions->taker_capacity; i++)
		interruptions->takers[i] = 0;
	return 0;
}

static int interruptions_slice(struct report *report, const struct report_slice *slice)
{
	static const char none[NAME_BYTES];
	struct interruptions *interruptions = (struct interruptions *)report;
	uint64_t length = slice->end - slice->begin, key = slice->thread;
	struct run *run;

	if (slice->thread == REPORT_NONE || !slice->thread)
		return 0;
	if (slice->state == REPORT_READY && strcmp(report_name(report->view, slice->reason), "preempted") == 0) {
		uint32_t taker =
			slice->thread < interruptions->taker_capacity ? interruptions->takers[slice->thread] : 0;

		run = report_tally_at(&interruptions->runs, &key);
		if (run)
			run->preempted++;
		if (taker)
			return add_interruption(interruptions, (uint64_t[]){ key, BY_THREAD, taker - 1 }, length, none);
	} else if (slice->state == REPORT_RUNNING) {
		run = report_tally_at(&interruptions->runs, &key);
		if (run && report_sparse_add(&run->lengths, length))
			return -ENOMEM;
	}
	return interruptions->runs.failure;
}

static int by_preempted(const void *left, const void *right)
{
	const struct run *a = left, *b = right;

	if (a->preempted != b->preempted)
		return a->preempted > b->preempted ? -1 : 1;
	uint64_t x = report_sparse_count(&a->lengths), y = report_sparse_count(&b->lengths);
	if (x != y)
		return x > y ? -1 : 1;
	return a->key[0] < b->key[0] ? -1 : 1;
}

static void write_runs(struct interruptions *interruptions, struct report_tables *tables)
{
	static const struct report_column columns[] = { { "thread", "thread", CELL_THREAD, false },
							{ "preempted", "preempted", CELL_COUNT, false },
							REPORT_DISTRIBUTION_COLUMNS };
	const struct run *runs = interruptions->runs.items;

	report_tally_sort(&interruptions->runs, by_preempted);
	report_table(tables, "runs", "How long threads ran without interruption", columns, 2 + DISTRIBUTION_CELLS);
	for (size_t i = 0; i < interruptions->runs.count; i++) {
		struct report_cell cells[2 + DISTRIBUTION_CELLS] = { report_cell_thread((uint32_t)runs[i].key[0]),
								     report_cell_number(runs[i].preempted) };

		if (tables->view->threads[runs[i].key[0]].is_stranger)
			continue;
		struct report_distribution lengths = report_sparse_whole(&runs[i].lengths);
		report_distribution_cells(&lengths, cells + 2);
		report_row(tables, cells, 0);
	}
	report_table_end(tables);
}

static int by_interruption_time(const void *left, const void *right)
{
	const struct pair *a = left, *b = right;

	if (a->ns != b->ns)
		return a->ns > b->ns ? -1 : 1;
	return memcmp(a->key, b->key, sizeof a->key);
}

static void put_by(struct text_buffer *text, const struct interruptions *interruptions, const struct pair *pair)
{
	enum by by = by_of(pair);

	if (by == BY_THREAD)
		report_thread_name(text, interruptions->report.view, (uint32_t)pair->key[1]);
	else if (by == BY_SOFTIRQ)
		meaning_show(text, meaning_find("enum softirq"), (struct meaning_number){ pair->key[1], false });
	else if (by == BY_TIMER)
		text_append(text, "local timer");
	else if (pair->name)
		text_append(text, interruptions->names.texts[pair->name - 1]);
	else
		text_printf(text, "%llu", (unsigned long long)pair->key[1]);
}

static void write_pairs(struct interruptions *interruptions, struct report_tables *tables)
{
	static const char *const kinds[] = { [BY_THREAD] = "thread",
					     [BY_IRQ] = "irq",
					     [BY_SOFTIRQ] = "softirq",
					     [BY_VECTOR] = "vector",
					     [BY_TIMER] = "timer" };
	static const struct report_column columns[] = {
		{ "thread", "thread", CELL_THREAD, false },  { "kind", "by", CELL_TEXT, false },
		{ "by", "name", CELL_TEXT, false },          { "by_tid", NULL, CELL_COUNT, false },
		{ "count", "count", CELL_COUNT, false },     { "sum_ns", "sum", CELL_DURATION, false },
		{ "mean_ns", "mean", CELL_DURATION, false }, { "most_ns", "most", CELL_DURATION, false },
	};
	const struct pair *pair;
	const struct report_view *view = tables->view;

	int code = report_tally_begin(&interruptions->pairs, by_interruption_time);

	if (code)
		tables->failure = code;
	report_table(tables, "interruptions", "What interrupted them, by time", columns, 8);
	while (!tables->failure && (pair = report_tally_next(&interruptions->pairs))) {
		uint32_t thread = (uint32_t)pair->key[0];
		bool is_thread = by_of(pair) == BY_THREAD;
		struct text_buffer name = { 0 };

		if (view->threads[thread].is_stranger)
			continue;
		put_by(&name, interruptions, pair);
		report_row(tables,
			   (struct report_cell[]){
				   report_cell_thread(thread), report_cell_text(kinds[by_of(pair)]),
				   report_cell_text(name.bytes),
				   is_thread ? report_cell_number(view->threads[pair->key[1]].tid) : CELL_NONE,
				   report_cell_number(pair->count), report_cell_number(pair->ns),
				   report_cell_number(pair->ns / pair->count), report_cell_number(pair->most) },
			   0);
		text_fini(&name);
	}
	report_table_end(tables);
	if (interruptions->pairs.failure)
		tables->failure = interruptions->pairs.failure;
}

static void interruptions_write(struct report *report, struct report_tables *tables)
{
	struct interruptions *interruptions = (struct interruptions *)report;
	uint64_t left_out = interruptions->pairs.left_out + interruptions->runs.left_out;

	write_runs(interruptions, tables);
	write_pairs(interruptions, tables);
	if (interruptions->halves)
		report_note(tables, "%llu interrupts are not counted: their beginning is not in the trace.",
			    (unsigned long long)interruptions->halves);
	report_note_left_out(tables, left_out);
}

const struct report_kind report_interruptions = {
	.name = "interruptions",
	.title = "Interruptions",
	.question = "how long threads ran without interruption, and what interrupted them",
	.needs = (const struct report_need[]){ { ROLE_SWITCH, "Which threads ran is unknown" },
					       { ROLE_IRQ, "Device interrupts are unknown" },
					       { ROLE_SOFTIRQ, "Soft interrupts are unknown" },
					       { 0 } },
	.open = interruptions_open,
	.event = interruptions_event,
	.slice = interruptions_slice,
	.loss = interruptions_loss,
	.write = interruptions_write,
	.free = interruptions_free,
	.roles = UINT64_C(1) << ROLE_SWITCH | UINT64_C(1) << ROLE_IRQ | UINT64_C(1) << ROLE_IRQ_END |
		 UINT64_C(1) << ROLE_SOFTIRQ | UINT64_C(1) << ROLE_SOFTIRQ_END | UINT64_C(1) << ROLE_VECTOR |
		 UINT64_C(1) << ROLE_VECTOR_END | UINT64_C(1) << ROLE_TIMER | UINT64_C(1) << ROLE_TIMER_END,
};
