// SPDX-License-Identifier: BSD-2-Clause
/*
 * The target of the verdict tests: each thread calls getpid again and again and counts before and after each call.
 *
 * usage: asked FILE THREADS [COUNT [PAUSE_US]]   COUNT 0: for ever
 */

#include "asked.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
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
