/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TESTS_KERNEL_GATE_H
#define TESTS_KERNEL_GATE_H

/* A child behind a gate: it is there, and can be observed, before it does anything. It ends with its parent. */

#include <sys/types.h>

struct gate {
	int ends[2];
};

/* As fork, which it calls; if that fails, the process ends with a message. */
pid_t gate_fork(struct gate *gate);

/* The child's: returns once the gate is open; ends the child, with status 3, if it never will be. */
void gate_wait(struct gate *gate);

/* The parent's. gate_open returns 0 or -errno; gate_close is called in any case. */
int gate_open(struct gate *gate);
void gate_close(struct gate *gate);

#endif
