// SPDX-License-Identifier: BSD-2-Clause
/* Page faults: who had them, for what, and on how many pages. */

#include "report/kind/kinds.h"

#include "base/alloc.h"
#include "report/table.h"
#include "report/tally.h"

#include <errno.h>
#include <string.h>

enum {
	PROCESSES_MAX = 1 << 20,
	PAGES_MAX = 1 << 20,
	PAGES_HELD = 1 << 16,
	PLACES_MAX = 1 << 18,
	PLACES_HELD = 1 << 15,
	PLACES_SHOWN = 100,
	PAGE_SHIFT = 12,
};

/* Bits of the CPU's error code. */
enum { CODE_PROTECTION = 1, CODE_WRITE = 2, CODE_FETCH = 16 };

struct process {
	uint64_t key[1]; /* report_process */
	uint64_t user, kernel, writes, fetches, protections, pages;
	uint32_t thread;
};

struct page {
	uint64_t key[2]; /* of the process, number of the page */
};

struct place {
	uint64_t key[2]; /* of the process, address of the instruction */
	uint64_t count, last_ns;
	uint32_t thread; /* of the last one */
};

struct faults {
	struct report report;
	struct report_tally processes, pages, places;
};

/* A page is one however often it is met. */
static void add_page(void *to, const void *from)
{
	(void)to;
	(void)from;
}

static void add_place(void *to, const void *from)
{
	struct place *sum = to;
	const struct place *more = from;

	sum->count += more->count;
	if (more->last_ns >= sum->last_ns) {
		sum->last_ns = more->last_ns;
		sum->thread = more->thread;
	}
}

static int faults_open(const struct report_view *view, struct report **made)
{
	struct faults *faults = alloc_zero(1, sizeof *faults);

	(void)view;
	if (!faults)
		return -ENOMEM;
	faults->processes = REPORT_TALLY(struct process, PROCESSES_MAX);
	faults->pages = REPORT_TALLY(struct page, PAGES_MAX);
	faults->pages.held = PAGES_HELD;
	faults->pages.add = add_page;
	faults->places = REPORT_TALLY(struct place, PLACES_MAX);
	faults->places.held = PLACES_HELD;
	faults->places.add = add_place;
	*made = &faults->report;
	return 0;
}

static void faults_free(struct report *report)
{
	struct faults *faults = (struct faults *)report;

	report_tally_fini(&faults->processes);
	report_tally_fini(&faults->pages);
	report_tally_fini(&faults->places);
	alloc_free(faults);
}

static int faults_event(struct report *report, const struct report_event *event)
{
	struct faults *faults = (struct faults *)report;
	uint64_t code = (uint64_t)report_number(event->layout, event->event, FAULT_CODE);
	uint64_t address = (uint64_t)report_number(event->layout, event->event, FAULT_ADDRESS);
	uint64_t key[2] = { 0, address >> PAGE_SHIFT };
	struct process *process;
	struct place *place;

	if (event->thread == REPORT_NONE)
		return 0;
	key[0] = report_process(report->view, event->thread);
	process = report_tally_at(&faults->processes, key);
	if (!process)
		return faults->processes.failure;
	report_tally_at(&faults->pages, key);
	key[1] = (uint64_t)report_number(event->layout, event->event, FAULT_IP);
	place = report_tally_at(&faults->places, key);
	process->thread = process->thread ? process->thread : event->thread;
	process->user += event->layout->role == ROLE_FAULT_USER;
	process->kernel += event->layout->role == ROLE_FAULT_KERNEL;
	process->writes += (code & CODE_WRITE) != 0;
	process->fetches += (code & CODE_FETCH) != 0;
	process->protections += (code & CODE_PROTECTION) != 0;
	if (place) {
		place->count++;
		place->last_ns = event->event->record->ts;
		place->thread = event->thread;
	}
	return faults->pages.failure | faults->places.failure ? -ENOMEM : 0;
}

static int by_page(const void *left, const void *right)
{
	return memcmp(left, right, sizeof((struct page *)NULL)->key);
}

