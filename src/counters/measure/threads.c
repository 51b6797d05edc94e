// SPDX-License-Identifier: BSD-2-Clause
/* Finds the threads of a process that runs already. */

#include "counters/measure/threads.h"

#include "base/alloc.h"
#include "base/proc.h"

#include <errno.h>
#include <stdio.h>

/* PF_EXITING of the kernel, as /proc/PID/stat has it. */
enum { EXITING = 0x4 };

static int add_thread_number(void *context, int number)
{
	struct meter_threads *threads = context;

	if (threads->count == METER_THREADS_MAX)
		return -E2BIG;
	if (alloc_grow(&threads->ids, &threads->capacity, threads->count, sizeof *threads->ids))
		return -ENOMEM;
	threads->ids[threads->count++] = number;
	return 0;
}

int measure_threads_list(pid_t pid, struct meter_threads *threads)
{
	char path[64];
	int result;

	threads->count = 0;
	snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
	result = proc_each(path, add_thread_number, threads);
	return result == -ENOENT || (!result && !threads->count) ? -ESRCH : result;
}

bool measure_thread_lives(pid_t pid, pid_t tid)
{
	struct proc_stat stat;

	return !proc_stat(pid, tid, &stat) && !(stat.flags & EXITING);
}

/* Both are in the order of /proc: that of their making. */
bool measure_threads_hold(const struct meter_threads *threads, const struct meter_threads *others)
{
	size_t at = 0;

	for (size_t i = 0; i < others->count; i++) {
		while (at < threads->count && threads->ids[at] != others->ids[i])
			at++;
		if (at == threads->count)
			return false;
	}
	return true;
}

void measure_threads_fini(struct meter_threads *threads)
{
	alloc_free(threads->ids);
	*threads = (struct meter_threads){ 0 };
}
