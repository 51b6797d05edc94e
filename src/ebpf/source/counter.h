/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef EBPF_SOURCE_COUNTER_H
#define EBPF_SOURCE_COUNTER_H

/* What a unit's program counts, per CPU, before what its records need: an array map of one value, of stride bytes each.
 */

#include "ebpf/path/value.h"

#include <stdint.h>

struct source_counters {
	uint64_t events;
	uint64_t calls_32bit; /* of 32-bit code, in scope: no event */
};

/* Adds 1 to the counter at offset of what reg points to. r0 is lost. */
void source_emit_count(struct ebpf_asm *as, uint8_t reg, int32_t offset);

#endif