/* Only when all are known it is known how many there are. */
static int faults_finish(struct report *report)
{
	struct faults *faults = (struct faults *)report;
	const struct page *page;
	struct process *process;
	int code = report_tally_begin(&faults->pages, by_page);

	while (code == 0 && (page = report_tally_next(&faults->pages))) {
		process = report_tally_find(&faults->processes, page->key);
		if (process)
			process->pages++;
	}
	return code ? code : faults->pages.failure;
}

static int by_faults(const void *left, const void *right)
{
	const struct process *a = left, *b = right;
	uint64_t first = a->user + a->kernel, second = b->user + b->kernel;

	if (first != second)
		return first > second ? -1 : 1;
	return a->key[0] < b->key[0] ? -1 : 1;
}

static void write_fault_processes(struct faults *faults, struct report_tables *tables)
{
	static const struct report_column columns[] = {
		{ "process", "process", CELL_THREAD, false },     { "user", "by itself", CELL_COUNT, false },
		{ "kernel", "in the kernel", CELL_COUNT, false }, { "writes", "writes", CELL_COUNT, false },
		{ "fetches", "of code", CELL_COUNT, false },      { "protections", "protected", CELL_COUNT, false },
		{ "pages", "pages", CELL_COUNT, false },
	};
	const struct process *processes = faults->processes.items;

	report_tally_sort(&faults->processes, by_faults);
	report_table(tables, "processes", "Processes by faults", columns, 7);
	for (size_t i = 0; i < faults->processes.count; i++)
		report_row(tables,
			   (struct report_cell[]){
				   report_cell_thread(processes[i].thread), report_cell_number(processes[i].user),
				   report_cell_number(processes[i].kernel), report_cell_number(processes[i].writes),
				   report_cell_number(processes[i].fetches),
				   report_cell_number(processes[i].protections),
				   report_cell_number(processes[i].pages) },
			   0);
	report_table_end(tables);
}

static int by_fault_count(const void *left, const void *right)
{
	const struct place *a = left, *b = right;

	if (a->count != b->count)
		return a->count > b->count ? -1 : 1;
	return memcmp(a->key, b->key, sizeof a->key);
}

static void write_places(struct faults *faults, struct report_tables *tables)
{
	static const struct report_column columns[] = { { "process", "process", CELL_THREAD, false },
							{ "address", "instruction at", CELL_TEXT, false },
							{ "count", "faults", CELL_COUNT, false } };
	const struct place *place;
	int code = report_tally_begin(&faults->places, by_fault_count);

	report_table(tables, "places", "Instructions by faults", columns, 3);
	for (unsigned i = 0; !code && i < PLACES_SHOWN && (place = report_tally_next(&faults->places)); i++) {
		char address[24];

		snprintf(address, sizeof address, "0x%llx", (unsigned long long)place->key[1]);
		report_row(tables,
			   (struct report_cell[]){ report_cell_thread(place->thread),
						   tables->view->is_redacted ? CELL_NONE : report_cell_text(address),
						   report_cell_number(place->count) },
			   0);
	}
	report_table_end(tables);
	if (code || faults->places.failure)
		tables->failure = code ? code : faults->places.failure;
}

static void faults_write(struct report *report, struct report_tables *tables)
{
	struct faults *faults = (struct faults *)report;

	if (!faults->processes.count)
		return;
	write_fault_processes(faults, tables);
	write_places(faults, tables);
	if (faults->pages.left_out)
		report_note(tables, "Pages are counted up to %d: there were more.", PAGES_MAX);
	report_note_left_out(tables, faults->places.left_out + faults->processes.left_out);
}

const struct report_kind report_faults = {
	.name = "faults",
	.title = "Page faults",
	.question = "page faults by process and instruction",
	.needs = (const struct report_need[]){ { ROLE_FAULT_USER, "User page faults are unknown" },
					       { ROLE_FAULT_KERNEL, "Kernel page faults are unknown" },
					       { 0 } },
	.open = faults_open,
	.event = faults_event,
	.finish = faults_finish,
	.write = faults_write,
	.free = faults_free,
	.roles = UINT64_C(1) << ROLE_FAULT_USER | UINT64_C(1) << ROLE_FAULT_KERNEL,
};
