// SPDX-License-Identifier: BSD-2-Clause
/*
 * Waits in a system call below functions with names, with frame pointers: `plant-stack slow [MS]` in one that takes
 * MS ms (150) in stack_planted_wait, `plant-stack fast` in one that is over at once, `plant-stack storm COUNT` makes
 * COUNT calls of getpgid there, `plant-stack last` ends with one.
 */

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

int stack_planted_outer(int (*what)(long), long argument);
int stack_planted_wait(long ms);
int stack_planted_ask(long pid);

/*
 * A call by the C library would look like one of stack_planted_outer: the library has no frame pointers, so whoever
 * called it is left out.
 */
static long call(long number, long a, long b, long c)
{
#if defined(__x86_64__)
	long result;

	__asm__ volatile("syscall" : "=a"(result) : "0"(number), "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
	return result;
#else
	return syscall(number, a, b, c);
#endif
}

/* Reads from a pipe into which somebody else writes after a while. */
__attribute__((noinline)) int stack_planted_wait(long ms)
{
	int ends[2];
	char byte;

	if (pipe(ends))
		return 1;
	pid_t child = fork();

	if (child == 0) {
		usleep((useconds_t)ms * 1000);
		_exit(write(ends[1], "x", 1) != 1);
	}
	long got = call(SYS_read, ends[0], (long)&byte, 1);

	waitpid(child, NULL, 0);
	return got != 1;
}

__attribute__((noinline)) int stack_planted_ask(long pid)
{
	return call(SYS_getpgid, pid, 0, 0) >= 0;
}

__attribute__((noinline)) int stack_planted_outer(int (*what)(long), long argument)
{
	int result = what(argument);

	__asm__ volatile("" ::: "memory"); /* no tail call: the frame stays */
	return result;
}

int main(int count, char **arguments)
{
	const char *what = count > 1 ? arguments[1] : "";
	long number = count > 2 ? strtol(arguments[2], NULL, 10) : 150;
	int result = 0;

	if (strcmp(what, "slow") == 0)
		return stack_planted_outer(stack_planted_wait, number);
	if (strcmp(what, "fast") == 0)
		return stack_planted_outer(stack_planted_wait, 0);
	if (strcmp(what, "storm") == 0) {
		for (long i = 0; i < number && !result; i++)
			result = stack_planted_outer(stack_planted_ask, 4000001);
		usleep(50000);
		return result;
	}
	if (strcmp(what, "last") == 0) {
		result = stack_planted_outer(stack_planted_ask, 4000001);
		call(SYS_exit_group, result, 0, 0);
	}
	fprintf(stderr, "plant-stack: slow [MS] | fast | storm COUNT | last\n");
	return 2;
}
