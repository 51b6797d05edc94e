// SPDX-License-Identifier: BSD-2-Clause
/* Jumps to the code of a run's state. */

#include "ebpf/codegen/codegen.h"

#include "base/alloc.h"

#include <errno.h>

enum { LINEAR_STATES = 4 };

/* Goes to the code of the run's state, which is in r0: a binary search where there are many. */
static void dispatch_on_state(struct emit *emit, const uint32_t *states, const uint32_t *labels, uint32_t count,
			      uint32_t none)
{
	struct ebpf_asm *as = emit->as;

	if (count <= LINEAR_STATES) {
		for (uint32_t i = 0; i < count; i++)
			ebpf_jump_if_imm(as, BPF_JEQ, R0, (int32_t)states[i], labels[i]);
		ebpf_jump(as, none);
		return;
	}
	uint32_t upper = ebpf_label(as), half = count / 2;

	ebpf_jump_if_imm(as, BPF_JGE, R0, (int32_t)states[half], upper);
	dispatch_on_state(emit, states, labels, half, none);
	ebpf_bind(as, upper);
	dispatch_on_state(emit, states + half, labels + half, count - half, none);
}

void codegen_step_states(struct emit *emit, const struct plan_walk *walk, const struct emit_exits *exits)
{
	uint32_t *labels = alloc_zero(walk->state_count, sizeof *labels);

	if (!labels)
		ebpf_asm_fail(emit->as, -ENOMEM);
	for (uint32_t i = 0; i < walk->state_count && labels; i++)
		labels[i] = ebpf_label(emit->as);
	if (walk->state_count && labels) {
		ebpf_load(emit->as, BPF_H, R0, R7, RUN(state));
		dispatch_on_state(emit, walk->states, labels, walk->state_count, exits->stay);
	}
	for (uint32_t i = 0; i < walk->state_count && labels; i++) {
		ebpf_bind(emit->as, labels[i]);
		codegen_step(emit, walk->states[i], exits);
	}
	alloc_free(labels);
}
