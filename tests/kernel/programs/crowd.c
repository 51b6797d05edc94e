// SPDX-License-Identifier: BSD-2-Clause
/*
 * A process with very many children that stay, for rules that follow each: crowd COUNT FILE. They share its memory, so
 * each costs a stack and little more. When all are there it makes FILE; they end with it, however it ends, and it ends
 * at a signal, or after a minute. Status 77: there is no room for so many here.
 */

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { STACK_BYTES = 4096, STAYS_S = 60 };

static int stay(void *context)
{
	(void)context;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;)
		pause();
	return 0;
}

int main(int argc, char **argv)
{
	size_t count = argc == 3 ? strtoul(argv[1], NULL, 10) : 0;
	char *stacks;

	if (!count)
		return 2;
	alarm(STAYS_S);
	signal(SIGCHLD, SIG_IGN);
	stacks = mmap(NULL, count * STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (stacks == MAP_FAILED)
		return 77;
	for (size_t i = 1; i <= count; i++) {
		if (clone(stay, stacks + i * STACK_BYTES, CLONE_VM | CLONE_FS | CLONE_FILES | SIGCHLD, NULL) < 0) {
			fprintf(stderr, "crowd: child %zu of %zu: errno %d\n", i, count, errno);
			return 77;
		}
	}
	if (close(open(argv[2], O_WRONLY | O_CREAT, 0644)))
		return 99;
	for (;;)
		pause();
}
