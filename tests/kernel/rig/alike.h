/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef ALIKE_H
#define ALIKE_H

/*
 * Which event types come to the same program but for a number in a condition, such as that of a system call: of these
 * the verifier need see only one.
 */

#include "event/type.h"

struct alike {
	char **texts;
	size_t count, capacity;
};

/* Whether a type like this one was asked about before. Out of memory: false, so that it is looked at. */
bool alike_before(struct alike *alike, const struct event_type *type);
void alike_fini(struct alike *alike);

#endif
