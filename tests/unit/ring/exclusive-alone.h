/* SPDX-License-Identifier: BSD-2-Clause */
/* The exclusive writer as a program uses it that has nothing else of ours, in C11 and C++11; compiled, not run. */

#include "ring/exclusive.h"

static inline void write_one(struct ring_exclusive *writer, uint64_t now)
{
	uint64_t *payload = ring_exclusive_reserve(writer, 2);

	if (!payload)
		return;
	payload[0] = 1;
	payload[1] = 2;
	ring_exclusive_commit(writer, 1, now);
}
