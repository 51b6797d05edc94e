// SPDX-License-Identifier: BSD-2-Clause
/*
 * Fires the timer of a machine's instance: the transitions of its state for it, with a record that says when it was due
 * and who moved the instance last. The sweep does so one timer at a time; an event that comes before the sweep sees to
 * it itself, so that nothing depends on how late the sweep is.
 */

#include "ebpf/codegen/machine.h"

/* Where slot lies in the run in r7. */
static int32_t timer_slot_at(const struct emit *emit, uint32_t slot)
{
	return (int32_t)(sizeof(struct matcher_run) + program_slots(emit->program, emit->rule)[slot].offset);
}

void codegen_load_timer(struct emit *emit, uint8_t dst)
{
	ebpf_load(emit->as, BPF_DW, dst, R7, timer_slot_at(emit, emit->rule->timer_slot));
}

/*
 * Who dozes has looked for the last time after it said so; what was stored before this is seen by that look, or this
 * sees that it dozes: the exchange is a barrier. A record that is thrown away wakes as well as any other. Where the
 * ring has no room for it, user space was woken by those in it.
 */
void codegen_wake(struct emit *emit)
{
	const struct memory_region *work = &emit->context->memory->work;
	struct ebpf_asm *as = emit->as;
	uint32_t awake = ebpf_label(as);

	if (emit->context->silent || !emit->context->plan->live)
		return;
	ebpf_load_value(as, R1, emit->context->memory->maps[work->map].fd, work->off);
	ebpf_mov_imm(as, R0, 1);
	ebpf_mov_imm(as, R2, 0);
	ebpf_atomic_exchange_if(as, BPF_DW, R1, offsetof(struct matcher_work, dozing), R2);
	ebpf_jump_if_imm(as, BPF_JNE, R0, 1, awake);
	ebpf_load_map(as, R1, emit->context->memory->ring_fd);
	ebpf_mov_imm(as, R2, 8);
	ebpf_mov_imm(as, R3, 0);
	ebpf_call(as, BPF_FUNC_ringbuf_reserve);
	ebpf_jump_if_imm(as, BPF_JEQ, R0, 0, awake);
	ebpf_mov(as, R1, R0);
	ebpf_mov_imm(as, R2, BPF_RB_FORCE_WAKEUP);
	ebpf_call(as, BPF_FUNC_ringbuf_discard);
	ebpf_bind(as, awake);
}

/* User space is told when the timer of the instance in r7 goes off. Leaves for none where it has none. */
void codegen_note_timer(struct emit *emit, uint32_t none)
{
	struct ebpf_asm *as = emit->as;
	uint32_t sooner = ebpf_label(as);

	if (!emit->plan->timed)
		return;
	ebpf_note(as, "machine %s: when it is to be looked at", program_text(emit->program, emit->rule->name));
	codegen_load_timer(emit, R1);
	ebpf_jump_if_imm(as, BPF_JEQ, R1, 0, none);
	emit_cpu_line(emit, R2, none);
	codegen_load_timer(emit, R1);
	ebpf_load(as, BPF_DW, R0, R2, CPU(due));
	ebpf_jump_if_imm(as, BPF_JEQ, R0, 0, sooner);
	ebpf_jump_if(as, BPF_JLE, R0, R1, none);
	ebpf_bind(as, sooner);
	ebpf_store(as, BPF_DW, R2, CPU(due), R1);
	codegen_wake(emit);
}

void codegen_clear_timer(struct emit *emit)
{
	struct ebpf_asm *as = emit->as;
	uint32_t later = ebpf_label(as);

	codegen_load_timer(emit, R1);
	ebpf_load(as, BPF_DW, R0, R6, HEADER(ts));
	ebpf_jump_if(as, BPF_JGT, R1, R0, later);
	ebpf_store_imm(as, BPF_DW, R7, timer_slot_at(emit, emit->rule->timer_slot), 0);
	ebpf_bind(as, later);
}
