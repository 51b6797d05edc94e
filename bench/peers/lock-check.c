// SPDX-License-Identifier: BSD-2-Clause
/*
 * One entry per lock tells of interrupts and of the owner, one stack per processor of what is held, and a table of
 * edges of the orders seen. A lock that is initialised gets another generation: edges of the old one are then void. An
 * edge that is new may close circles: whether it does is asked of all locks that can be reached, each once, and only
 * then is each circle looked for. The tables never shrink and are never full: who calls sees to that.
 */

#include "peers/lock-check.h"

#include <string.h>

static uint64_t spread(uint64_t value)
{
	value *= 0x9e3779b97f4a7c15;
	return value ^ value >> 32;
}

static struct lock_entry *entry_of(struct lock_check *check, uint64_t lock)
{
	uint64_t at = spread(lock) % LOCK_CHECK_LOCKS;

	while (check->locks[at].lock != lock && check->locks[at].lock)
		at = (at + 1) % LOCK_CHECK_LOCKS;
	check->locks[at].lock = lock;
	return &check->locks[at];
}

/* The edge's place, which is empty (outer 0) if there is none. */
static struct lock_edge *edge_of(struct lock_check *check, uint64_t outer, uint64_t inner)
{
	uint64_t at = spread(outer ^ spread(inner)) % LOCK_CHECK_EDGES;

	while (check->edges[at].outer && (check->edges[at].outer != outer || check->edges[at].inner != inner))
		at = (at + 1) % LOCK_CHECK_EDGES;
	return &check->edges[at];
}

static void warn(struct lock_check *check, const char *what, uint64_t lock, uint64_t here, uint64_t there)
{
	check->warnings++;
	if (check->on_warning)
		check->on_warning(what, lock, here, there);
}

static void check_interrupts(struct lock_check *check, struct lock_entry *entry, const struct lock_taking *taking)
{
	bool with = !taking->interrupts_off && !taking->in_interrupt;

	if (taking->is_read)
		return;
	if (entry->use == LOCK_FRESH && (taking->in_interrupt || with)) {
		entry->use = taking->in_interrupt ? LOCK_IN_INTERRUPTS : LOCK_WITH_INTERRUPTS;
		entry->used_at = taking->place;
	} else if ((entry->use == LOCK_WITH_INTERRUPTS && taking->in_interrupt) ||
		   (entry->use == LOCK_IN_INTERRUPTS && with)) {
		entry->use = LOCK_TOLD;
		warn(check, "interrupts", taking->lock, taking->place, entry->used_at);
	}
}

static bool stands(const struct lock_edge *edge, const struct lock_entry *outer)
{
	return edge->outer_generation == outer->generation && edge->inner_generation == edge->to->generation;
}

/* Whether a way of so many edges at most leads from one lock to the other. */
static bool is_reached(struct lock_check *check, struct lock_entry *from, const struct lock_entry *to, uint32_t edges)
{
	uint32_t begin = 0, count = 1;

	from->search = ++check->searches;
	check->met[0] = from;
	for (uint32_t end = 1; edges && begin < end; begin = end, end = count, edges--) {
		for (uint32_t i = begin; i < end; i++) {
			for (const struct lock_edge *edge = check->met[i]->out; edge; edge = edge->next) {
				if (edge->to->search == check->searches || !stands(edge, check->met[i]))
					continue;
				if (edge->to == to)
					return true;
				edge->to->search = check->searches;
				check->met[count++] = edge->to;
			}
		}
	}
	return false;
}

/* Tells of every circle that closes with the locks of the path, which are so many and lead from first to last. */
static void close_circles(struct lock_check *check, struct lock_entry *last, const struct lock_entry *first,
			  uint32_t count)
{
	last->is_on_path = true;
	for (const struct lock_edge *edge = last->out; edge; edge = edge->next) {
		if (!stands(edge, last))
			continue;
		if (edge->to == first && count > 2)
			warn(check, "circle", last->lock, edge->inner_at, edge->outer_at);
		else if (!edge->to->is_on_path && count < LOCK_CHECK_CIRCLE)
			close_circles(check, edge->to, first, count + 1);
	}
	last->is_on_path = false;
}

