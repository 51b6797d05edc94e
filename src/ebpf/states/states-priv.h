/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef EBPF_STATES_STATES_PRIV_H
#define EBPF_STATES_STATES_PRIV_H

/* What the programs and their reader agree on. */

#include "ebpf/asm/asm.h"
#include "ebpf/states/states.h"

#include <stdbool.h>

enum { STATES_THREADS_MAX = 32768, STATES_PROCESSES_MAX = 8192 };

/* By tid. */
struct states_thread {
	uint64_t since;
	uint32_t state; /* enum states_state */
	uint32_t pid;
};

/* By pid, per CPU. */
struct states_sums {
	uint64_t ns[4]; /* by enum states_state; a power of two, which the verifier can see */
	uint64_t switches;
	char comm[STATES_COMM_BYTES];
};

_Static_assert(sizeof(struct states_thread) == 16, "as the programs have it");
_Static_assert(sizeof(struct states_sums) == 56, "as the programs have it");
_Static_assert(STATES_COUNT <= 4, "as many sums as there are");

struct states_maps {
	int threads, sums, missed;
	int current; /* per CPU, the tid of who runs there; 8 bytes */
};

/* Offsets in the kernel's task_struct, and where sched_switch has the state of who leaves. */
struct states_kernel {
	uint32_t pid, tgid, state;
	bool has_argument; /* the fourth argument is the state (5.18) */
};

void states_emit_switch(struct ebpf_asm *as, const struct states_maps *maps, const struct states_kernel *kernel);
void states_emit_waking(struct ebpf_asm *as, const struct states_maps *maps, const struct states_kernel *kernel);

#endif
