// SPDX-License-Identifier: BSD-2-Clause
/*
 * Takes the lock that an event holds to its end (memory/held.c) as late as possible. Before that an event looks,
 * without the lock, whether there is anything for it to do. An event that finds nothing in one chain has its place in
 * the order when it looked. One that looks at several could miss a run that is on its way from one to another; so moves
 * are counted, and the counter is looked at again.
 */

#include "ebpf/codegen/codegen.h"

/* Leaves for busy unless the event finds nothing to do; then for none. */
static void look_at_slots(struct emit *emit, uint32_t busy, uint32_t none)
{
	struct ebpf_asm *as = emit->as;
	bool several = emit->event->walk_count > 1;

	ebpf_note(as, "rule %s: is there anything to do", program_text(emit->program, emit->rule->name));
	if (several) {
		emit_load_held(emit);
		ebpf_load(as, BPF_W, R2, R8, BUCKET(moves));
		memory_frame_put(as, FRAME(moves), R2);
	}
	codegen_look_at_walks(emit, busy);
	codegen_look_at_openings(emit, busy);
	if (several) {
#if !defined(__x86_64__) /* elsewhere loads may pass each other: an exchange orders them */
		ebpf_mov_imm(as, R0, 0);
		ebpf_emit(as, insn_atomic(BPF_DW, BPF_XCHG, R9, FRAME(bucket), R0));
#endif
		/* the lock first: it is given back after the move was counted */
		emit_load_held(emit);
		ebpf_load(as, BPF_W, R1, R8, BUCKET(lock));
		ebpf_jump_if_imm(as, BPF_JNE, R1, 0, busy);
		ebpf_load(as, BPF_W, R2, R8, BUCKET(moves));
		ebpf_load(as, BPF_DW, R1, R9, FRAME(moves));
		ebpf_jump_if(as, BPF_JNE, R1, R2, busy);
	}
	codegen_count_openings(emit);
	ebpf_jump(as, none);
}

void codegen_hold(struct emit *emit, uint32_t none)
{
	struct ebpf_asm *as = emit->as;
	uint32_t busy = ebpf_label(as), lost = ebpf_label(as), held = ebpf_label(as);

	look_at_slots(emit, busy, none);
	ebpf_bind(as, busy);
	emit_lock_held(emit, lost);
	ebpf_jump(as, held);
	ebpf_bind(as, lost);
	emit_lose(emit);
	ebpf_jump(as, none);
	ebpf_bind(as, held);
	emit_header_late(emit);
	emit->has_late = true;
}
