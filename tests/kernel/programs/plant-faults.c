// SPDX-License-Identifier: BSD-2-Clause
/*
 * Writes to a page that it may not write to. The handler of SIGSEGV returns so that the same instruction faults again,
 * and allows it in the end.
 *
 * usage: plant-faults TIMES
 */

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

static volatile char *page;
static volatile sig_atomic_t left;

static void handle(int signal)
{
	(void)signal;
	if (--left <= 0)
		mprotect((void *)page, 4096, PROT_READ | PROT_WRITE);
}

int main(int argc, char **argv)
{
	left = argc > 1 ? atoi(argv[1]) : 1;
	page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (page == MAP_FAILED) {
		perror("mmap");
		return 1;
	}
	if (*page) /* now it is there */
		return 1;
	sigaction(SIGSEGV, &(struct sigaction){ .sa_handler = handle }, NULL);
	*page = 1;
	return 0;
}
