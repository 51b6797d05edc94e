// SPDX-License-Identifier: BSD-2-Clause
/* A group of threads that share the pieces of one job: whoever is free takes the next one. */

#include "base/crew.h"

#include "base/thread.h"

#include <unistd.h>

enum { STACK_BYTES = 64 * 1024, WORKERS_MAX = 4 };

struct crew {
	void (*work)(void *context, size_t index);
	void *context;
	size_t count, next;
};

unsigned int crew_of_processors(void)
{
	long processors = sysconf(_SC_NPROCESSORS_ONLN);

	return processors < 1 ? 1 : processors < WORKERS_MAX ? (unsigned int)processors : WORKERS_MAX;
}

static void *take_errand(void *given)
{
	struct crew *crew = given;
	size_t index;

	while ((index = __atomic_fetch_add(&crew->next, 1, __ATOMIC_RELAXED)) < crew->count)
		crew->work(crew->context, index);
	return NULL;
}

void crew_do(size_t count, unsigned int members, void (*work)(void *context, size_t index), void *context)
{
	struct crew crew = { .work = work, .context = context, .count = count };
	pthread_t threads[CREW_MAX];
	unsigned int started = 0;

	if (members > CREW_MAX)
		members = CREW_MAX;
	if (members > count)
		members = (unsigned int)count;
	while (started + 1 < members && thread_start(&threads[started], STACK_BYTES, take_errand, &crew) == 0)
		started++;
	take_errand(&crew);
	while (started)
		pthread_join(threads[--started], NULL);
}
