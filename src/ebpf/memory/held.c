// SPDX-License-Identifier: BSD-2-Clause
/*
 * The lock that an event holds while a rule deals with it, so that some order of the events explains what they did: in
 * a narrow rule that of the bucket, in a wide one that of the first bucket (plan/event.c says which rules are wide);
 * where buckets share locks, that of the stripe.
 */

#include "ebpf/memory/emit.h"

/* r8 = what is locked: the frame's bucket, or the first one. */
void emit_load_held(struct emit *emit)
{
	if (!emit->plan->wide && emit->plan->stripe_slots) {
		ebpf_load(emit->as, BPF_DW, R8, R9, FRAME(lock));
		return;
	}
	if (!emit->plan->wide) {
		ebpf_load(emit->as, BPF_DW, R8, R9, FRAME(bucket));
		return;
	}
	ebpf_mov_imm(emit->as, R1, 0);
	emit_bucket_address(emit, R8, R1);
}

void emit_lock_at(struct emit *emit)
{
	struct ebpf_asm *as = emit->as;

	if (emit->plan->stripe_slots) {
		ebpf_mov(as, R2, R1);
		ebpf_alu_imm(as, BPF_RSH, R2, (int32_t)emit->plan->inner_bits);
		ebpf_alu_imm(as, BPF_LSH, R2, (int32_t)emit->plan->inner_bits);
		emit_bucket_address(emit, R8, R2);
		memory_frame_point(as, FRAME(lock), R8);
	}
	emit_bucket_address(emit, R8, R1);
	memory_frame_point(as, FRAME(bucket), R8);
}

/* Locks it; leaves for busy when it cannot be had. Overwrites r0-r5, r8. */
void emit_lock_held(struct emit *emit, uint32_t busy)
{
	emit_load_held(emit);
	emit_lock(emit, R8, busy);
}

void emit_let_go(struct emit *emit)
{
	struct ebpf_asm *as = emit->as;

	emit_load_held(emit);
	if (emit->plan->wide && emit->event->moves) {
		ebpf_load(as, BPF_W, R0, R8, BUCKET(moves));
		ebpf_alu_imm(as, BPF_ADD, R0, 1);
		ebpf_store(as, BPF_W, R8, BUCKET(moves), R0);
	}
	emit_unlock(emit, R8);
}
