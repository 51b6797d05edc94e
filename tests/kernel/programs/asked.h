/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TESTS_KERNEL_ASKED_H
#define TESTS_KERNEL_ASKED_H

/* What the target of the verdict tests tells of its own progress, in a file that others map. */

#include <stdint.h>

enum { ASKED_THREADS_MAX = 16, ASKED_STARVED_CALLS = 100, ASKED_STARVED_BYTES = 64 };

struct asked {
	uint64_t handled; /* SIGTERM and SIGUSR1 that were handled */
	struct {
		uint64_t before, after; /* calls begun and come back from, in user mode */
		uint64_t pad[6];
	} threads[ASKED_THREADS_MAX];
};

#endif
