// SPDX-License-Identifier: BSD-2-Clause
/*
 * The processes of the studies: each shows by itself whether a rule's reaction came, and in time.
 *
 * usage: studies inversion            prints "first" if the thread of high priority got the lock while the one in
 *                                     between still ran, "last" if only afterwards; and the time it waited (ns)
 *        studies share SECONDS NAME.. a busy process per NAME, which it takes for its own; prints the share of a
 *                                     processor (per cent) that each got
 *        studies secret FILE [plain]  reads from a socket (plain: from a pipe), opens FILE, says "went on"
 */

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void check(int failed, const char *what)
{
	if (!failed)
		return;
	perror(what);
	exit(1);
}

static int64_t now_ns(clockid_t clock)
{
	struct timespec now;

	check(clock_gettime(clock, &now), "clock_gettime");
	return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

/* ---- inversion: low holds the lock, high wants it, medium runs until high has it, at most two seconds */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sem_t begin_low, begin_high, begin_medium;
static atomic_bool medium_is_done, high_was_first, high_has_it;
static int64_t waited_ns;

static void become(int priority)
{
	struct sched_param param = { .sched_priority = priority };
	cpu_set_t first;

	CPU_ZERO(&first);
	CPU_SET(0, &first);
	check(sched_setaffinity(0, sizeof first, &first), "sched_setaffinity");
	check(sched_setscheduler(0, SCHED_FIFO, &param), "sched_setscheduler");
}

static void spin_ms(int64_t ms)
{
	int64_t end = now_ns(CLOCK_THREAD_CPUTIME_ID) + ms * 1000000;

	while (now_ns(CLOCK_THREAD_CPUTIME_ID) < end)
		;
}

static void *low(void *unused)
{
	become(10);
	sem_wait(&begin_low);
	pthread_mutex_lock(&lock);
	sem_post(&begin_high);
	sem_post(&begin_medium);
	spin_ms(5);
	pthread_mutex_unlock(&lock);
	return unused;
}

static void *medium(void *unused)
{
	become(20);
	sem_wait(&begin_medium);
	for (int i = 0; i < 200 && !high_has_it; i++)
		spin_ms(5);
	medium_is_done = true;
	return unused;
}

static void *high(void *unused)
{
	become(30);
	sem_wait(&begin_high);
	int64_t begin = now_ns(CLOCK_MONOTONIC);

	pthread_mutex_lock(&lock);
	waited_ns = now_ns(CLOCK_MONOTONIC) - begin;
	high_was_first = !medium_is_done;
	high_has_it = true;
	pthread_mutex_unlock(&lock);
	return unused;
}

static int inversion(char **args)
{
	void *(*const bodies[])(void *) = { low, medium, high };
	pthread_t threads[3];

	(void)args;
	check(sem_init(&begin_low, 0, 0) || sem_init(&begin_high, 0, 0) || sem_init(&begin_medium, 0, 0), "sem_init");
	for (int i = 0; i < 3; i++)
		check(pthread_create(&threads[i], NULL, bodies[i], NULL), "pthread_create");
	usleep(50000);
	sem_post(&begin_low);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	printf("%s %lld\n", high_was_first ? "first" : "last", (long long)waited_ns);
	return 0;
}

/* ---- share */

enum { BUSY_MAX = 16 };

/* A process's CPU time, as another one may ask for it: see clock_getcpuclockid(3). */
static int64_t used_ns(pid_t pid)
{
	clockid_t clock;

	check(clock_getcpuclockid(pid, &clock), "clock_getcpuclockid");
	return now_ns(clock);
}

static int share(char **args)
{
	int64_t begin_ns[BUSY_MAX], used_by[BUSY_MAX];
	pid_t pids[BUSY_MAX];
	int count = 0;
	double seconds = args[0] ? atof(args[0]) : 1;

	for (; args[0] && args[1 + count] && count < BUSY_MAX; count++) {
		pids[count] = fork();
		check(pids[count] < 0, "fork");
		if (pids[count] == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			prctl(PR_SET_NAME, args[1 + count]);
			for (;;)
				;
		}
	}
	usleep(300000);
	for (int i = 0; i < count; i++) {
		used_by[i] = used_ns(pids[i]);
		begin_ns[i] = now_ns(CLOCK_MONOTONIC);
	}
	usleep((useconds_t)(seconds * 1e6));
	for (int i = 0; i < count; i++) {
		double took = (double)(now_ns(CLOCK_MONOTONIC) - begin_ns[i]);

		printf("%s %d %.3f\n", args[1 + i], sched_getscheduler(pids[i]) & ~SCHED_RESET_ON_FORK,
		       100 * (double)(used_ns(pids[i]) - used_by[i]) / took);
	}
	for (int i = 0; i < count; i++) {
		kill(pids[i], SIGKILL);
		waitpid(pids[i], NULL, 0);
	}
	return 0;
}

/* ---- secret */

static int secret(char **args)
{
	bool is_plain = args[0] && args[1];
	char byte = 'x';
	int ends[2];

	check(!args[0], "a file");
	check(is_plain ? pipe(ends) : socketpair(AF_UNIX, SOCK_STREAM, 0, ends), "a channel");
	check(write(ends[1], &byte, 1) != 1, "write");
	check((is_plain ? read(ends[0], &byte, 1) : recv(ends[0], &byte, 1, 0)) != 1, "read");
	if (open(args[0], O_RDONLY | O_CLOEXEC) < 0 && errno != ENOENT)
		perror(args[0]);
	if (write(STDOUT_FILENO, "went on\n", 8) != 8)
		return 1;
	return 0;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*run)(char **args);
	} studies[] = { { "inversion", inversion }, { "share", share }, { "secret", secret } };

	for (size_t i = 0; argc > 1 && i < sizeof studies / sizeof *studies; i++) {
		if (strcmp(argv[1], studies[i].name) == 0)
			return studies[i].run(argv + 2);
	}
	fprintf(stderr, "usage: studies inversion | share SECONDS NAME... | secret FILE [plain]\n");
	return 2;
}
