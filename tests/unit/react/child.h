/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TESTS_UNIT_REACT_CHILD_H
#define TESTS_UNIT_REACT_CHILD_H

/* Processes of a test's own that something can be done to. */

#include <sys/types.h>

/* A child that sleeps, and dies with this process. */
pid_t spawn(void);

/* Stops a child, and waits until it is. */
void stop(pid_t pid);

/* Kills a child and waits for its end. */
void end(pid_t pid);

#endif
