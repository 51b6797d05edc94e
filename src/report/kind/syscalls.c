// SPDX-License-Identifier: BSD-2-Clause
/* System calls: how many, which failed and how, and the time from entry to return, waiting in them included. */

#include "report/kind/kinds.h"

#include "base/alloc.h"
#include "meaning/meaning.h"
#include "report/distribution.h"
#include "report/tally.h"

#include <errno.h>

enum { CALLS_MAX = 1024, ERRORS_MAX = 16384, CALLING_PROCESSES_MAX = 1 << 20, ERRNO_MAX = 4095 };

struct call {
	uint64_t key[1]; /* the number */
	uint64_t failed, unfinished, running;
	struct report_distribution took;
};

struct failure {
	uint64_t key[2]; /* the call, errno */
	uint64_t count;
};

struct calling_process {
	uint64_t key[1]; /* report_process */
	uint64_t count, failed, ns;
	uint32_t thread;
};

struct inside {
	uint64_t begin, ran;
	uint32_t call;    /* and 1; 0: in none that is known */
	uint32_t process; /* place in processes, and 1; 0: not looked up, or not known */
};

struct syscalls {
	struct report report;
	struct report_tally calls, failures, processes;
	uint32_t places[CALLS_MAX]; /* by number the place in calls, and 1 */
	struct inside *insides;     /* by thread */
	size_t inside_capacity;
	uint64_t halves; /* returns whose entry is not in the trace */
};

static int syscalls_open(const struct report_view *view, struct report **made)
{
	struct syscalls *syscalls = alloc_zero(1, sizeof *syscalls);

	(void)view;
	if (!syscalls)
		return -ENOMEM;
	syscalls->calls = REPORT_TALLY(struct call, CALLS_MAX);
	syscalls->failures = REPORT_TALLY(struct failure, ERRORS_MAX);
	syscalls->processes = REPORT_TALLY(struct calling_process, CALLING_PROCESSES_MAX);
	*made = &syscalls->report;
	return 0;
}

static void syscalls_free(struct report *report)
{
	struct syscalls *syscalls = (struct syscalls *)report;

	report_tally_fini(&syscalls->calls);
	report_tally_fini(&syscalls->failures);
	report_tally_fini(&syscalls->processes);
	alloc_free(syscalls->insides);
	alloc_free(syscalls);
}

static struct inside *inside_of(struct syscalls *syscalls, uint32_t thread)
{
	return alloc_grow(&syscalls->insides, &syscalls->inside_capacity, thread, sizeof *syscalls->insides)
		       ? NULL
		       : &syscalls->insides[thread];
}

static struct call *syscall_of(struct syscalls *syscalls, uint64_t number)
{
	struct call *calls = syscalls->calls.items, *call;

	if (number < CALLS_MAX && syscalls->places[number])
		return &calls[syscalls->places[number] - 1];
	call = report_tally_at(&syscalls->calls, &number);
	calls = syscalls->calls.items;
	if (call && number < CALLS_MAX)
		syscalls->places[number] = (uint32_t)(call - calls) + 1;
	return call;
}

static struct calling_process *syscall_process(struct syscalls *syscalls, uint32_t thread, struct inside *inside)
{
	uint64_t key = report_process(syscalls->report.view, thread);
	struct calling_process *processes = syscalls->processes.items, *process;

	if (inside->process)
		return &processes[inside->process - 1];
	process = report_tally_at(&syscalls->processes, &key);
	processes = syscalls->processes.items;
	if (process && !process->thread)
		process->thread = thread;
	if (process && syscalls->report.view->threads[thread].pid)
		inside->process = (uint32_t)(process - processes) + 1;
	return process;
}

