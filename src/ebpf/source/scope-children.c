// SPDX-License-Identifier: BSD-2-Clause
/*
 * Finds the children of processes by procfs: from the lists that the kernel keeps per thread (CONFIG_PROC_CHILDREN),
 * else by asking every process for its parent.
 */

#include "ebpf/source/scope-children.h"

#include "base/proc.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

struct search {
	pid_t pid;
	int (*found)(void *context, pid_t child);
	void *context;
	bool is_there; /* the process */
	bool listed;   /* its children */
};

/* Calls found for each child that the kernel lists for a thread. */
static int from_list(void *context, int tid)
{
	struct search *search = context;
	char path[64];
	int number, result = 0;

	search->is_there = true;
	snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)search->pid, tid);
	FILE *file = fopen(path, "re");

	/* Either this thread is gone or the kernel keeps no lists. */
	if (!file && errno == ENOENT)
		search->listed = access("/proc/thread-self/children", F_OK) == 0;
	while (file && !result && fscanf(file, "%d", &number) == 1)
		result = search->found(search->context, number);
	if (file)
		fclose(file);
	return result;
}

static int from_everyone(void *context, int pid)
{
	const struct search *search = context;
	struct proc_stat stat;

	if (proc_stat(pid, 0, &stat) || stat.parent != search->pid)
		return 0;
	return search->found(search->context, pid);
}

int scope_children(pid_t pid, int (*found)(void *context, pid_t child), void *context)
{
	struct search search = { .pid = pid, .found = found, .context = context, .listed = true };
	char path[64];

	snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
	int result = proc_each(path, from_list, &search);

	if (result == -ENOENT && !search.is_there)
		return 0;
	return search.listed ? result : proc_each("/proc", from_everyone, &search);
}
