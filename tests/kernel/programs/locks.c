// SPDX-License-Identifier: BSD-2-Clause
/* Plants ways of using mutexes: `locks MODE`. Nothing here can really block. */

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t locks[7];
static pthread_rwlock_t shared[2] = { PTHREAD_RWLOCK_INITIALIZER, PTHREAD_RWLOCK_INITIALIZER };

/* Takes both, in this order, in a thread of its own. */
struct pair {
	pthread_mutex_t *outer, *inner;
};

static void *nest(void *context)
{
	const struct pair *pair = context;

	pthread_mutex_lock(pair->outer);
	pthread_mutex_lock(pair->inner);
	pthread_mutex_unlock(pair->inner);
	pthread_mutex_unlock(pair->outer);
	return NULL;
}

/* One thread after the other, so that what could be a deadlock never is. */
static void nest_apart(pthread_mutex_t *outer, pthread_mutex_t *inner)
{
	struct pair pair = { outer, inner };
	pthread_t thread;

	if (pthread_create(&thread, NULL, nest, &pair) == 0)
		pthread_join(thread, NULL);
}

static void ordered(void)
{
	for (int i = 0; i < 3; i++)
		nest_apart(&locks[0], &locks[1]);
	nest_apart(&locks[1], &locks[2]);
	nest_apart(&locks[0], &locks[2]);
}

static void inverted(void)
{
	nest_apart(&locks[0], &locks[1]);
	nest_apart(&locks[1], &locks[0]);
}

/* Edges of a circle of count locks, in an order that is none of going round. */
static void circle_of(int count)
{
	for (int i = 0; i < count; i += 2)
		nest_apart(&locks[i], &locks[(i + 1) % count]);
	for (int i = 1; i < count; i += 2)
		nest_apart(&locks[i], &locks[(i + 1) % count]);
}

static void circle(void)
{
	nest_apart(&locks[0], &locks[1]);
	nest_apart(&locks[1], &locks[2]);
	nest_apart(&locks[2], &locks[0]);
}

static void circle4(void)
{
	circle_of(4);
}

static void circle5(void)
{
	circle_of(5);
}

static void circle6(void)
{
	circle_of(6);
}

static void circle7(void)
{
	circle_of(7);
}

/* All orders that there are between six locks, but no circle; one that is closed in vain, as a lock is made anew. */
static void ladder(void)
{
	for (int i = 0; i < 6; i++)
		for (int j = i + 1; j < 6; j++)
			nest_apart(&locks[i], &locks[j]);
	pthread_mutex_destroy(&locks[2]);
	pthread_mutex_init(&locks[2], NULL);
	nest_apart(&locks[5], &locks[2]);
}

typedef int take_lock(pthread_rwlock_t *lock);

/* Takes a and then b, each as the function says, in a thread of its own. */
struct rwpair {
	pthread_rwlock_t *outer, *inner;
	take_lock *take_outer, *take_inner;
};

static void *nest_shared(void *context)
{
	const struct rwpair *pair = context;

	pair->take_outer(pair->outer);
	pair->take_inner(pair->inner);
	pthread_rwlock_unlock(pair->inner);
	pthread_rwlock_unlock(pair->outer);
	return NULL;
}

static void nest_shared_apart(struct rwpair pair)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, nest_shared, &pair) == 0)
		pthread_join(thread, NULL);
}

/* One reads the first and writes the second, the other does it the other way round. */
static void readwrite(void)
{
	nest_shared_apart((struct rwpair){ &shared[0], &shared[1], pthread_rwlock_rdlock, pthread_rwlock_wrlock });
	nest_shared_apart((struct rwpair){ &shared[1], &shared[0], pthread_rwlock_rdlock, pthread_rwlock_wrlock });
}

/* Readers do not wait for readers; nor does who only reads the second wait for who only reads it first. */
static void readers(void)
{
	nest_shared_apart((struct rwpair){ &shared[0], &shared[1], pthread_rwlock_rdlock, pthread_rwlock_rdlock });
	nest_shared_apart((struct rwpair){ &shared[1], &shared[0], pthread_rwlock_rdlock, pthread_rwlock_rdlock });
	nest_shared_apart((struct rwpair){ &shared[1], &shared[0], pthread_rwlock_rdlock, pthread_rwlock_tryrdlock });
	nest_shared_apart((struct rwpair){ &shared[1], &shared[0], pthread_rwlock_rdlock, pthread_rwlock_wrlock });
}

/* A mutex and a read-write lock, taken in both orders. */
static void mixed(void)
{
	pthread_mutex_lock(&locks[0]);
	pthread_rwlock_wrlock(&shared[0]);
	pthread_rwlock_unlock(&shared[0]);
	pthread_mutex_unlock(&locks[0]);
	pthread_rwlock_rdlock(&shared[0]);
	pthread_mutex_lock(&locks[0]);
	pthread_mutex_unlock(&locks[0]);
	pthread_rwlock_unlock(&shared[0]);
}

