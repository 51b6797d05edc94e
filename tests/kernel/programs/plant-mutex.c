// SPDX-License-Identifier: BSD-2-Clause
/*
 * Sleeps with a mutex held, one after the other: of variables that are 0 at first and that are not, of the heap, of the
 * stack. `plant-mutex wait` then waits for the end of its input. `plant-mutex fork` has a child that takes the mutex
 * that its parent has taken. `plant-mutex order` takes two mutexes in one order and then, by another thread, in the
 * other.
 */

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct planted_record {
	long number;
	pthread_mutex_t mutex;
};

pthread_mutex_t planted_zeroed = PTHREAD_MUTEX_INITIALIZER;
struct planted_record planted_record = { 7, PTHREAD_MUTEX_INITIALIZER };

void planted_hold(pthread_mutex_t *mutex);

__attribute__((noipa)) void planted_hold(pthread_mutex_t *mutex)
{
	pthread_mutex_lock(mutex);
	usleep(40000);
	pthread_mutex_unlock(mutex);
}

static void *take_both(void *outer)
{
	pthread_mutex_t *inner = outer == &planted_zeroed ? &planted_record.mutex : &planted_zeroed;

	pthread_mutex_lock(outer);
	pthread_mutex_lock(inner);
	pthread_mutex_unlock(inner);
	pthread_mutex_unlock(outer);
	return NULL;
}

static int take_in_both_orders(void)
{
	pthread_mutex_t *const orders[] = { &planted_zeroed, &planted_record.mutex };
	pthread_t thread;

	for (int i = 0; i < 2; i++)
		if (pthread_create(&thread, NULL, take_both, orders[i]) || pthread_join(thread, NULL))
			return 1;
	return 0;
}

int main(int count, char **words)
{
	const char *what = count > 1 ? words[1] : "";
	pthread_mutex_t local = PTHREAD_MUTEX_INITIALIZER, *allocated = malloc(sizeof *allocated);
	char byte;

	if (!allocated || pthread_mutex_init(allocated, NULL))
		return 1;
	if (strcmp(what, "order") == 0)
		return take_in_both_orders();
	planted_hold(&planted_zeroed);
	if (strcmp(what, "fork") == 0) {
		if (fork() == 0) {
			planted_hold(&planted_zeroed);
			_exit(0);
		}
		wait(NULL);
		return 0;
	}
	planted_hold(&planted_record.mutex);
	planted_hold(allocated);
	planted_hold(&local);
	return strcmp(what, "wait") == 0 && read(0, &byte, 1) < 0;
}
