// SPDX-License-Identifier: BSD-2-Clause
/* Has a thread do work that may take for ever: who waits for whom, and who frees what when waiting was given up. */

#include "base/errand.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/thread.h"

#include <errno.h>
#include <stdbool.h>
#include <time.h>

enum { ERRAND_STACK_BYTES = 64 * 1024 };

struct errand {
	int (*work)(void *context, uint64_t argument);
	void (*dispose)(void *context);
	void *context;
	uint64_t argument;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool is_under_way, is_ending;
	int result; /* of the last time */
};

static void forget_errand(struct errand *errand)
{
	pthread_mutex_destroy(&errand->lock);
	pthread_cond_destroy(&errand->changed);
	alloc_free(errand);
}

/* Until there is nothing to be done any more. Returns whether nobody waits for that. */
static bool serve_errand(struct errand *errand)
{
	for (;;) {
		while (!errand->is_under_way && !errand->is_ending)
			pthread_cond_wait(&errand->changed, &errand->lock);
		if (!errand->is_under_way)
			return false;
		pthread_mutex_unlock(&errand->lock);
		int result = errand->work(errand->context, errand->argument);

		pthread_mutex_lock(&errand->lock);
		errand->result = result;
		errand->is_under_way = false;
		if (errand->is_ending)
			return true;
		pthread_cond_broadcast(&errand->changed);
	}
}

static void *run_errand(void *given)
{
	struct errand *errand = given;

	pthread_mutex_lock(&errand->lock);
	bool is_alone = serve_errand(errand);

	pthread_mutex_unlock(&errand->lock);
	if (is_alone) {
		errand->dispose(errand->context);
		forget_errand(errand);
	}
	return NULL;
}

int errand_new(int (*work)(void *context, uint64_t argument), void (*dispose)(void *context), void *context,
	       struct errand **made)
{
	struct errand *errand = alloc_zero(1, sizeof *errand);
	pthread_condattr_t steady;

	if (!errand)
		return -ENOMEM;
	errand->work = work;
	errand->dispose = dispose;
	errand->context = context;
	pthread_mutex_init(&errand->lock, NULL);
	pthread_condattr_init(&steady);
	pthread_condattr_setclock(&steady, CLOCK_MONOTONIC);
	pthread_cond_init(&errand->changed, &steady);
	pthread_condattr_destroy(&steady);
	int result = thread_start(&errand->thread, ERRAND_STACK_BYTES, run_errand, errand);

	if (result)
		forget_errand(errand);
	else
		*made = errand;
	return result;
}

void errand_free(struct errand *errand)
{
	if (!errand)
		return;
	pthread_mutex_lock(&errand->lock);
	pthread_t thread = errand->thread;
	bool is_under_way = errand->is_under_way;

	errand->is_ending = true;
	pthread_cond_broadcast(&errand->changed);
	pthread_mutex_unlock(&errand->lock);
	if (is_under_way) {
		pthread_detach(thread);
		return;
	}
	pthread_join(thread, NULL);
	errand->dispose(errand->context);
	forget_errand(errand);
}

int errand_do(struct errand *errand, uint64_t argument, uint64_t patience_ns)
{
	uint64_t until = clock_now_ns() + patience_ns;
	const struct timespec end = { (time_t)(until / 1000000000), (long)(until % 1000000000) };
	int result = 0;

	pthread_mutex_lock(&errand->lock);
	if (errand->is_under_way) {
		result = -EAGAIN;
	} else {
		errand->argument = argument;
		errand->is_under_way = true;
		pthread_cond_broadcast(&errand->changed);
		while (errand->is_under_way && !result)
			result = -pthread_cond_timedwait(&errand->changed, &errand->lock, &end);
		if (!errand->is_under_way)
			result = errand->result;
	}
	pthread_mutex_unlock(&errand->lock);
	return result;
}

bool errand_is_idle(struct errand *errand)
{
	pthread_mutex_lock(&errand->lock);
	bool is_idle = !errand->is_under_way;

	pthread_mutex_unlock(&errand->lock);
	return is_idle;
}
