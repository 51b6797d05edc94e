// SPDX-License-Identifier: BSD-2-Clause
/* Finds what a system call means to waits: the numbers of Linux's futexes. */

#include "report/kind/waits-priv.h"

#include <errno.h>

enum {
	CALL_FUTEX = 202,
	CALL_RESTART = 219,
	CALL_WAITV = 449,
	CALL_WAKE = 454,
	CALL_WAIT = 455,
	CALL_REQUEUE = 456,
	OP_WAIT = 0,
	OP_WAKE = 1,
	OP_REQUEUE = 3,
	OP_CMP_REQUEUE = 4,
	OP_WAKE_OP = 5,
	OP_LOCK_PI = 6,
	OP_UNLOCK_PI = 7,
	OP_WAIT_BITSET = 9,
	OP_WAKE_BITSET = 10,
	OP_WAIT_REQUEUE_PI = 11,
	OP_CMP_REQUEUE_PI = 12,
	OP_LOCK_PI2 = 13,
	OP_MASK = 127,
	OP_PRIVATE = 128,    /* a flag of CALL_WAIT, too */
	MUTEX_CONTENDED = 2, /* the value of a mutex that a thread waits for */
	/* Numbers of the kernel: a signal came; by the last one restart_syscall goes on. */
	RESTART_FIRST = 512,
	RESTART_BLOCK = 516,
};

static void read_operation(struct waits_call *call, unsigned op)
{
	switch (op) {
	case OP_LOCK_PI:
	case OP_LOCK_PI2:
		call->inherits = true;
		call->is_mutex = true;
		call->what = WAITS_CALL_WAIT;
		break;
	case OP_WAIT:
		call->is_mutex = call->value == MUTEX_CONTENDED;
		call->what = WAITS_CALL_WAIT;
		break;
	case OP_WAIT_BITSET:
		call->joined = call->is_private ? 0 : (uint32_t)call->value;
		call->what = WAITS_CALL_WAIT;
		break;
	case OP_WAIT_REQUEUE_PI:
		call->what = WAITS_CALL_WAIT;
		break;
	case OP_WAKE:
	case OP_WAKE_BITSET:
	case OP_WAKE_OP:
	case OP_REQUEUE:
	case OP_CMP_REQUEUE:
	case OP_CMP_REQUEUE_PI:
	case OP_UNLOCK_PI:
		call->what = WAITS_CALL_WAKE;
		break;
	default:
		break;
	}
}

struct waits_call waits_read_call(const struct report_event *event, int64_t id)
{
	struct waits_call call = { .what = WAITS_CALL_OTHER };
	uint64_t args[4];

	for (unsigned i = 0; i < 4; i++)
		args[i] = (uint64_t)report_number(event->layout, event->event, CALL_ARG0 + i);
	call.address = args[0];
	switch (id) {
	case CALL_FUTEX:
		call.is_private = args[1] & OP_PRIVATE;
		call.value = (uint32_t)args[2];
		call.is_timed = args[3] != 0;
		read_operation(&call, args[1] & OP_MASK);
		break;
	case CALL_WAIT:
		call.is_private = args[3] & OP_PRIVATE;
		call.value = args[1];
		call.is_timed = true; /* its time is an argument that is not read: it may have an end */
		read_operation(&call, OP_WAIT_BITSET);
		break;
	case CALL_WAKE:
		call.what = WAITS_CALL_WAKE;
		break;
	case CALL_WAITV:
	case CALL_REQUEUE: /* its addresses are in memory */
		call.what = WAITS_CALL_UNREAD;
		break;
	case CALL_RESTART:
		call.what = WAITS_CALL_RESTART;
		break;
	default:
		break;
	}
	return call;
}

bool waits_returns(int64_t id)
{
	return id == CALL_FUTEX || id == CALL_WAIT || id == CALL_RESTART;
}

enum waits_end waits_end_of(int64_t result)
{
	if (result == -EAGAIN)
		return WAITS_END_NONE;
	if (result == -RESTART_BLOCK)
		return WAITS_END_RESUMED;
	if (result == -EINTR || (result <= -RESTART_FIRST && result > -RESTART_BLOCK))
		return WAITS_END_SIGNAL;
	return result ? WAITS_END_RETURN : WAITS_END_WOKEN;
}
