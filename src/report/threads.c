// SPDX-License-Identifier: BSD-2-Clause
/* Finds the thread that a tid means: tids are used again, so a thread is a tid and a birth. */

#include "report/pass-priv.h"

#include "base/alloc.h"

#include <errno.h>
#include <stddef.h>

static uint32_t *thread_place(const struct report_pass *pass, uint32_t tid)
{
	uint32_t *page = tid < PASS_TIDS_MAX ? pass->tids[tid / PASS_PAGE_TIDS] : NULL;

	return page ? &page[tid % PASS_PAGE_TIDS] : NULL;
}

uint32_t pass_thread_find(const struct report_pass *pass, uint32_t tid)
{
	const uint32_t *place = thread_place(pass, tid);

	if (!tid)
		return 0;
	return place && *place ? *place : REPORT_NONE;
}

uint32_t report_thread_find(const struct report_view *view, uint32_t tid)
{
	_Static_assert(offsetof(struct report_pass, view) == 0, "the view is of the pass");
	return pass_thread_find((const struct report_pass *)view, tid);
}

static bool has_thread_room(struct report_pass *pass, uint32_t tid)
{
	uint32_t **page = &pass->tids[tid / PASS_PAGE_TIDS];
	size_t count = pass->view.thread_count;

	if (!*page)
		*page = alloc_zero(PASS_PAGE_TIDS, sizeof **page);
	if (!*page || alloc_grow(&pass->threads, &pass->thread_capacity, count, sizeof *pass->threads) ||
	    alloc_grow(&pass->lanes, &pass->lane_capacity, count, sizeof *pass->lanes))
		pass->failure = -ENOMEM;
	pass->view.threads = pass->threads;
	return !pass->failure && count < REPORT_TIMER;
}

uint32_t pass_thread_make(struct report_pass *pass, uint32_t tid, uint32_t pid, const char *comm)
{
	uint32_t thread = pass->view.thread_count;

	if (tid >= PASS_TIDS_MAX || !has_thread_room(pass, tid))
		return REPORT_NONE;
	pass->threads[thread] =
		(struct report_thread){ .tid = tid, .parent = REPORT_NONE, .birth = pass->now, .prio = REPORT_NO_PRIO };
	pass->lanes[thread] = (struct pass_lane){ .since = pass->now, .waker = REPORT_NONE, .cpu = REPORT_NO_CPU };
	pass->view.thread_count++;
	*thread_place(pass, tid) = thread;
	pass_thread_name(pass, thread, pid, comm);
	return thread;
}

uint32_t pass_thread_meet(struct report_pass *pass, uint32_t tid, uint32_t pid, const char *comm)
{
	uint32_t thread = pass_thread_find(pass, tid);

	if (thread == REPORT_NONE)
		thread = pass_thread_make(pass, tid, pid, comm);
	else if (thread && !pass->threads[thread].pid)
		pass->threads[thread].pid = pid;
	return thread;
}

void pass_thread_name(struct report_pass *pass, uint32_t thread, uint32_t pid, const char *comm)
{
	struct report_thread *known = &pass->threads[thread];

	if (pid && !known->pid)
		known->pid = pid;
	if (comm && *comm && memcmp(known->comm, comm, strnlen(comm, EVENT_COMM_BYTES - 1) + 1) != 0)
		strncpy(known->comm, comm, EVENT_COMM_BYTES - 1);
}

void pass_thread_forget(struct report_pass *pass, uint32_t thread)
{
	uint32_t *place = thread_place(pass, pass->threads[thread].tid);

	if (place && *place == thread)
		*place = 0;
}

void pass_threads_fini(struct report_pass *pass)
{
	for (size_t i = 0; i < sizeof pass->tids / sizeof *pass->tids; i++)
		alloc_free(pass->tids[i]);
	alloc_free(pass->threads);
	alloc_free(pass->lanes);
}