/* A new object's lock is taken under an old one's, and later, in memory used again, the other way round. */
static void fresh(void)
{
	pthread_mutex_t object;

	pthread_mutex_init(&object, NULL);
	nest_apart(&locks[0], &object);
	pthread_mutex_destroy(&object);
	pthread_mutex_init(&object, NULL);
	nest_apart(&object, &locks[0]);
	pthread_mutex_destroy(&object);
}

/* The inner lock is only tried for: that cannot wait, so no order comes of it. */
static void tried(void)
{
	nest_apart(&locks[0], &locks[1]);
	pthread_mutex_lock(&locks[1]);
	if (pthread_mutex_trylock(&locks[0]) == 0)
		pthread_mutex_unlock(&locks[0]);
	pthread_mutex_unlock(&locks[1]);
}

/* What was tried for and had is held like any other. */
static void tried_outer(void)
{
	nest_apart(&locks[0], &locks[1]);
	if (pthread_mutex_trylock(&locks[1]))
		return;
	pthread_mutex_lock(&locks[0]);
	pthread_mutex_unlock(&locks[0]);
	pthread_mutex_unlock(&locks[1]);
}

static void sleeping(void)
{
	pthread_mutex_lock(&locks[0]);
	usleep(20000);
	pthread_mutex_unlock(&locks[0]);
}

static void awake(void)
{
	pthread_mutex_lock(&locks[0]);
	pthread_mutex_unlock(&locks[0]);
	usleep(20000);
}

static void *hold_long(void *context)
{
	pthread_mutex_lock(context);
	usleep(30000);
	pthread_mutex_unlock(context);
	return NULL;
}

/* One thread holds the mutex while it sleeps, three others only want it, and hold nothing. */
static void wanted(void)
{
	pthread_t holder, wanting[3];

	pthread_create(&holder, NULL, hold_long, &locks[0]);
	usleep(5000);
	for (int i = 0; i < 3; i++)
		pthread_create(&wanting[i], NULL, nest, &(struct pair){ &locks[0], &locks[1] });
	pthread_join(holder, NULL);
	for (int i = 0; i < 3; i++)
		pthread_join(wanting[i], NULL);
}

/* A lock that was tried for in vain is not held. */
static void vain(void)
{
	pthread_t holder;

	pthread_create(&holder, NULL, hold_long, &locks[0]);
	usleep(5000);
	if (pthread_mutex_trylock(&locks[0]) == 0)
		pthread_mutex_unlock(&locks[0]);
	pthread_join(holder, NULL);
}

static sem_t ask, answer;

static void stay_on(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof set, &set);
}

static void *answer_all(void *context)
{
	stay_on(1);
	for (int i = 0; i < 3000; i++) {
		sem_wait(&ask);
		for (volatile int spin = 0; spin < i % 1000; spin++) {
		}
		sem_post(&answer);
	}
	return context;
}

/* Is woken many times while it holds a mutex, often by another CPU before it has left its own; then sleeps without one.
 */
static void handed(void)
{
	pthread_t thread;

	sem_init(&ask, 0, 0);
	sem_init(&answer, 0, 0);
	pthread_create(&thread, NULL, answer_all, NULL);
	stay_on(0);
	for (int i = 0; i < 3000; i++) {
		pthread_mutex_lock(&locks[0]);
		sem_post(&ask);
		sem_wait(&answer);
		pthread_mutex_unlock(&locks[0]);
	}
	pthread_join(thread, NULL);
	usleep(1500000);
}

/* Waits for a condition for a time, of either clock. Meanwhile it holds nothing. */
static void timed(void)
{
	pthread_cond_t never = PTHREAD_COND_INITIALIZER;
	struct timespec until;

	pthread_mutex_lock(&locks[0]);
	clock_gettime(CLOCK_REALTIME, &until);
	for (int i = 0; i < 2; i++) {
		until.tv_nsec += 30000000;
		until.tv_sec += until.tv_nsec / 1000000000;
		until.tv_nsec %= 1000000000;
		if (i == 0)
			pthread_cond_timedwait(&never, &locks[0], &until);
		else
			pthread_cond_clockwait(&never, &locks[0], CLOCK_MONOTONIC, &until);
		clock_gettime(CLOCK_MONOTONIC, &until);
	}
	pthread_mutex_unlock(&locks[0]);
}

/* As before, but another mutex is kept; then it sleeps without one. */
static void keeping(void)
{
	pthread_mutex_lock(&locks[1]);
	timed();
	pthread_mutex_unlock(&locks[1]);
	usleep(30000);
}

/* Holds one mutex all the time, and others while it is awake. */
static void always(void)
{
	pthread_mutex_lock(&locks[0]);
	for (int i = 0; i < 5; i++) {
		pthread_mutex_lock(&locks[1]);
		pthread_mutex_unlock(&locks[1]);
		usleep(20000);
	}
}

