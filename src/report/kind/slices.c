// SPDX-License-Identifier: BSD-2-Clause
/* Every slice, for programs: only where it is asked for by name, and no more than fit in bounded memory. */

#include "report/kind/kinds.h"

#include "base/alloc.h"
#include "report/table.h"

#include <errno.h>

enum { SLICES_MAX = 1 << 20 };

struct slices {
	struct report report;
	struct report_slice *items;
	size_t count, capacity;
	uint64_t left_out;
};

static int slices_open(const struct report_view *view, struct report **made)
{
	struct slices *slices = alloc_zero(1, sizeof *slices);

	(void)view;
	if (!slices)
		return -ENOMEM;
	*made = &slices->report;
	return 0;
}

static void slices_free(struct report *report)
{
	alloc_free(((struct slices *)report)->items);
	alloc_free(report);
}

static int slices_slice(struct report *report, const struct report_slice *slice)
{
	struct slices *slices = (struct slices *)report;

	if (slices->count == SLICES_MAX) {
		slices->left_out++;
		return 0;
	}
	if (alloc_grow(&slices->items, &slices->capacity, slices->count, sizeof *slices->items))
		return -ENOMEM;
	slices->items[slices->count++] = *slice;
	return 0;
}

static void slices_write(struct report *report, struct report_tables *tables)
{
	static const struct report_column columns[] = {
		{ "begin_ns", "from s", CELL_TIME, false },  { "end_ns", "to s", CELL_TIME, false },
		{ "thread", "thread", CELL_THREAD, false },  { "state", "state", CELL_TEXT, false },
		{ "cpu", "cpu", CELL_COUNT, false },         { "reason", "why", CELL_TEXT, false },
		{ "waker", "woken by", CELL_THREAD, false },
	};
	const struct slices *slices = (struct slices *)report;
	uint64_t first = report->view->first_ns;

	report_table(tables, "slices", "", columns, 7);
	for (size_t i = 0; i < slices->count; i++) {
		const struct report_slice *slice = &slices->items[i];
		bool has_cpu = slice->thread == REPORT_NONE || slice->state == REPORT_RUNNING;

		report_row(tables,
			   (struct report_cell[]){
				   report_cell_number(slice->begin - first), report_cell_number(slice->end - first),
				   report_cell_thread(slice->thread), report_cell_text(report_state_name(slice->state)),
				   has_cpu ? report_cell_number(slice->cpu) : CELL_NONE,
				   report_cell_text(slice->reason ? report_name(report->view, slice->reason) : NULL),
				   report_cell_thread(slice->waker) },
			   0);
	}
	report_table_end(tables);
	if (slices->left_out)
		report_note(tables, "%llu more slices are omitted: choose a shorter time with --from and --to.",
			    (unsigned long long)slices->left_out);
}

const struct report_kind report_slices = {
	.name = "slices",
	.title = "Slices",
	.question = "every interval of every thread and CPU",
	.needs = (const struct report_need[]){ { ROLE_SWITCH, "Which threads ran is unknown" }, { 0 } },
	.open = slices_open,
	.slice = slices_slice,
	.write = slices_write,
	.free = slices_free,
	.is_asked = true,
};
