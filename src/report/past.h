/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef REPORT_PAST_H
#define REPORT_PAST_H

/*
 * Slices of threads, kept to be walked through backwards: of each thread, and of what ran on each CPU. The newest
 * slices are kept; where they are many they are in a file, and take little memory while nobody looks at them. Whoever
 * looks asks for times that never grow, so that a whole walk looks at each slice once.
 */

#include "report/names.h"
#include "report/report.h"

enum {
	PAST_MAX = 1 << 20,   /* the greatest number that may be kept */
	PAST_PIECE = 1 << 11, /* as many as the system brings near with one: 64 KiB */
};

struct past_item {
	uint64_t begin, end;
	uint32_t thread;
	uint32_t back : 20; /* how many slices before this one that of the same thread is; 0: it is not kept */
	uint32_t state : 4;
	uint32_t prio : 8;
	union {
		uint32_t waker; /* of READY and, when it is found, of BLOCKED: who ended that, as slices have it */
		uint32_t ran;   /* of RUNNING: as back, the one that ran there before */
	};
	uint16_t reason;
	uint16_t cpu; /* of READY: where it left */
};

_Static_assert(sizeof(struct past_item) == 32, "a piece is 64 KiB");
_Static_assert(REPORT_NAMES_MAX <= UINT16_MAX + 1, "a reason is the index of a name");

struct past {
	size_t most;             /* slices that are kept; set by the owner, at most PAST_MAX */
	struct past_item *items; /* a ring, when it is full */
	size_t capacity;
	bool is_mapped; /* items are in a file */
	/* A bit for each piece of them that may be in memory then, and how many are. */
	uint64_t near[PAST_MAX / PAST_PIECE / 64];
	size_t near_count;
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
const struct past_item *past_run_before(struct past *past, const struct past_item *run);

/* Which thread ran on that CPU for longest at a stretch from begin to end; REPORT_NONE: none that is known. The
 * times asked for go back. */
uint32_t past_ran(struct past *past, uint32_t cpu, uint64_t begin, uint64_t end);

/* For those who look at all of them: how many there are, and each, in no order. */
size_t past_kept(const struct past *past);
const struct past_item *past_at(struct past *past, size_t index);

void past_fini(struct past *past);

#endif
