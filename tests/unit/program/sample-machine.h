/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TEST_PROGRAM_SAMPLE_MACHINE_H
#define TEST_PROGRAM_SAMPLE_MACHINE_H

/*
 * An image with one machine, over the types of sample.h, that has everything a machine can have:
 *
 *   MACHINE watch KEY { pid, x } TRAIL 2
 *     STATE Open   { ON B COPY BY { pid, big } -> Closed   ON B WHERE ok -> Closed { WARN "{x} of {told}, {x}"; CALL }
 *                    AFTER 5ns -> END { EMIT alarm } }
 *     STATE Closed { AFTER 5ns { } }
 *     ON C BY { pid, * } WHERE cpu == 0 -> END
 *   an A that finds none begins with Open, a B that finds none warns
 */

#include "sample.h"

enum {
	WATCH_PID,
	WATCH_X,
	WATCH_TOLD,
	WATCH_CPU,
	WATCH_CONTEXT_PID,
	WATCH_TID,
	WATCH_COMM,
	WATCH_TIMER,
	WATCH_NOTICE,
	WATCH_TRAIL,
	WATCH_SLOTS = WATCH_TRAIL + 6,
};

/* Rows of TRANSITIONS. */
enum {
	WATCH_OPENS,
	WATCH_ALONE, /* out of "no instance" to MATCH */
	WATCH_COPIES,
	WATCH_TELLS,
	WATCH_ENDS, /* the C of Open */
	WATCH_FIRES,
	WATCH_ENDS_CLOSED,
	WATCH_STAYS,
	WATCH_TRANSITIONS,
};

enum { WATCH_WARNING = 1, WATCH_EMISSION, WATCH_LONELY, WATCH_NOTICES = WATCH_LONELY };

/* The caller frees it with alloc_free. */
void *sample_machine_image(size_t *length);

struct program *sample_machine(void);

#endif
