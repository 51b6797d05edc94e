// SPDX-License-Identifier: BSD-2-Clause
/*
 * Finds threads that wait for each other in a cycle. A thread waits for one object, which has one holder; so a walk
 * from the thread that has just begun to wait comes back to it, or ends.
 */

#include "report/kind/waits-priv.h"

#include "base/alloc.h"

#include <errno.h>
#include <string.h>

static uint32_t circle_holder_of(const struct waits *waits, const struct waits_object *object)
{
	uint32_t holder = object->epoch == waits->epoch ? object->holder : REPORT_NONE;

	return holder < waits->thread_count && !waits->threads[holder].is_gone ? holder : REPORT_NONE;
}

static int add_circle_member(struct waits *waits, size_t count, uint32_t thread)
{
	if (alloc_grow(&waits->walk, &waits->walk_capacity, count, sizeof *waits->walk))
		return -ENOMEM;
	waits->walk[count] = (struct waits_member){ thread, waits->threads[thread].object - 1 };
	return 0;
}

/* The cycle of the walk, made if it is new. The least thread is its first. */
static struct waits_circle *circle_of(struct waits *waits, size_t length, enum waits_proof proof)
{
	struct waits_circle *circle;
	size_t least = 0;

	for (size_t i = 1; i < length; i++) {
		if (waits->walk[i].thread < waits->walk[least].thread)
			least = i;
	}
	circle = report_tally_at(&waits->circles,
				 (uint64_t[]){ waits->walk[least].thread, waits->walk[least].object, length, proof });
	if (!circle || circle->members)
		return circle;
	if (waits->members + length > WAITS_MEMBERS_MAX)
		return NULL;
	circle->members = alloc_zero(length, sizeof *circle->members);
	if (!circle->members) {
		waits->circles.failure = -ENOMEM;
		return NULL;
	}
	waits->members += length;
	for (size_t i = 0; i < length; i++)
		circle->members[i] = waits->walk[(least + i) % length];
	return circle;
}

static int open_circle(struct waits *waits, size_t length, enum waits_proof proof, uint64_t begin)
{
	struct waits_circle *circle = circle_of(waits, length, proof);

	if (!circle) {
		waits->circles_left_out++;
		return waits->circles.failure;
	}
	circle->begin = begin;
	for (size_t i = 0; i < length; i++)
		waits->threads[waits->walk[i].thread].circle =
			(uint32_t)(circle - (struct waits_circle *)waits->circles.items) + 1;
	return 0;
}

int waits_look_for_circle(struct waits *waits, uint32_t thread, uint64_t ts)
{
	enum waits_proof proof = WAITS_PROVED;
	uint32_t at = thread;

	for (size_t length = 0; length < waits->thread_count && waits->steps < WAITS_STEPS_MAX; waits->steps++) {
		const struct waits_object *object;

		if (!waits->threads[at].object || waits->threads[at].circle)
			return 0;
		if (add_circle_member(waits, length++, at))
			return -ENOMEM;
		object = waits_object(waits, waits->threads[at].object - 1);
		at = circle_holder_of(waits, object);
		if (at == REPORT_NONE)
			return 0;
		proof = object->proof < proof ? object->proof : proof;
		if (at == thread)
			return open_circle(waits, length, proof, ts);
	}
	return 0;
}

void waits_end_circle(struct waits *waits, uint32_t thread, uint64_t ts, enum waits_fate fate)
{
	uint32_t number = waits->threads[thread].circle;
	struct waits_circle *circle;
	uint64_t lasted;

	if (!number)
		return;
	circle = (struct waits_circle *)waits->circles.items + number - 1;
	for (size_t i = 0; i < circle->key[2]; i++)
		waits->threads[circle->members[i].thread].circle = 0;
	lasted = ts > circle->begin ? ts - circle->begin : 0;
	if (circle->key[3] != WAITS_PROVED && lasted < WAITS_STANDS_NS)
		return;
	circle->since = circle->count ? circle->since : circle->begin;
	circle->end = ts;
	circle->longest = lasted > circle->longest ? lasted : circle->longest;
	circle->fate = (uint8_t)fate;
	circle->count++;
}

int waits_judge(struct waits *waits, const struct waits_process *process, uint64_t ts)
{
	size_t length = 0;

	if (process->epoch != waits->epoch || !process->is_whole || process->met > process->made ||
	    process->alive != process->stuck || !process->stuck_mutex || ts < process->stuck_since + WAITS_STANDS_NS)
		return 0;
	waits->steps += waits->thread_count;
	for (uint32_t i = 0; i < waits->thread_count && waits->steps < WAITS_STEPS_MAX; i++) {
		const struct waits_thread *known = &waits->threads[i];

		if (!known->is_stuck || report_process(waits->report.view, i) != process->key[0])
			continue;
		if (known->circle)
			return 0; /* it is known already */
		if (waits_kind_of(waits_object(waits, known->object - 1)) != WAITS_MUTEX)
			continue;
		if (add_circle_member(waits, length++, i))
			return -ENOMEM;
	}
	return length ? open_circle(waits, length, WAITS_NOT_KNOWN, process->stuck_since) : 0;
}

void waits_mark_circles(struct waits *waits)
{
	const struct waits_circle *circles = waits->circles.items;

	for (size_t i = 0; i < waits->circles.count; i++) {
		size_t length = circles[i].key[2];

		for (size_t j = 0; circles[i].count && j < length; j++) {
			const struct waits_member *member = &circles[i].members[j];
			uint64_t key[2] = { member->thread, member->object };
			struct waits_edge *edge = report_tally_at(&waits->edges, key);

			waits_object(waits, member->object)->is_red = true;
			if (circles[i].key[3] != WAITS_NOT_KNOWN)
				waits_object(waits, member->object)->red_holder =
					circles[i].members[(j + 1) % length].thread;
			if (edge)
				edge->is_red = true;
		}
	}
}
