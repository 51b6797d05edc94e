// SPDX-License-Identifier: BSD-2-Clause
/*
 * What goes wrong with locks, and nearly goes wrong, for the tests of the shipped rules.
 *
 * usage: plant-locks herd THREADS    a broadcast wakes THREADS threads, of which one finds work
 *        plant-locks one THREADS     a signal wakes one of them
 *        plant-locks convoy ROUNDS   four threads take a lock ROUNDS times each, and a nap while they hold it
 *        plant-locks apart ROUNDS    each has a lock of its own
 *        plant-locks circle THREADS [CIRCLES]
 *                                    each takes a lock and then that of the next: all are stuck for ever; one
 *                                    alone takes its own twice
 *        plant-locks joined THREADS  the same, while the first thread joins them; a signal ends it after a second
 *        plant-locks ring THREADS    nearly that, but alive: the last one takes its locks in the other order, and each
 *                                    holds them for a tenth of a second
 *        plant-locks orderly         two threads take two locks in the same order
 *        plant-locks behind          two threads wait six seconds for two locks of a third one, which sleeps
 *        plant-locks handed          two threads hand two locks to each other, for two seconds
 *        plant-locks foreign         two threads are stuck on two locks that are not the C library's
 *        plant-locks queue ROUNDS    a producer hands ROUNDS things to a consumer
 */

#include <linux/futex.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define MOST 64

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t own[4] = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER,
				  PTHREAD_MUTEX_INITIALIZER };
static pthread_cond_t work_came = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t both;
static int work, waiting, rounds;
static bool apart, over;

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

/* One of a circle: what it takes first, and what it takes then, which another one has. */
struct link {
	pthread_mutex_t *first, *then;
};

static void *link_taker(void *context)
{
	struct link *link = context;

	pthread_mutex_lock(link->first);
	pthread_barrier_wait(&both);
	pthread_mutex_lock(link->then);
	return NULL;
}

static void *link_holder(void *context)
{
	struct link *link = context;

	for (int i = 0; i < 3; i++) {
		pthread_mutex_lock(link->first);
		nap_us(100000);
		pthread_mutex_lock(link->then);
		nap_us(100000);
		pthread_mutex_unlock(link->then);
		pthread_mutex_unlock(link->first);
	}
	return NULL;
}

/* Circles of so many threads each. The waits begin in no order that is known. */
static void circles(int threads, int count)
{
	static pthread_mutex_t locks[MOST];
	static struct link links[MOST];
	pthread_t thread;

	pthread_barrier_init(&both, NULL, threads * count);
	for (int i = 0; i < threads * count; i++) {
		int begin = i / threads * threads;

		pthread_mutex_init(&locks[i], NULL);
		links[i] = (struct link){ &locks[i], &locks[begin + (i + 1 - begin) % threads] };
	}
	for (int i = 0; i < threads * count; i++)
		start(&thread, link_taker, &links[i]);
	sleep(2);
	exit(0);
}

/* Circles, or what nearly is one: there the last takes the locks as the first would. */
static void joined(int threads, bool is_circle)
{
	static pthread_mutex_t locks[MOST];
	static struct link links[MOST];
	pthread_t thread[MOST];

	pthread_barrier_init(&both, NULL, threads);
	for (int i = 0; i < threads; i++) {
		pthread_mutex_init(&locks[i], NULL);
		links[i] = (struct link){ &locks[i], &locks[(i + 1) % threads] };
	}
	if (!is_circle)
		links[threads - 1] = (struct link){ &locks[0], &locks[threads - 1] };
	else
		alarm(1);
	for (int i = 0; i < threads; i++)
		start(&thread[i], is_circle ? link_taker : link_holder, &links[i]);
	for (int i = 0; i < threads; i++)
		pthread_join(thread[i], NULL);
}

static void *orderly_taker(void *unused)
{
	pthread_mutex_lock(&mutex);
	nap_us(100000);
	pthread_mutex_lock(&other);
	pthread_mutex_unlock(&other);
	pthread_mutex_unlock(&mutex);
	return unused;
}

