// SPDX-License-Identifier: BSD-2-Clause
/* Finds which object and which process are meant, and what is left of what was known of them behind a gap. */

#include "report/kind/waits-priv.h"

struct waits_process *waits_process_at(struct waits *waits, uint64_t key)
{
	struct waits_process *process = report_tally_at(&waits->processes, &key);

	if (process && process->epoch != waits->epoch) {
		process->epoch = waits->epoch;
		process->is_whole = false;
		process->alive = process->stuck = process->stuck_mutex = 0;
	}
	return process;
}

struct waits_process *waits_process_of(struct waits *waits, uint32_t thread)
{
	return waits_process_at(waits, report_process(waits->report.view, thread));
}

void waits_set_holder(struct waits_object *object, uint32_t thread, enum waits_proof proof)
{
	object->holder = thread;
	object->depth = 1;
	object->proof = (uint8_t)proof;
	if (thread == REPORT_NONE)
		return;
	object->last = thread;
	object->last_proof = (uint8_t)proof;
}

/* The first thread of the process, else the thread. */
static uint32_t leader_of(const struct report_view *view, uint32_t thread)
{
	uint32_t pid = view->threads[thread].pid, leader = pid ? report_thread_find(view, pid) : REPORT_NONE;

	return leader == REPORT_NONE ? thread : leader;
}

struct waits_object *waits_object_of(struct waits *waits, uint32_t thread, uint64_t address, uint64_t kind, bool make)
{
	const struct waits_process *process = waits_process_of(waits, thread);
	uint64_t key[3] = { 0, address, kind };
	struct waits_object *object;

	if (!process)
		return NULL;
	/* Pids have 22 bits; what stands for a pid that is not known has an index of a thread, and the highest. */
	key[0] = process->key[0] ^ (uint64_t)process->generation << 32;
	object = make ? report_tally_at(&waits->objects, key) : report_tally_find(&waits->objects, key);
	if (!object)
		return NULL;
	if (!object->is_made)
		object->last = object->red_holder = REPORT_NONE;
	if (!object->is_made || object->epoch != waits->epoch)
		waits_set_holder(object, REPORT_NONE, WAITS_NOT_KNOWN);
	if (!object->is_made)
		object->process = leader_of(waits->report.view, thread);
	object->is_made = true;
	object->epoch = waits->epoch;
	return object;
}
