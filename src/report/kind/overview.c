// SPDX-License-Identifier: BSD-2-Clause
/* The overview: what the trace holds, who had the CPUs, and what is missing. */

#include "report/kind/kinds.h"

#include "base/alloc.h"
#include "report/table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { SPANS = 40 };

struct type_count {
	const char *name;
	uint64_t events;
};

struct busy_process {
	uint32_t pid, thread, threads;
	uint64_t running, ready, runs;
};

struct overview {
	struct report report;
	struct type_count *types; /* by the number that the source gives types */
	size_t type_count, type_capacity;
	uint64_t (*cpus)[REPORT_STATES];
	size_t cpu_count, cpu_capacity;
	uint64_t spans[SPANS], span_ns;
};

static int overview_open(const struct report_view *view, struct report **made)
{
	struct overview *overview = alloc_zero(1, sizeof *overview);

	if (!overview)
		return -ENOMEM;
	overview->span_ns = 1;
	*made = &overview->report;
	(void)view;
	return 0;
}

static void overview_free(struct report *report)
{
	struct overview *overview = (struct overview *)report;

	alloc_free(overview->types);
	alloc_free(overview->cpus);
	alloc_free(overview);
}

static int overview_event(struct report *report, const struct report_event *event)
{
	struct overview *overview = (struct overview *)report;
	uint64_t since = report->view->last_ns - report->view->first_ns;
	uint32_t type = event_type_of(event->event->record);

	while (overview->type_count <= type) {
		if (alloc_grow(&overview->types, &overview->type_capacity, overview->type_count,
			       sizeof *overview->types))
			return -ENOMEM;
		overview->types[overview->type_count++] = (struct type_count){ 0 };
	}
	overview->types[type].name = event->event->type->name;
	overview->types[type].events++;
	while (since / overview->span_ns >= SPANS) {
		for (unsigned i = 0; i < SPANS; i++)
			overview->spans[i] = i < SPANS / 2 ? overview->spans[2 * i] + overview->spans[2 * i + 1] : 0;
		overview->span_ns *= 2;
	}
	overview->spans[since / overview->span_ns]++;
	return 0;
}

static int overview_slice(struct report *report, const struct report_slice *slice)
{
	struct overview *overview = (struct overview *)report;

	if (slice->thread != REPORT_NONE && slice->state != REPORT_RUNNING)
		return 0;
	while (overview->cpu_count <= slice->cpu) {
		if (alloc_grow(&overview->cpus, &overview->cpu_capacity, overview->cpu_count, sizeof *overview->cpus))
			return -ENOMEM;
		memset(overview->cpus[overview->cpu_count++], 0, sizeof *overview->cpus);
	}
	overview->cpus[slice->cpu][slice->state] += slice->end - slice->begin;
	return 0;
}

static int by_events(const void *left, const void *right)
{
	const struct type_count *a = left, *b = right;

	if (a->events != b->events)
		return a->events > b->events ? -1 : 1;
	return strcmp(a->name ? a->name : "", b->name ? b->name : "");
}

static int by_overview_running(const void *left, const void *right)
{
	const struct busy_process *a = left, *b = right;

	if (a->running != b->running)
		return a->running > b->running ? -1 : 1;
	return a->pid < b->pid ? -1 : a->pid > b->pid;
}

static int by_overview_pid(const void *left, const void *right)
{
	const struct busy_process *a = left, *b = right;

	return a->pid != b->pid ? (a->pid < b->pid ? -1 : 1) : (a->thread < b->thread ? -1 : 1);
}

static void write_totals(const struct overview *overview, struct report_tables *tables)
{
	static const struct report_column columns[] = {
		{ "events", "events", CELL_COUNT, false },   { "length_ns", "length", CELL_DURATION, false },
		{ "rate", "events/s", CELL_RATE, false },    { "lost", "lost", CELL_COUNT, false },
		{ "gaps", "gaps", CELL_COUNT, false },       { "threads", "threads", CELL_COUNT, false },
		{ "processors", "CPUs", CELL_COUNT, false },
	};
	const struct report_view *view = tables->view;
	uint64_t length = view->last_ns - view->first_ns, lost = 0, threads = 0;

	for (uint32_t i = 0; i < view->loss_count; i++)
		lost += view->losses[i].count;
	for (uint32_t i = 1; i < view->thread_count; i++)
		threads += !view->threads[i].is_stranger;
	report_table(tables, "totals", "", columns, 7);
	report_row(tables,
		   (struct report_cell[]){ report_cell_number(view->events), report_cell_number(length),
					   length ? report_cell_real((double)view->events * 1e9 / (double)length)
						  : CELL_NONE,
					   report_cell_number(lost), report_cell_number(view->loss_count),
					   report_cell_number(threads), report_cell_number(overview->cpu_count) },
		   0);
	report_table_end(tables);
}

