// SPDX-License-Identifier: BSD-2-Clause
/*
 * A process for rules to act upon, which records its own progress in a file that it shares with the test: what it had
 * done in user mode when something happened to it.
 */

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* In the file, as 64-bit numbers in this order. */
struct progress {
	uint64_t reached;   /* about to make the call that completes the match */
	uint64_t passed;    /* instructions in user mode after it */
	uint64_t handled;   /* signals that a handler saw */
	uint64_t passed_at; /* passed, as the first of them saw it */
	uint64_t handler;   /* the thread it ran in */
	uint64_t caller;    /* the thread that made the call */
};

static volatile struct progress *progress;

static void check(int bad, const char *what)
{
	if (bad) {
		perror(what);
		exit(99);
	}
}

static void on_signal(int number)
{
	(void)number;
	if (!progress->handled)
		progress->passed_at = progress->passed;
	if (!progress->handled)
		progress->handler = (uint64_t)syscall(SYS_gettid);
	progress->handled++;
}

static void share(const char *file)
{
	int fd = open(file, O_RDWR | O_CREAT, 0600);

	check(fd < 0 || ftruncate(fd, sizeof *progress), file);
	progress = mmap(NULL, sizeof *progress, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	check(progress == MAP_FAILED, "mmap");
	close(fd);
}

/* The call that rules wait for: getpgid of what is no process. */
static void call(long number)
{
	syscall(SYS_getpgid, number);
}

/* progress FILE NUMBER [TIMES]: reached, the call, passed; signals USR1, USR2 and RTMIN are counted. */
static int progresses(char **args)
{
	static const int taken[] = { SIGUSR1, SIGUSR2, SIGTERM, SIGCONT };
	long times = args[2] ? atol(args[2]) : 1;

	share(args[0]);
	for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
		signal(taken[i], on_signal);
	progress->caller = (uint64_t)syscall(SYS_gettid);
	for (long i = 0; i < times; i++) {
		progress->reached++;
		call(atol(args[1]));
		progress->passed++;
	}
	return 0;
}

static void *second_thread(void *context)
{
	char **args = context;

	progresses(args);
	return NULL;
}

/* thread FILE NUMBER: as progress, in a thread beside the first, which takes signals as well. */
static int thread(char **args)
{
	pthread_t made;

	check(pthread_create(&made, NULL, second_thread, args), "pthread_create");
	pthread_join(made, NULL);
	return 0;
}

/* calls NUMBER... */
static int calls(char **args)
{
	for (; *args; args++)
		call(atol(*args));
	return 0;
}

/* flood NUMBER TIMES [CPU]: as fast as it goes. */
static int flood(char **args)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(args[2] ? atol(args[2]) : 0, &set);
	check(args[2] && sched_setaffinity(0, sizeof set, &set), "sched_setaffinity");
	for (long i = 0; i < atol(args[1]); i++)
		call(atol(args[0]));
	return 0;
}

/* nice NUMBER FILE: makes the call, and waits until its nice value is another, then until it is the old one again. */
static int nices(char **args)
{
	int before = getpriority(PRIO_PROCESS, 0), boosted;
	FILE *file;

	call(atol(args[0]));
	while ((boosted = getpriority(PRIO_PROCESS, 0)) == before)
		usleep(1000);
	file = fopen(args[1], "w");
	check(!file, args[1]);
	fprintf(file, "%d %d\n", before, boosted);
	fclose(file);
	while (getpriority(PRIO_PROCESS, 0) != before)
		usleep(1000);
	return 0;
}

/* orphans FILE NUMBER COUNT: so many children make the call one by one, while this process ends. */
static int orphans(char **args)
{
	long count = atol(args[2]);

	share(args[0]);
	for (long i = 0; i < count; i++) {
		if (fork())
			continue;
		for (volatile long j = 0; j < i * 30000;)
			j = j + 1;
		__atomic_fetch_add(&progress->reached, 1, __ATOMIC_RELAXED);
		call(atol(args[1]));
		__atomic_fetch_add(&progress->passed, 1, __ATOMIC_RELAXED);
		_exit(0);
	}
	return 0;
}

/* freeze FILE NUMBER: the call, then counts what is passed without end. */
static int freezes(char **args)
{
	share(args[0]);
	call(atol(args[1]));
	for (;;) {
		progress->passed++;
		usleep(1000);
	}
	return 0;
}

/* ask NUMBER yes|no: the call, getppid if yes; then waits a while for a signal. */
static int requests(char **args)
{
	call(atol(args[0]));
	if (strcmp(args[1], "yes") != 0)
		sleep(30);
	syscall(SYS_getppid);
	usleep(200000);
	return 0;
}

/* wait FILE: until there is such a file. */
static int waits(char **args)
{
	while (access(args[0], F_OK))
		usleep(1000);
	return 0;
}

static const struct {
	const char *name;
	int (*run)(char **args);
} scenarios[] = {
	{ "progress", progresses }, { "thread", thread },  { "calls", calls },
	{ "flood", flood },         { "nice", nices },     { "wait", waits },
	{ "ask", requests },        { "freeze", freezes }, { "orphans", orphans },
};

int main(int argc, char **argv)
{
	/* The runner that started the test must not find it waiting for ever. */
	alarm(60);
	for (size_t i = 0; argc > 1 && i < sizeof scenarios / sizeof *scenarios; i++)
		if (strcmp(argv[1], scenarios[i].name) == 0)
			return scenarios[i].run(argv + 2);
	fprintf(stderr, "target: no such scenario\n");
	return 98;
}
