// SPDX-License-Identifier: BSD-2-Clause
/*
 * Counters opened and read with every allocation failing in turn: -ENOMEM with a sentence each time, or all is well,
 * and nothing is left behind.
 */

#include "base/alloc.h"
#include "base/proc.h"

#include <asterism/asterism.h>

#include <errno.h>
#include <stdio.h>

enum { EVERY_ONE = 60, RARER = 17 };

static int count_one(void *context, int number)
{
	(void)number;
	++*(int *)context;
	return 0;
}

static int count_descriptors(void)
{
	int count = 0;

	return proc_each("/proc/self/fd", count_one, &count) ? -1 : count;
}

static int use(struct asterism_counter_set *set)
{
	struct asterism_counter_value value = { .size = sizeof value };
	struct asterism_counter_snapshot *snapshot = NULL;
	int result = asterism_counter_read(set, &snapshot);

	if (result && !asterism_diag_count(asterism_counter_diag(set), ASTERISM_ERROR))
		result = -EPROTO;
	for (size_t i = 0; !result && i < asterism_counter_count(set); i++)
		result = asterism_counter_between(NULL, snapshot, i, &value);
	asterism_counter_snapshot_free(snapshot);
	return result;
}

static int attempt(unsigned long failing, struct asterism_diag *diag)
{
	const char *const types[] = { "PROCESS_THREAD_PAGE_FAULTS", "PAGED_PAGE_FAULTS_SOFT", "PROCESSOR_INTERRUPTS" };
	struct asterism_counter_set *set = NULL;
	int result;

	asterism_diag_clear(diag);
	alloc_fail_at(failing);
	result = asterism_counter_open(types, 3, NULL, diag, &set);
	if (result && !asterism_diag_count(diag, ASTERISM_ERROR))
		result = -EPROTO;
	if (!result)
		result = use(set);
	alloc_fail_at(0);
	asterism_counter_free(set);
	return result;
}

int main(void)
{
	struct asterism_diag *diag = asterism_diag_new();
	unsigned long failing = 1;
	int before, result;

	if (!diag)
		return 2;
	before = count_descriptors();
	while ((result = attempt(failing, diag)) == -ENOMEM && count_descriptors() == before)
		failing += failing < EVERY_ONE ? 1 : RARER;
	printf("%lu allocations, then %d; %d descriptors, %d before\n", failing, result, count_descriptors(), before);
	if (result && asterism_diag_get(diag, 0))
		puts(asterism_diag_get(diag, 0)->text);
	asterism_diag_free(diag);
	return !result && failing > 20 && count_descriptors() == before ? 0 : 1;
}
