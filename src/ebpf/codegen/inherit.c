// SPDX-License-Identifier: BSD-2-Clause
/*
 * Copies a machine's instance for another key. The copy is made aside, and a place taken for it, while the original's
 * bucket is locked; when that lock was given back, the other key's bucket is locked, and the copy goes to its place
 * unless there is an instance with its key. So no two locks are held at once; an event of the other key may come in
 * between.
 */

#include "ebpf/codegen/machine.h"

static bool inherits(const struct program_transition *transition)
{
	return transition->flags & PROGRAM_COPY;
}

/* The copy in r8 has a place, or is to have one, unless its key is that of its original in r7. */
static void keep_if_other_key(struct emit *emit)
{
	struct ebpf_asm *as = emit->as;
	uint32_t other = ebpf_label(as), done = ebpf_label(as);

	ebpf_mov(as, R6, R8);
	emit_compare_runs(emit, 0, other);
	ebpf_jump(as, done);
	ebpf_bind(as, other);
	emit_control(emit, R1);
	ebpf_load(as, BPF_DW, R0, R1, CONTROL(used));
	memory_frame_put(as, FRAME(last), R0);
	emit_take_ahead(emit, emit->rule->flags & PROGRAM_RULE_REPLACE);
	ebpf_alu_imm(as, BPF_ADD, R8, 1);
	memory_frame_put(as, FRAME(copied), R8);
	ebpf_bind(as, done);
	ebpf_load(as, BPF_DW, R6, R9, FRAME(record));
}

/* What the transition makes of the instance in r7, aside. */
static void copy_to_scratch(struct emit *emit, const struct program_transition *transition)
{
	struct ebpf_asm *as = emit->as;
	struct ebpf_words slots = { R8, R7, sizeof(struct matcher_run), sizeof(struct matcher_run),
				    emit->plan->area_bytes / 8 };

	emit_scratch(emit, R8);
	ebpf_lower_copy(&emit->lower, &slots);
	emit_set_slots(emit, R8, sizeof(struct matcher_run));
	codegen_actions(emit, transition);
	ebpf_store_imm(as, BPF_DW, R8, RUN(next), 0);
	ebpf_store_imm(as, BPF_W, R8, RUN(bucket), 0);
	ebpf_store_imm(as, BPF_W, R8, RUN(state), (int32_t)transition->target);
	if (emit->rule->flags & PROGRAM_RULE_REPLACE) { /* its original is not idle */
		emit_now(emit);
		ebpf_store(as, BPF_DW, R7, RUN(first_ts), R0);
	}
	emit_now(emit);
	ebpf_store(as, BPF_DW, R8, RUN(first_ts), R0);
	ebpf_store(as, BPF_DW, R8, RUN(made), R0);
	ebpf_load(as, BPF_W, R0, R7, RUN(epoch));
	ebpf_store(as, BPF_W, R8, RUN(epoch), R0);
	emit_set_slots(emit, R7, sizeof(struct matcher_run));
	keep_if_other_key(emit);
}

/* The first that fits of the transitions that copies take. */
void codegen_try_inherits(struct emit *emit, uint32_t state, const struct program_transition *transitions,
			  uint32_t count)
{
	uint32_t done = ebpf_label(emit->as);

	for (uint32_t i = 0; i < count; i++) {
		uint32_t next = ebpf_label(emit->as);

		if (!inherits(&transitions[i]))
			continue;
		codegen_note_transition(emit, state, &transitions[i], "copy if", transitions[i].fit);
		codegen_require_fit(emit, &transitions[i], next);
		emit_why_taken(emit, state, &transitions[i]);
		if (plan_lives_on(&transitions[i]))
			copy_to_scratch(emit, &transitions[i]);
		ebpf_jump(emit->as, done);
		ebpf_bind(emit->as, next);
	}
	ebpf_bind(emit->as, done);
}
