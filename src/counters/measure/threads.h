/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef COUNTERS_MEASURE_THREADS_H
#define COUNTERS_MEASURE_THREADS_H

/* The threads of a process that runs. Each is counted with the threads and processes that it begins later. */

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum { METER_THREADS_MAX = 4096 };

struct meter_threads {
	pid_t *ids;
	size_t count, capacity;
};

/* In place of what is there. Returns 0, -ESRCH: there is no such process; -E2BIG: it has too many; -ENOMEM, -errno. */
int measure_threads_list(pid_t pid, struct meter_threads *threads);

/* Whether the thread is there, and not about to end: the kernel refuses to count such a one in various ways. */
bool measure_thread_lives(pid_t pid, pid_t tid);

/* Whether others has none that threads has not. */
bool measure_threads_hold(const struct meter_threads *threads, const struct meter_threads *others);
void measure_threads_fini(struct meter_threads *threads);

#endif
