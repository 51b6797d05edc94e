/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SESSION_MONITOR_STOLEN_H
#define SESSION_MONITOR_STOLEN_H

/* What others took of the time of a thread, as the kernel tells it. */

#include <stdint.h>
#include <sys/types.h>

struct stolen {
	uint64_t steal_ns; /* by other machines of the same host, of all CPUs together */
	uint64_t wait_ns;  /* the thread could have run, and had no CPU */
};

/* Since the machine and the thread began; what cannot be read is 0. */
void stolen_read(pid_t tid, struct stolen *stolen);

/* Adds what came between the two. */
void stolen_add(struct stolen *sum, const struct stolen *from, const struct stolen *to);

#endif