/* Takes many, gives them back the other way round, and sleeps without one. */
static void deep(void)
{
	for (int i = 0; i < 7; i++)
		pthread_mutex_lock(&locks[i]);
	for (int i = 6; i >= 0; i--)
		pthread_mutex_unlock(&locks[i]);
	usleep(30000);
	nest_apart(&locks[0], &locks[1]);
}

/* Becomes another program, which holds nothing. */
static void become(void)
{
	pthread_mutex_lock(&locks[0]);
	execl("/bin/sleep", "sleep", "0.05", NULL);
}

/* Becomes itself at the same addresses, with an argument more each time; so many times it has by now. */
static void become_again(const char *mode, int times)
{
	char number[12];

	personality(ADDR_NO_RANDOMIZE);
	snprintf(number, sizeof number, "%d", times + 1);
	execl("/proc/self/exe", "locks", mode, number, NULL);
}

/* A mutex is held, another program runs in its place, which initialises one there. */
static void misuse_after_exec(int times)
{
	if (times == 1)
		pthread_mutex_lock(&locks[0]);
	if (times < 2)
		become_again("misuse-after-exec", times);
	pthread_mutex_init(&locks[0], NULL);
}

/* Each program takes locks in an order of its own. */
static void order_after_exec(int times)
{
	if (times == 1)
		nest_apart(&locks[0], &locks[1]);
	if (times < 2)
		become_again("order-after-exec", times);
	nest_apart(&locks[1], &locks[0]);
}

static void circle_after_exec(int times)
{
	if (times == 1) {
		nest_apart(&locks[0], &locks[1]);
		nest_apart(&locks[1], &locks[2]);
	}
	if (times < 2)
		become_again("circle-after-exec", times);
	nest_apart(&locks[2], &locks[0]);
}

/* A wait for a condition has given it back, and has it again. */
static void waited(void)
{
	pthread_cond_t never = PTHREAD_COND_INITIALIZER;
	struct timespec now;

	pthread_mutex_lock(&locks[0]);
	clock_gettime(CLOCK_REALTIME, &now);
	pthread_cond_timedwait(&never, &locks[0], &now);
	pthread_mutex_destroy(&locks[0]);
}

static void initialised(void)
{
	pthread_mutex_lock(&locks[0]);
	pthread_mutex_init(&locks[0], NULL);
	pthread_mutex_unlock(&locks[0]);
}

static void destroyed(void)
{
	if (pthread_mutex_trylock(&locks[0]) == 0)
		pthread_mutex_destroy(&locks[0]);
}

static void *die_holding(void *mutex)
{
	pthread_mutex_lock(mutex);
	return NULL;
}

/* Its owner died, nobody made it consistent again: lock refuses it from then on, and all that is left is to destroy it.
 */
static void refused(void)
{
	pthread_mutexattr_t robust;
	pthread_mutex_t mutex;
	pthread_t thread;

	pthread_mutexattr_init(&robust);
	pthread_mutexattr_setrobust(&robust, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&mutex, &robust);
	pthread_create(&thread, NULL, die_holding, &mutex);
	pthread_join(thread, NULL);
	if (pthread_mutex_lock(&mutex) == EOWNERDEAD)
		pthread_mutex_unlock(&mutex);
	if (pthread_mutex_lock(&mutex) == ENOTRECOVERABLE)
		pthread_mutex_destroy(&mutex);
}

static const struct {
	const char *name;
	void (*plant)(void);
} modes[] = {
	{ "ordered", ordered },   { "inverted", inverted },   { "circle", circle },
	{ "fresh", fresh },       { "tried", tried },         { "tried-outer", tried_outer },
	{ "sleeping", sleeping }, { "awake", awake },         { "initialised", initialised },
	{ "circle4", circle4 },   { "circle5", circle5 },     { "circle6", circle6 },
	{ "circle7", circle7 },   { "ladder", ladder },       { "readwrite", readwrite },
	{ "readers", readers },   { "mixed", mixed },         { "wanted", wanted },
	{ "vain", vain },         { "destroyed", destroyed }, { "refused", refused },
	{ "handed", handed },     { "timed", timed },         { "keeping", keeping },
	{ "always", always },     { "deep", deep },           { "become", become },
	{ "waited", waited },
};

static const struct {
	const char *name;
	void (*plant)(int times);
} repeated[] = {
	{ "misuse-after-exec", misuse_after_exec },
	{ "order-after-exec", order_after_exec },
	{ "circle-after-exec", circle_after_exec },
};

int main(int argc, char **argv)
{
	for (size_t i = 0; argc == 2 && i < sizeof modes / sizeof *modes; i++) {
		if (strcmp(argv[1], modes[i].name) == 0) {
			modes[i].plant();
			return 0;
		}
	}
	for (size_t i = 0; argc > 1 && i < sizeof repeated / sizeof *repeated; i++) {
		if (strcmp(argv[1], repeated[i].name) == 0) {
			repeated[i].plant(argc > 2 ? atoi(argv[2]) : 0);
			return 0;
		}
	}
	fprintf(stderr, "usage: locks MODE\n");
	return 2;
}