static int take_return(struct syscalls *syscalls, const struct report_event *event, struct inside *inside)
{
	int64_t result = report_number(event->layout, event->event, CALL_END_RET);
	bool is_failed = result < 0 && result >= -ERRNO_MAX;
	uint64_t took = event->event->record->ts - inside->begin, key[] = { inside->call - 1, 0 - (uint64_t)result };
	struct call *call = syscall_of(syscalls, key[0]);
	struct calling_process *process = syscall_process(syscalls, event->thread, inside);
	struct failure *failure = is_failed ? report_tally_at(&syscalls->failures, key) : NULL;

	if (call) {
		report_distribution_add(&call->took, took);
		call->failed += is_failed;
		call->running += report_ran(syscalls->report.view, event->thread) - inside->ran;
	}
	if (process) {
		process->count++;
		process->failed += is_failed;
		process->ns += took;
	}
	if (failure)
		failure->count++;
	return syscalls->calls.failure | syscalls->processes.failure | syscalls->failures.failure ? -ENOMEM : 0;
}

static int syscalls_event(struct report *report, const struct report_event *event)
{
	struct syscalls *syscalls = (struct syscalls *)report;
	uint64_t id = (uint64_t)report_number(event->layout, event->event, CALL_ID), ts = event->event->record->ts;
	struct inside *inside;
	int result = 0;

	if (event->thread == REPORT_NONE || id >= UINT32_MAX)
		return 0;
	inside = inside_of(syscalls, event->thread);
	if (!inside)
		return -ENOMEM;
	if (event->layout->role == ROLE_CALL) {
		inside->begin = ts;
		inside->ran = report_ran(report->view, event->thread);
		inside->call = (uint32_t)id + 1;
		return 0;
	}
	if (inside->call == id + 1 && ts >= inside->begin)
		result = take_return(syscalls, event, inside);
	else
		syscalls->halves++;
	inside->call = 0;
	return result;
}

/* A return after a gap may be that of another call. */
static int syscalls_loss(struct report *report, const struct report_loss *loss)
{
	struct syscalls *syscalls = (struct syscalls *)report;

	(void)loss;
	for (size_t i = 0; i < syscalls->inside_capacity; i++)
		syscalls->insides[i].call = 0;
	return 0;
}

static int syscalls_finish(struct report *report)
{
	struct syscalls *syscalls = (struct syscalls *)report;

	for (size_t i = 0; i < syscalls->inside_capacity; i++) {
		uint64_t key = (uint64_t)syscalls->insides[i].call - 1;
		struct call *call = syscalls->insides[i].call ? syscall_of(syscalls, key) : NULL;

		if (call)
			call->unfinished++;
	}
	return syscalls->calls.failure;
}

static void name_call(struct text_buffer *text, uint64_t number)
{
	text->length = 0;
	meaning_show(text, meaning_find("syscall"), (struct meaning_number){ number, false });
}

static int by_syscall_time(const void *left, const void *right)
{
	const struct call *a = left, *b = right;

	if (a->took.sum != b->took.sum)
		return a->took.sum > b->took.sum ? -1 : 1;
	return a->key[0] < b->key[0] ? -1 : 1;
}

static void write_calls(struct syscalls *syscalls, struct report_tables *tables)
{
	static const struct report_column columns[] = { { "call", "call", CELL_TEXT, false },
							{ "failed", "failed", CELL_COUNT, false },
							{ "unfinished", NULL, CELL_COUNT, false },
							{ "running_ns", "running", CELL_DURATION, false },
							REPORT_DISTRIBUTION_COLUMNS };
	const struct call *calls = syscalls->calls.items;
	struct text_buffer name = { 0 };

	report_tally_sort(&syscalls->calls, by_syscall_time);
	report_table(tables, "calls", "By time inside", columns, 4 + DISTRIBUTION_CELLS);
	for (size_t i = 0; i < syscalls->calls.count; i++) {
		struct report_cell cells[4 + DISTRIBUTION_CELLS];

		name_call(&name, calls[i].key[0]);
		cells[0] = report_cell_text(name.bytes);
		cells[1] = report_cell_number(calls[i].failed);
		cells[2] = report_cell_number(calls[i].unfinished);
		cells[3] = report_cell_number(calls[i].running);
		report_distribution_cells(&calls[i].took, cells + 4);
		report_row(tables, cells, 0);
	}
	report_table_end(tables);
	text_fini(&name);
}

