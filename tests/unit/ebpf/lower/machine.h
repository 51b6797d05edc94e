/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef UNIT_EBPF_MACHINE_H
#define UNIT_EBPF_MACHINE_H

/* A BPF machine for tests: arithmetic, memory, jumps, functions, bpf_loop. Pointers are those of this process. */

#include "ebpf/asm/asm.h"

enum { MACHINE_STACK_BYTES = 512, MACHINE_FRAMES = 8, MACHINE_MAP = 7 };

struct machine {
	uint64_t r[11];
	uint8_t stack[MACHINE_FRAMES][MACHINE_STACK_BYTES];
	uint32_t depth, steps; /* of calls; of all instructions */
	const void *map;       /* the value of the map MACHINE_MAP */
};

/* Runs code from its first instruction until it exits; r10 is set here. A test failure where it cannot. */
void machine_run(struct machine *machine, const struct ebpf_code *code);

#endif
