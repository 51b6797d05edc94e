// SPDX-License-Identifier: BSD-2-Clause
/* Finds descendants of processes by /proc. */

#include "base/kin.h"

#include "base/alloc.h"
#include "base/proc.h"

#include <errno.h>
#include <pthread.h>

enum { ANCESTORS_MAX = 64 };

struct kin {
	pthread_mutex_t lock;
	pid_t *pids;
	size_t count, capacity;
};

struct kin *kin_new(void)
{
	struct kin *kin = alloc_zero(1, sizeof *kin);

	if (kin)
		pthread_mutex_init(&kin->lock, NULL);
	return kin;
}

void kin_free(struct kin *kin)
{
	if (!kin)
		return;
	pthread_mutex_destroy(&kin->lock);
	alloc_free(kin->pids);
	alloc_free(kin);
}

int kin_add(struct kin *kin, pid_t pid)
{
	uint64_t birth;
	int result;

	if (proc_birth(pid, &birth))
		return -ESRCH;
	pthread_mutex_lock(&kin->lock);
	result = alloc_grow(&kin->pids, &kin->capacity, kin->count, sizeof *kin->pids);
	if (!result)
		kin->pids[kin->count++] = pid;
	pthread_mutex_unlock(&kin->lock);
	return result;
}

static bool was_added(struct kin *kin, pid_t pid)
{
	bool was = false;

	pthread_mutex_lock(&kin->lock);
	for (size_t i = 0; i < kin->count && !was; i++)
		was = kin->pids[i] == pid;
	pthread_mutex_unlock(&kin->lock);
	return was;
}

bool kin_has(struct kin *kin, pid_t pid, bool descendants)
{
	struct proc_stat stat;

	for (int i = 0; i < ANCESTORS_MAX && pid > 0; i++) {
		if (was_added(kin, pid))
			return true;
		if (!descendants || proc_stat(pid, 0, &stat))
			return false;
		pid = stat.parent;
	}
	return false;
}