static int by_failures(const void *left, const void *right)
{
	const struct failure *a = left, *b = right;

	if (a->count != b->count)
		return a->count > b->count ? -1 : 1;
	return memcmp(a->key, b->key, sizeof a->key);
}

static void write_failures(struct syscalls *syscalls, struct report_tables *tables)
{
	static const struct report_column columns[] = { { "call", "call", CELL_TEXT, false },
							{ "error", "error", CELL_TEXT, false },
							{ "count", "count", CELL_COUNT, false } };
	const struct failure *failures = syscalls->failures.items;
	struct text_buffer call = { 0 }, error = { 0 };

	report_tally_sort(&syscalls->failures, by_failures);
	report_table(tables, "errors", "Errors", columns, 3);
	for (size_t i = 0; i < syscalls->failures.count; i++) {
		name_call(&call, failures[i].key[0]);
		error.length = 0;
		meaning_show(&error, meaning_find("result"), (struct meaning_number){ -failures[i].key[1], true });
		report_row(tables,
			   (struct report_cell[]){ report_cell_text(call.bytes), report_cell_text(error.bytes),
						   report_cell_number(failures[i].count) },
			   0);
	}
	report_table_end(tables);
	text_fini(&call);
	text_fini(&error);
}

static int by_calls(const void *left, const void *right)
{
	const struct calling_process *a = left, *b = right;

	if (a->count != b->count)
		return a->count > b->count ? -1 : 1;
	return a->key[0] < b->key[0] ? -1 : 1;
}

static void write_syscall_processes(struct syscalls *syscalls, struct report_tables *tables)
{
	static const struct report_column columns[] = { { "process", "process", CELL_THREAD, false },
							{ "count", "calls", CELL_COUNT, false },
							{ "failed", "failed", CELL_COUNT, false },
							{ "sum_ns", "inside", CELL_DURATION, false } };
	const struct calling_process *processes = syscalls->processes.items;

	report_tally_sort(&syscalls->processes, by_calls);
	report_table(tables, "processes", "Processes by calls", columns, 4);
	for (size_t i = 0; i < syscalls->processes.count; i++)
		report_row(tables,
			   (struct report_cell[]){
				   report_cell_thread(processes[i].thread), report_cell_number(processes[i].count),
				   report_cell_number(processes[i].failed), report_cell_number(processes[i].ns) },
			   0);
	report_table_end(tables);
}

static void syscalls_write(struct report *report, struct report_tables *tables)
{
	struct syscalls *syscalls = (struct syscalls *)report;
	uint64_t left_out = syscalls->calls.left_out + syscalls->failures.left_out + syscalls->processes.left_out;

	if (!report->view->seen[ROLE_CALL_END].count)
		return;
	write_calls(syscalls, tables);
	write_failures(syscalls, tables);
	write_syscall_processes(syscalls, tables);
	if (syscalls->halves)
		report_note(tables, "%llu returns are not counted: the trace does not have their entry.",
			    (unsigned long long)syscalls->halves);
	report_note_left_out(tables, left_out);
}

const struct report_kind report_syscalls = {
	.name = "syscalls",
	.title = "System calls",
	.question = "which system calls were made, which failed, and how long they took",
	.needs = (const struct report_need[]){ { ROLE_CALL, "Which system calls were made is unknown" },
					       { ROLE_CALL_END, "How system calls ended is unknown" },
					       { 0 } },
	.open = syscalls_open,
	.event = syscalls_event,
	.loss = syscalls_loss,
	.finish = syscalls_finish,
	.write = syscalls_write,
	.free = syscalls_free,
	.roles = UINT64_C(1) << ROLE_CALL | UINT64_C(1) << ROLE_CALL_END,
};
