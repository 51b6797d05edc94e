// SPDX-License-Identifier: BSD-2-Clause
/*
 * An ordinary program: nothing has frame pointers, and the C library makes the calls. `plant-bare ask` calls getpgid of
 * process 4000001 in bare_planted_ask, called by bare_planted_outer; `deep COUNT` below COUNT calls of
 * bare_planted_deep; `wide KIB` with so much on the stack in between; `nowhere` with a stack pointer where nothing is;
 * `circle` and `maze` in functions whose unwind information leads back to themselves, or computes without end. `thread`
 * in a thread, `signal` in a handler. All then wait for the end of their input; `later` waits for a byte of it first,
 * `last` asks and is gone.
 */

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int bare_planted_ask(void);
int bare_planted_outer(int what);
int bare_planted_deep(int left);
int bare_planted_wide(int kib);

__attribute__((noipa)) int bare_planted_ask(void)
{
	return getpgid(4000001) >= 0;
}

/* Registers that are saved, and variables on the stack, as ordinary functions have them. */
__attribute__((noipa)) int bare_planted_outer(int what)
{
	char text[64];

	snprintf(text, sizeof text, "%d", what);
	int result = bare_planted_ask();

	return result + (int)strlen(text) > 60;
}

__attribute__((noipa)) int bare_planted_deep(int left)
{
	int result = left ? bare_planted_deep(left - 1) : bare_planted_outer(left);

	__asm__ volatile("" ::: "memory"); /* no tail call */
	return result;
}

__attribute__((noipa)) int bare_planted_wide(int kib)
{
	char *room = __builtin_alloca((size_t)kib * 1024);

	memset(room, kib, (size_t)kib * 1024);
	__asm__ volatile("" ::"r"(room) : "memory");
	return bare_planted_outer(room[kib]) + room[1];
}

/* The call itself needs no stack. */
static void ask_from_nowhere(void)
{
#if defined(__x86_64__)
	long number = 121, pid = 4000001;

	__asm__ volatile("mov %%rsp, %%rbx\n\tmov $0x7000, %%esp\n\tsyscall\n\tmov %%rbx, %%rsp"
			 : "+a"(number)
			 : "D"(pid)
			 : "rbx", "rcx", "r11", "memory");
#endif
}

/* In circle the caller is who is called, and has the same stack; in maze an expression jumps to itself. */
#if defined(__x86_64__)
__asm__(".text\n"
	".type bare_planted_circle, @function\n"
	"bare_planted_circle:\n\t.cfi_startproc\n\t.cfi_def_cfa %rsp, 0\n\t.cfi_same_value %rip\n"
	"\tmov $121, %eax\n\tmov $4000001, %edi\n\tsyscall\n\tret\n\t.cfi_endproc\n"
	".size bare_planted_circle, .-bare_planted_circle\n"
	".type bare_planted_maze, @function\n"
	"bare_planted_maze:\n\t.cfi_startproc\n\t.cfi_escape 0x16, 0x10, 0x03, 0x2f, 0xfd, 0xff\n"
	"\tmov $121, %eax\n\tmov $4000001, %edi\n\tsyscall\n\tret\n\t.cfi_endproc\n"
	".size bare_planted_maze, .-bare_planted_maze\n");
void bare_planted_circle(void);
void bare_planted_maze(void);
#else
static void bare_planted_circle(void)
{
}
static void bare_planted_maze(void)
{
}
#endif

static void *bare_planted_thread(void *context)
{
	return bare_planted_outer(1) ? context : NULL;
}

static void ask_in_thread(void)
{
	pthread_t thread;

	if (!pthread_create(&thread, NULL, bare_planted_thread, NULL))
		pthread_join(thread, NULL);
}

static void bare_planted_handler(int number)
{
	if (bare_planted_outer(number))
		abort();
}

static void ask_in_handler(void)
{
	signal(SIGUSR1, bare_planted_handler);
	raise(SIGUSR1);
}

int main(int count, char **arguments)
{
	const char *what = count > 1 ? arguments[1] : "";
	int number = count > 2 ? atoi(arguments[2]) : 0;
	char bytes[64];

	if (strcmp(what, "ask") == 0)
		bare_planted_outer(1);
	else if (strcmp(what, "deep") == 0)
		bare_planted_deep(number);
	else if (strcmp(what, "wide") == 0)
		bare_planted_wide(number);
	else if (strcmp(what, "nowhere") == 0)
		ask_from_nowhere();
	else if (strcmp(what, "circle") == 0)
		bare_planted_circle();
	else if (strcmp(what, "maze") == 0)
		bare_planted_maze();
	else if (strcmp(what, "thread") == 0)
		ask_in_thread();
	else if (strcmp(what, "signal") == 0)
		ask_in_handler();
	else if (strcmp(what, "later") == 0 && read(0, bytes, 1) == 1)
		bare_planted_outer(1);
	else if (strcmp(what, "last") == 0)
		return bare_planted_outer(1);
	else
		return 2;
	while (read(0, bytes, sizeof bytes) > 0)
		;
	return 0;
}
