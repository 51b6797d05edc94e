/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TESTS_API_PUPPET_H
#define TESTS_API_PUPPET_H

/* A process of the test's own that does what it is told: something for rules to find. It goes when the test goes. */

#include <sys/types.h>

struct puppet {
	pid_t pid;
	int to, from;
};

/* Returns 0 or -1. */
int puppet_start(struct puppet *puppet);

/* In place of a count: one call of getpgid. */
enum { PUPPET_OTHER = 255 };

/* Lets it call getppid count times (at most 254), and returns when it has. Returns 0 or -1. */
int puppet_call(const struct puppet *puppet, unsigned char count);

/* Ends and reaps it. */
void puppet_stop(struct puppet *puppet);

#endif
