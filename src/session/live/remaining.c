// SPDX-License-Identifier: BSD-2-Clause
/* Finds the observed processes that remain. */

#include "session/live/remaining.h"

#include "base/proc.h"

#include <unistd.h>

struct remaining_search {
	bool (*in_scope)(void *context, int pid);
	void *context;
	struct session_remaining *found;
};

static int look_at_remaining(void *context, int pid)
{
	struct remaining_search *search = context;
	uint64_t birth;

	if (pid == getpid() || !search->in_scope(search->context, pid) || proc_birth(pid, &birth))
		return 0;
	if (search->found->count < SESSION_REMAINING_NAMED)
		search->found->pids[search->found->count] = pid;
	search->found->count++;
	return 0;
}

void remaining_find(bool (*in_scope)(void *context, int pid), void *context, struct session_remaining *found)
{
	struct remaining_search search = { .in_scope = in_scope, .context = context, .found = found };

	*found = (struct session_remaining){ 0 };
	proc_each("/proc", look_at_remaining, &search);
}
