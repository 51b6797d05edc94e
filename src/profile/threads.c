// SPDX-License-Identifier: BSD-2-Clause
/* Keeps the costs of threads as parts of functions' costs, found by thread and function. */

#include "profile/threads.h"

#include "base/alloc.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

int profile_add_thread(struct profile *profile, uint32_t pid, uint32_t tid, uint32_t name, uint32_t *thread)
{
	if (profile->thread_count == PROFILE_THREADS_MAX)
		return -E2BIG;
	if (alloc_grow(&profile->threads, &profile->thread_capacity, profile->thread_count, sizeof *profile->threads))
		return -ENOMEM;
	*thread = (uint32_t)profile->thread_count++;
	profile->threads[*thread] = (struct profile_thread){ .pid = pid, .tid = tid, .name = name };
	return 0;
}

static uint64_t hash_part(const struct profile *profile, uint32_t thread, uint32_t function)
{
	uint64_t hash = (profile->seed ^ ((uint64_t)thread << 32 | function)) * UINT64_C(0x9e3779b97f4a7c15);

	return hash ^ hash >> 29;
}

int profile_add_part(struct profile *profile, uint32_t thread, uint32_t function, double cost)
{
	uint64_t hash = hash_part(profile, thread, function);
	uint32_t number;

	for (size_t step = 0; (number = hash_table_next(&profile->by_part, hash, &step)) != HASH_NONE;) {
		if (profile->parts[number].thread == thread && profile->parts[number].function == function) {
			profile->parts[number].cost += cost;
			return 0;
		}
	}
	if (profile->part_count == INT32_MAX)
		return -E2BIG;
	if (alloc_grow(&profile->parts, &profile->part_capacity, profile->part_count, sizeof *profile->parts) ||
	    hash_table_reserve(&profile->by_part, NULL, profile->part_count + 1))
		return -ENOMEM;
	hash_table_add(&profile->by_part, hash, (uint32_t)profile->part_count);
	profile->parts[profile->part_count++] =
		(struct profile_part){ .thread = thread, .function = function, .cost = cost };
	return 0;
}

double *profile_thread_costs(const struct profile *profile)
{
	double *costs = alloc_zero(profile->thread_count + 1, sizeof *costs);

	for (size_t i = 0; costs && i < profile->part_count; i++)
		costs[profile->parts[i].thread] += profile->parts[i].cost;
	return costs;
}

/* The name of the last thread with that number; NULL: there is none. */
static const char *name_of(const struct profile *profile, uint32_t tid)
{
	const char *name = NULL;

	for (size_t i = 0; i < profile->thread_count; i++) {
		if (profile->threads[i].tid == tid)
			name = profile_get_text(profile, profile->threads[i].name);
	}
	return name;
}

int profile_keep_thread(struct profile *profile, uint32_t tid)
{
	const char *name = name_of(profile, tid);
	double total = profile_total(profile, 0), left = 0;
	size_t kept = 0;
	char text[64];

	if (!name)
		return -ENOENT;
	if (profile->function_count)
		memset(profile->self, 0, profile->function_count * profile->event_count * sizeof *profile->self);
	if (profile->spot_count)
		memset(profile->spot_self, 0, profile->spot_count * profile->event_count * sizeof *profile->self);
	for (size_t i = 0; i < profile->part_count; i++) {
		const struct profile_part *part = &profile->parts[i];

		if (profile->threads[part->thread].tid != tid)
			continue;
		*profile_self(profile, part->function) += part->cost;
		left += part->cost;
		profile->parts[kept++] = *part;
	}
	/* What would be found by their old numbers is not looked for any more. */
	profile->part_count = kept;
	profile->samples = total > 0 ? profile->samples * left / total : 0;
	snprintf(text, sizeof text, "%u %.40s", tid, name);
	return profile_set_info(profile, "thread", text);
}
