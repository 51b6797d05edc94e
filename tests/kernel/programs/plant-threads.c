// SPDX-License-Identifier: BSD-2-Clause
/*
 * Threads, without frame pointers, that wait or run while another one, main, calls getpgid(4000002); each has called
 * getpgid(4000001) before. All of it ends with the end of the input.
 *
 * usage: plant-threads deadlock  two threads take two locks in opposite order; nobody calls getpgid
 *        plant-threads asleep    a thread sleeps with a lock held
 *        plant-threads running   a thread runs
 *        plant-threads ended     it has ended
 *        plant-threads forked    it is another process, asleep
 *        plant-threads lost      it is asleep, with a stack pointer that points nowhere (77: not on this processor)
 *        plant-threads stopped   it is another process, stopped, with a name that is no text
 *        plant-threads unmapped [FILE]  it is asleep, and what lies above its stack is memory that never comes, or FILE
 *                                (77: the kernel has no userfaultfd)
 */

#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREAD_STACK_BYTES = 64 * 1024, ABOVE_BYTES = 8 * 4096 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t both;
static volatile bool is_over;

void threads_planted_take(pthread_mutex_t *first, pthread_mutex_t *second);
void threads_planted_nap(void);

__attribute__((noipa)) void threads_planted_take(pthread_mutex_t *first, pthread_mutex_t *second)
{
	pthread_mutex_lock(first);
	pthread_barrier_wait(&both);
	pthread_mutex_lock(second);
	__asm__ volatile("" ::: "memory"); /* no tail call: the frame stays */
}

__attribute__((noipa)) static void *threads_planted_first(void *unused)
{
	threads_planted_take(&lock, &other);
	return unused;
}

__attribute__((noipa)) static void *threads_planted_second(void *unused)
{
	threads_planted_take(&other, &lock);
	return unused;
}

__attribute__((noipa)) void threads_planted_nap(void)
{
	sleep(1000);
	__asm__ volatile("" ::: "memory");
}

static void *sleeper(void *unused)
{
	pthread_mutex_lock(&lock);
	getpgid(4000001);
	threads_planted_nap();
	return unused;
}

static void *runner(void *unused)
{
	const struct sched_param urgent = { .sched_priority = 1 };

	pthread_setschedparam(pthread_self(), SCHED_FIFO, &urgent); /* as far as that is allowed */
	getpgid(4000001);
	while (!is_over)
		;
	return unused;
}

static void *ender(void *unused)
{
	getpgid(4000001);
	return unused;
}

/* Comes back from nothing. */
static void *loser(void *unused)
{
	getpgid(4000001);
#ifdef __x86_64__
	__asm__ volatile("mov $4096, %%rsp\n1: mov %0, %%eax\nsyscall\njmp 1b" ::"i"(SYS_pause)
			 : "rax", "rcx", "r11", "memory");
#endif
	return unused;
}

static void stop(void)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, "\033]0;x\007\n\342\200\256\377");
	getpgid(4000001);
	raise(SIGSTOP);
}

static int start(void *(*run)(void *), pthread_attr_t *attributes)
{
	pthread_t thread;

	return pthread_create(&thread, attributes, run, NULL);
}

/* Memory that somebody is to bring and nobody does. */
static bool unmap(uint8_t *memory)
{
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register range = { .range = { (uintptr_t)memory, ABOVE_BYTES },
					 .mode = UFFDIO_REGISTER_MODE_MISSING };

	return fd >= 0 && ioctl(fd, UFFDIO_API, &api) == 0 && ioctl(fd, UFFDIO_REGISTER, &range) == 0;
}

static bool map(uint8_t *memory, const char *path)
{
	int fd = open(path, O_RDONLY);

	return mmap(memory, ABOVE_BYTES, PROT_READ, MAP_PRIVATE | MAP_FIXED, fd, 0) == memory;
}

/* A stack, and that behind it. */
static int start_unmapped(const char *path)
{
	pthread_attr_t attributes;
	uint8_t *memory = mmap(NULL, THREAD_STACK_BYTES + ABOVE_BYTES, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED ||
	    !(path ? map(memory + THREAD_STACK_BYTES, path) : unmap(memory + THREAD_STACK_BYTES)))
		return 77;
	pthread_attr_init(&attributes);
	pthread_attr_setstack(&attributes, memory, THREAD_STACK_BYTES);
	return start(sleeper, &attributes);
}

static int start_what(const char *what, const char *path)
{
	if (strcmp(what, "asleep") == 0)
		return start(sleeper, NULL);
	if (strcmp(what, "running") == 0)
		return start(runner, NULL);
	if (strcmp(what, "ended") == 0)
		return start(ender, NULL);
	if (strcmp(what, "lost") == 0)
#ifdef __x86_64__
		return start(loser, NULL);
#else
		return 77;
#endif
	if (strcmp(what, "stopped") == 0) {
		if (fork() == 0)
			stop();
		return 0;
	}
	if (strcmp(what, "unmapped") == 0)
		return start_unmapped(path);
	if (strcmp(what, "forked") == 0 && fork() == 0)
		sleeper(NULL);
	return strcmp(what, "forked") == 0 ? 0 : 2;
}

int main(int count, char **words)
{
	const char *what = count > 1 ? words[1] : "";
	bool deadly = strcmp(what, "deadlock") == 0;
	int result = 0;
	char byte;

	pthread_barrier_init(&both, NULL, 2);
	if (deadly)
		result = start(threads_planted_first, NULL) || start(threads_planted_second, NULL);
	else
		result = start_what(what, words[2]);
	if (result)
		return result;
	usleep(100000); /* until they are where they stay */
	if (!deadly)
		getpgid(4000002);
	while (read(0, &byte, 1) > 0)
		;
	is_over = true;
	_exit(0);
}
