/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef REPORT_PAST_H
#define REPORT_PAST_H

/*
 * Slices of threads, kept to be walked through backwards: of each thread, and of what ran on each CPU. The newest
 * slices are kept. Whoever looks asks for times that never grow, so that a whole walk looks at each slice once.
 */

#include "report/report.h"

enum { PAST_MAX = 1 << 20 }; /* the greatest number that may be kept */

struct past_item {
	uint64_t begin, end;
	uint32_t thread;
	uint32_t reason;
	uint32_t back : 20; /* how many slices before this one that of the same thread is; 0: it is not kept */
	uint32_t state : 4;
	uint32_t prio : 8;
	union {
		uint32_t waker; /* of BLOCKED: who ended it, as slices have it */
		uint32_t cpu;   /* of READY: where it left */
		uint32_t ran;   /* of RUNNING: as back, the one that ran there before */
	};
};

struct past {
	size_t most;             /* slices that are kept; set by the owner, at most PAST_MAX */
	struct past_item *items; /* a ring, when it is full */
	size_t capacity;
	uint64_t count;         /* that have ever been kept */
	uint64_t lost_until_ns; /* what ended before may be missing; 0: nothing is */
	uint64_t *threads;      /* per thread the number of its last one, and 1; 0: none */
	size_t thread_count, thread_capacity;
	uint64_t *cpus; /* the same for what ran there */
	size_t cpu_count, cpu_capacity;
};

/* Keeps it, if it is a thread's. Returns 0, -ENOMEM. */
int past_keep(struct past *past, const struct report_slice *slice);

/* The last slice of thread that begins before time, which is none later than any asked for before; or NULL. */
const struct past_item *past_find(struct past *past, uint32_t thread, uint64_t time);

/* The last one on that CPU that begins before time, which is none later than any asked for before; or NULL. */
const struct past_item *past_find_run(struct past *past, uint32_t cpu, uint64_t time);

/* The one that ran there before that one, or NULL. */
const struct past_item *past_run_before(const struct past *past, const struct past_item *run);

/* Which thread ran on that CPU for longest at a stretch from begin to end; REPORT_NONE: none that is known. The
 * times asked for go back. */
uint32_t past_ran(struct past *past, uint32_t cpu, uint64_t begin, uint64_t end);

void past_fini(struct past *past);

#endif
