// SPDX-License-Identifier: BSD-2-Clause
/*
 * Plants behaviour in a process of its own, for the live tests: each scenario makes exactly the system calls, forks,
 * faults and waits that its name says, once, so that a rule has something to find or a near miss to pass over.
 */

#include <errno.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void check(int bad, const char *what)
{
	if (bad) {
		perror(what);
		exit(99);
	}
}

static long number(char **args, int index, long otherwise)
{
	return args[index] ? strtol(args[index], NULL, 10) : otherwise;
}

static void sleep_ms(long ms)
{
	struct timespec wait = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000 };

	syscall(SYS_nanosleep, &wait, NULL);
}

/* Calls the named bare system calls in order: "pid" "uid" "gid" "ppid" or a pause in ms. */
static int calls(char **args)
{
	for (; *args; args++) {
		if (!strcmp(*args, "pid"))
			syscall(SYS_getpid);
		else if (!strcmp(*args, "uid"))
			syscall(SYS_getuid);
		else if (!strcmp(*args, "gid"))
			syscall(SYS_getgid);
		else if (!strcmp(*args, "ppid"))
			syscall(SYS_getppid);
		else
			sleep_ms(strtol(*args, NULL, 10));
	}
	return 0;
}

/* sleep MS [TIMES] */
static int sleeps(char **args)
{
	for (long i = number(args, 1, 1); i > 0; i--)
		sleep_ms(number(args, 0, 100));
	return 0;
}

/* fork [PROGRAM]: a child that runs PROGRAM, or one that just ends. */
static int forks(char **args)
{
	pid_t child = fork();
	int status;

	check(child < 0, "fork");
	if (child == 0) {
		if (args[0])
			execl(args[0], args[0], (char *)NULL);
		_exit(args[0] ? 98 : 0);
	}
	check(waitpid(child, &status, 0) != child, "waitpid");
	return WIFEXITED(status) && WEXITSTATUS(status) != 98 ? 0 : 97;
}

/* futex timeout | mismatch */
static int futex(char **args)
{
	uint32_t word = 0;
	struct timespec wait = { .tv_nsec = 20000000 };
	uint32_t expected = args[0] && !strcmp(args[0], "timeout") ? 0 : 1;

	syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, expected, &wait, NULL, 0);
	return 0;
}

/* faults PAGES [PAUSE_MS_EVERY_100] */
static int faults(char **args)
{
	long pages = number(args, 0, 1000), pause = number(args, 1, 0), page = sysconf(_SC_PAGESIZE);
	char *memory = mmap(NULL, (size_t)(pages * page), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	check(memory == MAP_FAILED, "mmap");
	madvise(memory, (size_t)(pages * page), MADV_NOHUGEPAGE);
	for (long i = 0; i < pages; i++) {
		((volatile char *)memory)[i * page] = 1;
		if (pause && i % 100 == 99)
			sleep_ms(pause);
	}
	return 0;
}

static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	check(sched_setaffinity(0, sizeof set, &set), "sched_setaffinity");
}

/* Waits for the other side's byte, does its call, and wakes the other side. */
static void turn(int in, int out, long call)
{
	char byte;

	check(read(in, &byte, 1) != 1, "read");
	syscall(call);
	check(write(out, &byte, 1) != 1, "write");
}

/*
 * interleave CPU_A CPU_B both | split: two processes take turns; with "both" each calls getpid and then getgid, the
 * turns interleaved; with "split" one calls only getpid, the other only getgid.
 */
static int interleave(char **args)
{
	int there[2], back[2], split = args[2] && !strcmp(args[2], "split"), status;
	long first[2] = { SYS_getpid, split ? SYS_getpid : SYS_getgid };
	long second[2] = { split ? SYS_getgid : SYS_getpid, SYS_getgid };

	check(pipe(there) || pipe(back), "pipe");
	pid_t child = fork();
	check(child < 0, "fork");
	if (child == 0) {
		pin((int)number(args, 1, 0));
		for (int i = 0; i < 2; i++)
			turn(there[0], back[1], second[i]);
		_exit(0);
	}
	pin((int)number(args, 0, 0));
	for (int i = 0; i < 2; i++) {
		char byte = 1;

		syscall(first[i]);
		check(write(there[1], &byte, 1) != 1, "write");
		check(read(back[0], &byte, 1) != 1, "read");
	}
	check(waitpid(child, &status, 0) != child, "waitpid");
	return status;
}

static void ignore(int number_of_signal)
{
	(void)number_of_signal;
}

/* signal: a child gets SIGUSR1 and handles it. */
static int signals(char **args)
{
	int ready[2], status;
	char byte = 0;

	(void)args;
	check(pipe(ready), "pipe");
	pid_t child = fork();
	check(child < 0, "fork");
	if (child == 0) {
		signal(SIGUSR1, ignore);
		check(write(ready[1], &byte, 1) != 1, "write");
		pause();
		_exit(0);
	}
	check(read(ready[0], &byte, 1) != 1, "read");
	sleep_ms(20);
	check(kill(child, SIGUSR1), "kill");
	check(waitpid(child, &status, 0) != child, "waitpid");
	return status;
}

static const struct scenario {
	const char *name;
	int (*run)(char **args);
} scenarios[] = {
	{ "calls", calls },   { "sleep", sleeps },          { "fork", forks },     { "futex", futex },
	{ "faults", faults }, { "interleave", interleave }, { "signal", signals },
};

int main(int argc, char **argv)
{
	for (size_t i = 0; argc > 1 && i < sizeof scenarios / sizeof scenarios[0]; i++) {
		if (!strcmp(argv[1], scenarios[i].name))
			return scenarios[i].run(argv + 2);
	}
	fprintf(stderr, "usage: plant calls|sleep|fork|futex|faults|interleave|signal ...\n");
	return 2;
}
