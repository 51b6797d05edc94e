/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef BASE_THREAD_H
#define BASE_THREAD_H

/* Threads of ours take no signals: these are the program's, and interrupt what it waits in. */

#include <pthread.h>
#include <signal.h>
#include <stddef.h>

/* stack_bytes: 0 for as many as the system gives. A thread has the signals blocked that its creator had. Returns 0 or
 * -errno. */
static inline int thread_start(pthread_t *thread, size_t stack_bytes, void *(*run)(void *context), void *context)
{
	pthread_attr_t attributes;
	sigset_t all, before;
	int result;

	sigfillset(&all);
	pthread_attr_init(&attributes);
	if (stack_bytes)
		pthread_attr_setstacksize(&attributes, stack_bytes);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	result = pthread_create(thread, &attributes, run, context);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attributes);
	return -result;
}

#endif