static void write_types(struct overview *overview, struct report_tables *tables)
{
	static const struct report_column columns[] = {
		{ "event", "event", CELL_TEXT, false },
		{ "count", "count", CELL_COUNT, false },
		{ "share", "share", CELL_SHARE, false },
		{ "bar", "", CELL_BAR, false },
	};
	uint64_t all = tables->view->events, first;
	struct type_count *sorted = alloc_zero(overview->type_count + 1, sizeof *sorted);

	if (!sorted) {
		tables->failure = -ENOMEM;
		return;
	}
	if (overview->type_count)
		memcpy(sorted, overview->types, overview->type_count * sizeof *sorted);
	qsort(sorted, overview->type_count, sizeof *sorted, by_events);
	first = sorted[0].events;
	report_table(tables, "events", "Events", columns, 4);
	for (size_t i = 0; i < overview->type_count && sorted[i].events; i++)
		report_row(tables,
			   (struct report_cell[]){ report_cell_text(sorted[i].name),
						   report_cell_number(sorted[i].events),
						   report_cell_real((double)sorted[i].events / (double)all),
						   report_cell_real((double)sorted[i].events / (double)first) },
			   0);
	report_table_end(tables);
	alloc_free(sorted);
}

static void write_rates(const struct overview *overview, struct report_tables *tables)
{
	static const struct report_column columns[] = {
		{ "time_ns", "from s", CELL_TIME, false },
		{ "count", "events", CELL_COUNT, false },
		{ "bar", "", CELL_BAR, false },
	};
	uint64_t most = 1, length = tables->view->last_ns - tables->view->first_ns;

	for (unsigned i = 0; i < SPANS; i++)
		most = overview->spans[i] > most ? overview->spans[i] : most;
	report_table(tables, "rate", "Events over time", columns, 3);
	for (unsigned i = 0; tables->view->events && i < SPANS && i * overview->span_ns <= length; i++)
		report_row(tables,
			   (struct report_cell[]){ report_cell_number(i * overview->span_ns),
						   report_cell_number(overview->spans[i]),
						   report_cell_real((double)overview->spans[i] / (double)most) },
			   0);
	report_table_end(tables);
}

static void write_cpus(const struct overview *overview, struct report_tables *tables)
{
	static const struct report_column columns[] = {
		{ "cpu", "cpu", CELL_COUNT, false },
		{ "running_ns", "threads", CELL_DURATION, false },
		{ "idle_ns", "idle", CELL_DURATION, false },
		{ "others_ns", "others", CELL_DURATION, false },
		{ "unknown_ns", "unknown", CELL_DURATION, false },
		{ "busy", "busy", CELL_SHARE, false },
	};

	report_table(tables, "processors", "CPUs", columns, 6);
	for (size_t i = 0; i < overview->cpu_count; i++) {
		const uint64_t *ns = overview->cpus[i];
		uint64_t known = ns[REPORT_RUNNING] + ns[REPORT_IDLE];
		bool is_known = known && !ns[REPORT_OTHERS];

		if (!known && !ns[REPORT_OTHERS] && !ns[REPORT_UNKNOWN])
			continue;
		report_row(
			tables,
			(struct report_cell[]){
				report_cell_number(i), report_cell_number(ns[REPORT_RUNNING]),
				report_cell_number(ns[REPORT_IDLE]), report_cell_number(ns[REPORT_OTHERS]),
				report_cell_number(ns[REPORT_UNKNOWN]),
				is_known ? report_cell_real((double)ns[REPORT_RUNNING] / (double)known) : CELL_NONE },
			0);
	}
	report_table_end(tables);
}

