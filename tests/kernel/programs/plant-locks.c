// SPDX-License-Identifier: BSD-2-Clause
/*
 * What goes wrong with locks, and nearly goes wrong, for the tests of the shipped rules.
 *
 * usage: plant-locks herd THREADS      a broadcast wakes THREADS threads, of which one finds work
 *        plant-locks one THREADS       a signal wakes one of them
 *        plant-locks convoy ROUNDS     four threads take a lock ROUNDS times each, and a nap while they hold it: all
 * queue plant-locks apart ROUNDS      each has a lock of its own plant-locks deadly            two threads take two
 * locks in opposite order, and are stuck for six seconds plant-locks orderly           they take them in the same order
 */

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MOST 64

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t own[4] = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER,
				  PTHREAD_MUTEX_INITIALIZER };
static pthread_cond_t work_came = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t both;
static int work, waiting, rounds;
static bool apart, orderly, over;

static void nap_us(long us)
{
	nanosleep(&(struct timespec){ .tv_nsec = us * 1000 }, NULL);
}

static void start(pthread_t *thread, void *(*run)(void *), void *argument)
{
	if (pthread_create(thread, NULL, run, argument)) {
		perror("pthread_create");
		exit(1);
	}
}

static void *worker(void *unused)
{
	pthread_mutex_lock(&mutex);
	waiting++;
	while (!over) {
		pthread_cond_wait(&work_came, &mutex);
		if (work)
			work--;
	}
	pthread_mutex_unlock(&mutex);
	return unused;
}

static void herd(int threads, bool all)
{
	pthread_t thread[MOST];
	bool ready = false;

	for (int i = 0; i < threads; i++)
		start(&thread[i], worker, NULL);
	while (!ready) {
		nap_us(10000);
		pthread_mutex_lock(&mutex);
		ready = waiting == threads;
		pthread_mutex_unlock(&mutex);
	}
	nap_us(50000);
	pthread_mutex_lock(&mutex);
	work++;
	pthread_mutex_unlock(&mutex);
	if (all)
		pthread_cond_broadcast(&work_came);
	else
		pthread_cond_signal(&work_came);
	nap_us(200000);
	pthread_mutex_lock(&mutex);
	over = true;
	pthread_mutex_unlock(&mutex);
	pthread_cond_broadcast(&work_came);
	for (int i = 0; i < threads; i++)
		pthread_join(thread[i], NULL);
}

static void *queuer(void *lock)
{
	for (int i = 0; i < rounds; i++) {
		pthread_mutex_lock(lock);
		nap_us(100);
		pthread_mutex_unlock(lock);
		nap_us(50);
	}
	return NULL;
}

static void convoy(void)
{
	pthread_t thread[4];

	for (int i = 0; i < 4; i++)
		start(&thread[i], queuer, apart ? &own[i] : &mutex);
	for (int i = 0; i < 4; i++)
		pthread_join(thread[i], NULL);
}

static void *taker(void *turned)
{
	bool turn = turned && !orderly;

	if (!orderly)
		pthread_barrier_wait(&both);
	pthread_mutex_lock(turn ? &other : &mutex);
	nap_us(turn ? 130000 : 100000); /* so that it is known who waits first */
	pthread_mutex_lock(turn ? &mutex : &other);
	pthread_mutex_unlock(&mutex);
	pthread_mutex_unlock(&other);
	return NULL;
}

static void two(void)
{
	pthread_t first, second;

	pthread_barrier_init(&both, NULL, 2);
	start(&first, taker, NULL);
	start(&second, taker, &both);
	if (!orderly) {
		sleep(6);
		exit(0);
	}
	pthread_join(first, NULL);
	pthread_join(second, NULL);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	int number = argc > 2 ? atoi(argv[2]) : 0;

	apart = !strcmp(what, "apart");
	orderly = !strcmp(what, "orderly");
	rounds = number;
	if ((!strcmp(what, "herd") || !strcmp(what, "one")) && number > 0 && number <= MOST)
		herd(number, *what == 'h');
	else if (!strcmp(what, "convoy") || apart)
		convoy();
	else if (!strcmp(what, "deadly") || orderly)
		two();
	else
		return 2;
	return 0;
}
