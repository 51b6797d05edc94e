// SPDX-License-Identifier: BSD-2-Clause
/*
 * Decides which instance of a machine is due first. Each has a time of its own that any transition may change, earlier
 * or later, so they stand in a heap and know their places in it: setting a timer takes logarithmic time. What is usual
 * takes constant time: to set one later than all others, and to put one off, for which its place is only put right when
 * it comes to be the first.
 */

#include "engine/machine-priv.h"

enum { CHILDREN = 4 };

static bool is_before(const struct engine_due *a, const struct engine_due *b)
{
	return a->at != b->at ? a->at < b->at : a->ordinal < b->ordinal;
}

static void place(struct engine_machine *machine, size_t at, struct engine_due due)
{
	machine->due[at] = due;
	*engine_due_place_of(machine, due.run) = at + 1;
}

static void sift_up(struct engine_machine *machine, size_t at, struct engine_due moved)
{
	for (; at && is_before(&moved, &machine->due[(at - 1) / CHILDREN]); at = (at - 1) / CHILDREN)
		place(machine, at, machine->due[(at - 1) / CHILDREN]);
	place(machine, at, moved);
}

static void sift_down(struct engine_machine *machine, size_t at, struct engine_due moved)
{
	for (;;) {
		size_t child = CHILDREN * at + 1, end = child + CHILDREN, least = child;

		if (child >= machine->due_count)
			break;
		if (end > machine->due_count)
			end = machine->due_count;
		while (++child < end) {
			if (is_before(&machine->due[child], &machine->due[least]))
				least = child;
		}
		if (!is_before(&machine->due[least], &moved))
			break;
		place(machine, at, machine->due[least]);
		at = least;
	}
	place(machine, at, moved);
}

/* Puts moved where it belongs, seen from a place that is free. */
static void settle(struct engine_machine *machine, size_t at, struct engine_due moved)
{
	if (at && is_before(&moved, &machine->due[(at - 1) / CHILDREN]))
		sift_up(machine, at, moved);
	else
		sift_down(machine, at, moved);
}

struct engine_run *engine_due_first(struct engine_machine *machine)
{
	for (; machine->due_count; sift_down(machine, 0, machine->due[0])) {
		struct engine_due *first = &machine->due[0];
		uint64_t at = engine_word_at(first->run->slots + machine->timer_offset);

		if (at == first->at && first->run->ordinal == first->ordinal)
			return first->run;
		first->at = at;
		first->ordinal = first->run->ordinal;
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
	size_t known = *engine_due_place_of(machine, run);

	if (at && known) {
		if (is_before(&due, &machine->due[known - 1]))
			sift_up(machine, known - 1, due);
	} else if (at) {
		sift_up(machine, machine->due_count++, due);
	} else if (known) {
		struct engine_due last = machine->due[--machine->due_count];

		*engine_due_place_of(machine, run) = 0;
		if (last.run != run)
			settle(machine, known - 1, last);
	}
}
