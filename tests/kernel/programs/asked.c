// SPDX-License-Identifier: BSD-2-Clause
/*
 * The target of the verdict tests: each thread calls getpid again and again and counts before and after each call.
 *
 * usage: asked FILE THREADS [COUNT [PAUSE_US]]   COUNT 0: for ever
 *        asked FILE starved   Thread 1 begins a call that takes it to a processor where it gets no turn; then thread 0
 *                             calls getpid ASKED_STARVED_CALLS times. Ends with 77 where there is only one processor.
 */

#include "asked.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static struct asked *shared;
static uint64_t count;
static struct timespec pause_time;

static void on_signal(int signal)
{
	__atomic_fetch_add(&shared->handled, 1, __ATOMIC_SEQ_CST);
	if (signal == SIGTERM)
		_exit(7);
}

static void *call(void *argument)
{
	size_t index = (size_t)argument;

	for (uint64_t i = 0; !count || i < count; i++) {
		__atomic_store_n(&shared->threads[index].before, i + 1, __ATOMIC_SEQ_CST);
		syscall(SYS_getpid);
		__atomic_store_n(&shared->threads[index].after, i + 1, __ATOMIC_SEQ_CST);
		if (pause_time.tv_nsec)
			nanosleep(&pause_time, NULL);
	}
	return NULL;
}

/* How long the taken processor is, and how long the starved thread has to get there. */
enum { TAKEN_MS = 300, MOVING_MS = 5, TAKER = 2 };

static int taken_cpu = -1;

static void spin(long ms)
{
	struct timespec begin, now;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	do
		clock_gettime(CLOCK_MONOTONIC, &now);
	while ((now.tv_sec - begin.tv_sec) * 1000 + (now.tv_nsec - begin.tv_nsec) / 1000000 < ms);
}

static int pin(int cpu, size_t bytes)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((size_t)cpu, &set);
	return sched_setaffinity(0, bytes, &set);
}

static void begin(size_t index)
{
	__atomic_store_n(&shared->threads[index].before, 1, __ATOMIC_SEQ_CST);
}

static void await_begin(size_t index)
{
	while (!__atomic_load_n(&shared->threads[index].before, __ATOMIC_SEQ_CST))
		sched_yield();
}

/* Rules know the call by the size of its set: none else has this one. */
static void *go_where_it_is_taken(void *argument)
{
	begin((size_t)argument);
	pin(taken_cpu, ASKED_STARVED_BYTES);
	return NULL;
}

/* Nobody else gets a turn there, for a while. */
static pid_t take_cpu(void)
{
	const struct sched_param first = { .sched_priority = 1 };
	pid_t pid = fork();

	if (pid)
		return pid;
	int result = pin(taken_cpu, sizeof(cpu_set_t)) || sched_setscheduler(0, SCHED_FIFO, &first);

	begin(TAKER);
	if (!result)
		spin(TAKEN_MS);
	_exit(result);
}

static int starve(void)
{
	cpu_set_t set;
	pthread_t thread;
	int status = -1, free_cpu = -1;

	if (sched_getaffinity(0, sizeof set, &set))
		return 2;
	for (int i = 0; i < CPU_SETSIZE; i++) {
		if (!CPU_ISSET((size_t)i, &set))
			continue;
		free_cpu = free_cpu < 0 ? i : free_cpu;
		taken_cpu = i;
	}
	if (taken_cpu == free_cpu)
		return 77;
	if (pin(free_cpu, sizeof(cpu_set_t)))
		return 2;
	pid_t taker = take_cpu();

	await_begin(TAKER);
	if (taker < 0 || pthread_create(&thread, NULL, go_where_it_is_taken, (void *)1))
		return 2;
	await_begin(1);
	spin(MOVING_MS);
	count = ASKED_STARVED_CALLS;
	call((void *)0);
	pthread_join(thread, NULL);
	return waitpid(taker, &status, 0) == taker && status == 0 ? 0 : 2;
}

int main(int argc, char **argv)
{
	pthread_t threads[ASKED_THREADS_MAX];
	int fd = argc > 2 ? open(argv[1], O_RDWR | O_CREAT, 0600) : -1;
	size_t thread_count = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;

	if (fd < 0 || thread_count > ASKED_THREADS_MAX || ftruncate(fd, sizeof *shared))
		return 2;
	shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (shared == MAP_FAILED)
		return 2;
	count = argc > 3 ? strtoull(argv[3], NULL, 10) : 0;
	pause_time.tv_nsec = argc > 4 ? strtol(argv[4], NULL, 10) * 1000 : 0;
	if (!strcmp(argv[2], "starved"))
		return starve();
	signal(SIGTERM, on_signal);
	signal(SIGUSR1, on_signal);
	for (size_t i = 1; i < thread_count; i++)
		if (pthread_create(&threads[i], NULL, call, (void *)i))
			return 2;
	call((void *)0);
	for (size_t i = 1; i < thread_count; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
