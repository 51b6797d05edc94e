// SPDX-License-Identifier: BSD-2-Clause
/*
 * A heap of a machine's instances by due time. Each has a time of its own that any transition may change, earlier or
 * later, so they stand in a heap and know their places in it: setting a timer takes logarithmic time. What is usual
 * takes constant time: to set one later than all others, and to put one off, for which its place is only put right when
 * it comes to be the first.
 */

#include "engine/machine-priv.h"

#include "base/heap.h"

static bool is_due_before(const void *left, const void *right)
{
	const struct engine_due *a = left, *b = right;

	return a->at != b->at ? a->at < b->at : a->ordinal < b->ordinal;
}

static void on_due_place(void *context, const void *item, size_t at)
{
	const struct engine_due *due = item;

	*engine_due_place_of(context, due->run) = at + 1;
}

static struct heap due_heap(struct engine_machine *machine)
{
	return (struct heap){
		.items = machine->due,
		.count = machine->due_count,
		.item_bytes = sizeof *machine->due,
		.children = 4,
		.is_before = is_due_before,
		.on_place = on_due_place,
		.context = machine,
	};
}

struct engine_run *engine_due_first(struct engine_machine *machine)
{
	struct heap heap = due_heap(machine);

	while (heap.count) {
		struct engine_due first = machine->due[0];
		uint64_t at = engine_word_at(first.run->slots + machine->timer_offset);

		if (at == first.at && first.run->ordinal == first.ordinal)
			return first.run;
		first.at = at;
		first.ordinal = first.run->ordinal;
		heap_down(&heap, 0, &first);
	}
	return NULL;
}

int engine_due_reserve(struct engine_machine *machine, size_t count)
{
	return alloc_grow(&machine->due, &machine->due_room, count, sizeof *machine->due);
}

void engine_due_set(struct engine_machine *machine, struct engine_run *run, uint64_t at)
{
	struct engine_due due = { at, run->ordinal, run };
	size_t known = *engine_due_place_of(machine, run), place = known ? known - 1 : machine->due_count;
	struct heap heap;

	if (at && known && !is_due_before(&due, &machine->due[place]))
		return; /* put off */
	if (at) {
		machine->due_count += !known;
		heap = due_heap(machine);
		heap_up(&heap, place, &due);
	} else if (known) {
		due = machine->due[--machine->due_count];
		heap = due_heap(machine);
		*engine_due_place_of(machine, run) = 0;
		if (due.run != run)
			heap_put(&heap, place, &due);
	}
}