static void look_for_circles(struct lock_check *check, struct lock_entry *outer, struct lock_entry *inner)
{
	if (outer == inner || !is_reached(check, inner, outer, LOCK_CHECK_CIRCLE - 1))
		return;
	outer->is_on_path = true;
	close_circles(check, inner, outer, 2);
	outer->is_on_path = false;
}

static void add_edge(struct lock_check *check, struct lock_entry *inner, const struct lock_taking *taking,
		     const struct lock_stack *stack, uint32_t which)
{
	struct lock_entry *outer = entry_of(check, stack->locks[which]);
	struct lock_edge *edge = edge_of(check, outer->lock, inner->lock), *reverse;

	if (edge->outer && edge->outer_generation == outer->generation && edge->inner_generation == inner->generation)
		return;
	bool is_listed = edge->outer;
	*edge = (struct lock_edge){ .outer = outer->lock,
				    .inner = inner->lock,
				    .outer_at = stack->places[which],
				    .inner_at = taking->place,
				    .outer_generation = outer->generation,
				    .inner_generation = inner->generation,
				    .to = inner,
				    .next = is_listed ? edge->next : outer->out };
	if (!is_listed)
		outer->out = edge;
	reverse = edge_of(check, inner->lock, outer->lock);
	if (reverse != edge && reverse->outer && reverse->outer_generation == inner->generation &&
	    reverse->inner_generation == outer->generation)
		warn(check, "order", taking->lock, taking->place, reverse->outer_at);
	look_for_circles(check, outer, inner);
}

void lock_check_acquire(struct lock_check *check, const struct lock_taking *taking)
{
	struct lock_entry *entry = entry_of(check, taking->lock);
	struct lock_stack *stack = &check->stacks[taking->cpu];

	check_interrupts(check, entry, taking);
	if (taking->is_read)
		return;
	if (!entry->is_held) {
		entry->is_held = true;
		entry->owner = taking->tid;
		entry->held_at = taking->place;
	}
	if (stack->count == 0)
		stack->owner = taking->tid;
	for (uint32_t i = 0; !taking->is_nested && i < stack->count && i < LOCK_CHECK_DEPTH - 1; i++)
		add_edge(check, entry, taking, stack, i);
	memmove(stack->locks + 1, stack->locks, sizeof stack->locks - sizeof stack->locks[0]);
	memmove(stack->places + 1, stack->places, sizeof stack->places - sizeof stack->places[0]);
	stack->locks[0] = taking->lock;
	stack->places[0] = taking->place;
	stack->count++;
}

void lock_check_release(struct lock_check *check, uint32_t cpu, uint64_t lock)
{
	struct lock_stack *stack = &check->stacks[cpu];

	entry_of(check, lock)->is_held = false;
	for (uint32_t i = 0; i < stack->count && i < LOCK_CHECK_DEPTH; i++) {
		if (stack->locks[i] != lock)
			continue;
		memmove(stack->locks + i, stack->locks + i + 1, (LOCK_CHECK_DEPTH - 1 - i) * sizeof stack->locks[0]);
		memmove(stack->places + i, stack->places + i + 1, (LOCK_CHECK_DEPTH - 1 - i) * sizeof stack->places[0]);
		stack->count--;
		return;
	}
}

void lock_check_init(struct lock_check *check, uint64_t lock)
{
	struct lock_entry *entry = entry_of(check, lock);

	if (entry->is_held)
		warn(check, "initialised", lock, 0, entry->held_at);
	entry->is_held = false;
	entry->use = LOCK_FRESH;
	entry->generation++;
}

void lock_check_schedule(struct lock_check *check, uint32_t cpu, uint32_t previous)
{
	struct lock_stack *stack = &check->stacks[cpu];

	if (stack->count == 0 || stack->owner != previous)
		return;
	warn(check, "scheduled", stack->locks[0], 0, stack->places[0]);
	stack->count = 0;
}