/* One row per process id: threads whose process is not known are processes of their own. */
static size_t join_threads(struct busy_process *processes, size_t count)
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++) {
		struct busy_process *last = kept ? &processes[kept - 1] : NULL;

		if (last && last->pid && last->pid == processes[i].pid) {
			last->running += processes[i].running;
			last->ready += processes[i].ready;
			last->runs += processes[i].runs;
			last->threads++;
		} else {
			processes[kept++] = processes[i];
		}
	}
	return kept;
}

static void write_overview_processes(struct report_tables *tables)
{
	static const struct report_column columns[] = {
		{ "process", "process", CELL_THREAD, false },
		{ "threads", "threads", CELL_COUNT, false },
		{ "running_ns", "running", CELL_DURATION, false },
		{ "ready_ns", "ready", CELL_DURATION, false },
		{ "runs", "runs", CELL_COUNT, false },
		{ "bar", "", CELL_BAR, false },
	};
	const struct report_view *view = tables->view;
	struct busy_process *processes = alloc_zero(view->thread_count, sizeof *processes);
	size_t count = 0;

	if (!processes) {
		tables->failure = -ENOMEM;
		return;
	}
	for (uint32_t i = 1; i < view->thread_count; i++) {
		const struct report_thread *thread = &view->threads[i];

		if (!thread->is_stranger)
			processes[count++] = (struct busy_process){
				thread->pid, i, 1, thread->state_ns[REPORT_RUNNING], thread->state_ns[REPORT_READY],
				thread->runs
			};
	}
	qsort(processes, count, sizeof *processes, by_overview_pid);
	count = join_threads(processes, count);
	qsort(processes, count, sizeof *processes, by_overview_running);
	report_table(tables, "processes", "Processes by CPU time", columns, 6);
	for (size_t i = 0; i < count; i++)
		report_row(tables,
			   (struct report_cell[]){
				   report_cell_thread(processes[i].thread), report_cell_number(processes[i].threads),
				   report_cell_number(processes[i].running), report_cell_number(processes[i].ready),
				   report_cell_number(processes[i].runs),
				   processes[0].running ? report_cell_real((double)processes[i].running /
									   (double)processes[0].running)
							: CELL_NONE },
			   0);
	report_table_end(tables);
	alloc_free(processes);
}

static void write_losses(struct report_tables *tables)
{
	static const struct report_column columns[] = {
		{ "time_ns", "from s", CELL_TIME, false },
		{ "length_ns", "length", CELL_DURATION, false },
		{ "lost", "lost", CELL_COUNT, false },
	};
	const struct report_view *view = tables->view;

	if (!view->loss_count)
		return;
	report_note(tables, "Events are missing in the gaps below; states are unknown there.");
	report_table(tables, "gaps", "Gaps", columns, 3);
	for (uint32_t i = 0; i < view->loss_count; i++) {
		const struct report_loss *loss = &view->losses[i];

		report_row(tables,
			   (struct report_cell[]){
				   report_cell_number(loss->begin > view->first_ns ? loss->begin - view->first_ns : 0),
				   report_cell_number(loss->end - loss->begin), report_cell_number(loss->count) },
			   0);
	}
	report_table_end(tables);
}

static void overview_write(struct report *report, struct report_tables *tables)
{
	struct overview *overview = (struct overview *)report;

	report_summary(tables);
	if (!tables->view->events)
		return;
	write_totals(overview, tables);
	if (tables->view->is_partial)
		report_note(tables, "Only part of the system was recorded; everything else is shown as 'others' "
				    "(record -a records the whole machine).");
	write_losses(tables);
	write_overview_processes(tables);
	write_cpus(overview, tables);
	write_types(overview, tables);
	write_rates(overview, tables);
}

const struct report_kind report_overview = {
	.name = "overview",
	.title = "Overview",
	.question = "what happened, and which events are missing",
	.needs = (const struct report_need[]){ { ROLE_SWITCH, "Which threads ran is unknown" }, { 0 } },
	.open = overview_open,
	.event = overview_event,
	.slice = overview_slice,
	.write = overview_write,
	.free = overview_free,
	.roles = REPORT_ALL,
};
