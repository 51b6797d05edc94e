// SPDX-License-Identifier: BSD-2-Clause
/*
 * Makes system calls below functions with names, with frame pointers: `plant-stack slow [MS]` one in stack_planted_wait
 * that takes MS ms (150), `plant-stack storm COUNT` COUNT calls of getpgid(4000001) in stack_planted_ask; both then
 * wait for the end of their input. `plant-stack last` makes one and is gone.
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
 * A call by the C library would hide who makes it: the library has no frame pointers, so whoever calls it is left out.
 * Asking for the frame's address gives one to a function that calls nobody else.
 */
static inline long call(long number, long a, long b, long c)
{
#if defined(__x86_64__)
	long result;

	__asm__ volatile("" ::"r"(__builtin_frame_address(0)));
	__asm__ volatile("syscall" : "=a"(result) : "0"(number), "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
	return result;
#else
	return syscall(number, a, b, c);
#endif
}

/* Reads from a pipe into which somebody else writes after a while. */
__attribute__((noipa)) int stack_planted_wait(long ms)
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

__attribute__((noipa)) int stack_planted_ask(long pid)
{
	return call(SYS_getpgid, pid, 0, 0) >= 0;
}

__attribute__((noipa)) int stack_planted_outer(int (*what)(long), long argument)
{
	int result = what(argument);

	__asm__ volatile("" ::: "memory"); /* no tail call: the frame stays */
	return result;
}

static void wait_for_end(void)
{
	char bytes[64];

	while (read(0, bytes, sizeof bytes) > 0)
		;
}

int main(int count, char **arguments)
{
	const char *what = count > 1 ? arguments[1] : "";
	long number = count > 2 ? strtol(arguments[2], NULL, 10) : 150;
	int result = 0;

	if (strcmp(what, "last") == 0) {
		result = stack_planted_outer(stack_planted_ask, 4000001);
		_exit(result);
	}
	if (strcmp(what, "slow") == 0) {
		result = stack_planted_outer(stack_planted_wait, number);
	} else if (strcmp(what, "storm") == 0) {
		for (long i = 0; i < number && !result; i++)
			result = stack_planted_outer(stack_planted_ask, 4000001);
	} else {
		fprintf(stderr, "plant-stack: slow [MS] | storm COUNT | last\n");
		return 2;
	}
	wait_for_end();
	return result;
}
