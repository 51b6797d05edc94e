// SPDX-License-Identifier: BSD-2-Clause
/* Latencies: how long threads waited for a CPU, how long they were blocked, and how long calls and requests took.
 */

#include "report/kind/kinds.h"

#include "base/alloc.h"
#include "report/distribution.h"

#include <errno.h>
#include <string.h>

enum { WAKE, PREEMPTED, FIRST, BLOCKED, DISK, DISTRIBUTIONS, WORST = 10, REQUESTS = 1024 };

static const char *const names[DISTRIBUTIONS][2] = {
	[WAKE] = { "woken", "from woken to running" },
	[PREEMPTED] = { "preempted", "from preempted to running" },
	[FIRST] = { "made", "from created to running" },
	[BLOCKED] = { "blocked", "blocked" },
	[DISK] = { "disk", "disk request" },
};

struct request {
	int64_t dev, sector;
	uint64_t begin; /* 0: free */
};

struct latency {
	struct report report;
	struct report_distribution distributions[DISTRIBUTIONS];
	struct report_slice worst[WORST]; /* the longest first */
	struct request requests[REQUESTS];
	uint64_t overflown;
};

static int latency_open(const struct report_view *view, struct report **made)
{
	struct latency *latency = alloc_zero(1, sizeof *latency);

	(void)view;
	if (!latency)
		return -ENOMEM;
	*made = &latency->report;
	return 0;
}

static void latency_free(struct report *report)
{
	alloc_free(report);
}

static void keep_worst(struct latency *latency, const struct report_slice *slice)
{
	uint64_t length = slice->end - slice->begin;
	unsigned at = WORST;

	while (at && length > latency->worst[at - 1].end - latency->worst[at - 1].begin)
		at--;
	if (at == WORST)
		return;
	memmove(&latency->worst[at + 1], &latency->worst[at], (WORST - at - 1) * sizeof *latency->worst);
	latency->worst[at] = *slice;
}

static int latency_slice(struct report *report, const struct report_slice *slice)
{
	struct latency *latency = (struct latency *)report;
	const char *reason = report_name(report->view, slice->reason);
	unsigned which = BLOCKED;

	if (slice->thread == REPORT_NONE || (slice->state != REPORT_READY && slice->state != REPORT_BLOCKED))
		return 0;
	if (slice->state == REPORT_READY)
		which = strcmp(reason, "woken") == 0 ? WAKE : strcmp(reason, "new") == 0 ? FIRST : PREEMPTED;
	report_distribution_add(&latency->distributions[which], slice->end - slice->begin);
	if (which == WAKE)
		keep_worst(latency, slice);
	return 0;
}

static struct request *request_of(struct latency *latency, int64_t dev, int64_t sector, bool is_new)
{
	struct request *unused = NULL;

	for (size_t i = 0; i < REQUESTS; i++) {
		struct request *request = &latency->requests[i];

		if (request->begin && request->dev == dev && request->sector == sector)
			return request;
		if (!request->begin && !unused)
			unused = request;
	}
	return is_new ? unused : NULL;
}

static int latency_event(struct report *report, const struct report_event *event)
{
	struct latency *latency = (struct latency *)report;
	bool is_new = event->layout->role == ROLE_BLOCK_ISSUE;
	int64_t dev = report_number(event->layout, event->event, BLOCK_DEV);
	int64_t sector = report_number(event->layout, event->event, BLOCK_SECTOR);
	uint64_t ts = event->event->record->ts;
	struct request *request = request_of(latency, dev, sector, is_new);

	if (is_new && request) {
		*request = (struct request){ dev, sector, ts };
	} else if (is_new) {
		latency->overflown++;
	} else if (request) {
		if (ts >= request->begin)
			report_distribution_add(&latency->distributions[DISK], ts - request->begin);
		request->begin = 0;
	}
	return 0;
}

static void write_worst(const struct latency *latency, struct report_tables *tables)
{
	static const struct report_column columns[] = {
		{ "time_ns", "woken at s", CELL_TIME, false }, { "thread", "thread", CELL_THREAD, false },
		{ "took_ns", "waited", CELL_DURATION, false }, { "waker", "woken by", CELL_THREAD, false },
		{ "prio", "priority", CELL_PRIO, false },
	};

	report_table(tables, "worst", "The longest from woken to running", columns, 5);
	for (unsigned i = 0; i < WORST && latency->worst[i].end; i++) {
		const struct report_slice *slice = &latency->worst[i];

		report_row(tables,
			   (struct report_cell[]){
				   report_cell_number(slice->begin - tables->view->first_ns),
				   report_cell_thread(slice->thread), report_cell_number(slice->end - slice->begin),
				   report_cell_thread(slice->waker),
				   slice->prio == REPORT_NO_PRIO ? CELL_NONE : report_cell_number(slice->prio) },
			   0);
	}
	report_table_end(tables);
}

static void latency_write(struct report *report, struct report_tables *tables)
{
	static const struct report_column columns[] = { { "what", "what", CELL_TEXT, false },
							REPORT_DISTRIBUTION_COLUMNS };
	const struct latency *latency = (struct latency *)report;

	report_table(tables, "latencies", "", columns, 1 + DISTRIBUTION_CELLS);
	for (unsigned i = 0; i < DISTRIBUTIONS; i++) {
		struct report_cell cells[1 + DISTRIBUTION_CELLS] = { report_cell_text(names[i][1]) };

		report_distribution_cells(&latency->distributions[i], cells + 1);
		if (latency->distributions[i].count)
			report_row(tables, cells, 0);
	}
	report_table_end(tables);
	for (unsigned i = 0; i < DISTRIBUTIONS; i++) {
		if (latency->distributions[i].count)
			report_distribution_write(&latency->distributions[i], tables, names[i][0], names[i][1]);
	}
	write_worst(latency, tables);
	if (latency->overflown)
		report_note(tables, "%llu disk requests are not counted: more than %d were pending.",
			    (unsigned long long)latency->overflown, REQUESTS);
}

const struct report_kind report_latency = {
	.name = "latency",
	.title = "Latency",
	.question = "how long threads waited for a CPU, and for everything else",
	.needs = (const struct report_need[]){ { ROLE_SWITCH, "Latencies of threads are unknown" },
					       { ROLE_WAKING, "When threads were woken is unknown" },
					       { ROLE_BLOCK_ISSUE, "How long disk requests took is unknown" },
					       { 0 } },
	.open = latency_open,
	.event = latency_event,
	.slice = latency_slice,
	.write = latency_write,
	.free = latency_free,
	.roles = UINT64_C(1) << ROLE_BLOCK_ISSUE | UINT64_C(1) << ROLE_BLOCK_DONE,
};