static void *waiter(void *lock)
{
	pthread_mutex_lock(lock);
	pthread_mutex_unlock(lock);
	return NULL;
}

static void behind(void)
{
	pthread_t first, second;

	pthread_mutex_lock(&mutex);
	pthread_mutex_lock(&other);
	start(&first, waiter, &mutex);
	start(&second, waiter, &other);
	sleep(6);
	pthread_mutex_unlock(&mutex);
	pthread_mutex_unlock(&other);
	pthread_join(first, NULL);
	pthread_join(second, NULL);
}

/* One has only ever one of the two, and gives it back just before it waits for the other; the other one takes both. */
static void *hander(void *turned)
{
	while (!__atomic_load_n(&over, __ATOMIC_RELAXED)) {
		pthread_mutex_lock(turned ? &other : &mutex);
		nap_us(turned ? 100 : 1000);
		if (!turned)
			pthread_mutex_unlock(&mutex);
		pthread_mutex_lock(turned ? &mutex : &other);
		pthread_mutex_unlock(&other);
		if (turned)
			pthread_mutex_unlock(&mutex);
	}
	return NULL;
}

static void pair(void *(*run)(void *), int seconds)
{
	pthread_t first, second;

	start(&first, run, NULL);
	start(&second, run, &both);
	sleep(seconds);
	__atomic_store_n(&over, true, __ATOMIC_RELAXED);
	pthread_join(first, NULL);
	pthread_join(second, NULL);
}

/* A lock as many programs have one of their own: 0 free, 1 taken, 2 taken and waited for. */
static struct foreign_lock {
	int word, unused[7];
} foreign_locks[2];

static void foreign_take(int *word)
{
	int free = 0;

	if (__atomic_compare_exchange_n(word, &free, 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		return;
	while (__atomic_exchange_n(word, 2, __ATOMIC_ACQUIRE))
		syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, 2, NULL, NULL, 0);
}

static void *foreign_taker(void *turned)
{
	foreign_take(&foreign_locks[turned != NULL].word);
	pthread_barrier_wait(&both);
	foreign_take(&foreign_locks[turned == NULL].word);
	return NULL;
}

static void foreign(void)
{
	pthread_t thread;

	pthread_barrier_init(&both, NULL, 2);
	start(&thread, foreign_taker, NULL);
	start(&thread, foreign_taker, &both);
	sleep(6);
	exit(0);
}

static void *producer(void *unused)
{
	for (int i = 0; i < rounds; i++) {
		nap_us(1000);
		pthread_mutex_lock(&mutex);
		work++;
		pthread_cond_signal(&work_came);
		pthread_mutex_unlock(&mutex);
	}
	return unused;
}

static void *consumer(void *unused)
{
	for (int i = 0; i < rounds; i++) {
		pthread_mutex_lock(&mutex);
		while (!work)
			pthread_cond_wait(&work_came, &mutex);
		work--;
		pthread_mutex_unlock(&mutex);
	}
	return unused;
}

static void queue(void)
{
	pthread_t threads[2];

	start(&threads[0], producer, NULL);
	start(&threads[1], consumer, NULL);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	int number = argc > 2 ? atoi(argv[2]) : 0, again = argc > 3 ? atoi(argv[3]) : 1;

	apart = !strcmp(what, "apart");
	rounds = number;
	if ((!strcmp(what, "herd") || !strcmp(what, "one")) && number > 0 && number <= MOST)
		herd(number, *what == 'h');
	else if (!strcmp(what, "convoy") || apart)
		convoy();
	else if (!strcmp(what, "circle") && number > 0 && number * again <= MOST)
		circles(number, again);
	else if ((!strcmp(what, "joined") || !strcmp(what, "ring")) && number > 1 && number <= MOST)
		joined(number, *what == 'j');
	else if (!strcmp(what, "orderly"))
		pair(orderly_taker, 0);
	else if (!strcmp(what, "behind"))
		behind();
	else if (!strcmp(what, "handed"))
		pair(hander, 2);
	else if (!strcmp(what, "foreign"))
		foreign();
	else if (!strcmp(what, "queue"))
		queue();
	else
		return 2;
	return 0;
}
