// SPDX-License-Identifier: BSD-2-Clause
/* Plants ways of using mutexes: `locks MODE`. Nothing here can really block. */

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t locks[3] = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER };

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

static void circle(void)
{
	nest_apart(&locks[0], &locks[1]);
	nest_apart(&locks[1], &locks[2]);
	nest_apart(&locks[2], &locks[0]);
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

static void initialised(void)
{
	pthread_mutex_lock(&locks[0]);
	pthread_mutex_init(&locks[0], NULL);
	pthread_mutex_unlock(&locks[0]);
}

static const struct {
	const char *name;
	void (*plant)(void);
} modes[] = {
	{ "ordered", ordered },   { "inverted", inverted }, { "circle", circle },
	{ "fresh", fresh },       { "tried", tried },       { "tried-outer", tried_outer },
	{ "sleeping", sleeping }, { "awake", awake },       { "initialised", initialised },
};

int main(int argc, char **argv)
{
	for (size_t i = 0; argc == 2 && i < sizeof modes / sizeof *modes; i++) {
		if (strcmp(argv[1], modes[i].name) == 0) {
			modes[i].plant();
			return 0;
		}
	}
	fprintf(stderr, "usage: locks MODE\n");
	return 2;
}
