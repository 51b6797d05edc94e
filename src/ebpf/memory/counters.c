// SPDX-License-Identifier: BSD-2-Clause
/*
 * Generates code that addresses the memory of rules and counts in it. What changes with every run is counted per CPU:
 * without atomics where no program can interrupt another one of the rule.
 */

#include "ebpf/memory/emit.h"

/* dst = the address of byte 0 of region. */
void emit_region(struct emit *emit, uint8_t dst, const struct memory_region *region)
{
	ebpf_load_value(emit->as, dst, emit->context->memory->maps[region->map].fd, region->off);
}

void emit_control(struct emit *emit, uint8_t dst)
{
	emit_region(emit, dst, &emit->at->control);
}

/* dst = the line of the CPU in index, which is below their count. */
void emit_line_of(struct emit *emit, uint8_t dst, uint8_t index)
{
	_Static_assert(sizeof(struct matcher_cpu) == 1 << 6, "shifted below");

	ebpf_mov(emit->as, R0, index);
	ebpf_alu_imm(emit->as, BPF_LSH, R0, 6);
	emit_region(emit, dst, &emit->at->cpus);
	ebpf_alu(emit->as, BPF_ADD, dst, R0);
}

/* dst = this CPU's line of the rule; leaves for unknown if the CPU has none. Overwrites r0-r5. */
void emit_cpu_line(struct emit *emit, uint8_t dst, uint32_t unknown)
{
	ebpf_call(emit->as, BPF_FUNC_get_smp_processor_id);
	ebpf_jump_if_imm(emit->as, BPF_JGE, R0, (int32_t)emit->context->memory->cpu_count, unknown);
	emit_line_of(emit, dst, R0);
}

/* dst = the item of this number, each of bytes, from number 0 at the begin of region. Overwrites r0. */
void emit_item_address(struct emit *emit, const struct memory_region *region, uint32_t bytes, uint8_t dst,
		       uint8_t index)
{
	ebpf_mov(emit->as, dst, index);
	ebpf_alu_imm(emit->as, BPF_MUL, dst, (int32_t)bytes);
	emit_region(emit, R0, region);
	ebpf_alu(emit->as, BPF_ADD, dst, R0);
}

/* dst = the run of this number, which the verifier must know to be within the pool. Overwrites r0. */
void emit_run_address(struct emit *emit, uint8_t dst, uint8_t index)
{
	emit_item_address(emit, &emit->at->runs, emit->at->stride, dst, index);
}

/* dst = the bucket of this number, which lies in its register below their count. Overwrites r0. */
void emit_bucket_address(struct emit *emit, uint8_t dst, uint8_t index)
{
	_Static_assert(sizeof(struct matcher_bucket) == 1 << 4, "shifted below");

	ebpf_mov(emit->as, dst, index);
	ebpf_alu_imm(emit->as, BPF_LSH, dst, 4);
	emit_region(emit, R0, &emit->at->buckets);
	ebpf_alu(emit->as, BPF_ADD, dst, R0);
}

/* Jumps to bad if the number in index is beyond the pool, which it never is: the verifier wants to see it. */
void emit_check_index(struct emit *emit, uint8_t index, uint32_t bad)
{
	ebpf_jump_if_imm(emit->as, BPF_JGT, index, (int32_t)emit->at->places, bad);
}

/* Adds `by` to a counter. Overwrites r1, r2. */
void emit_count(struct emit *emit, size_t counter, int32_t by)
{
	emit_control(emit, R1);
	ebpf_mov_imm(emit->as, R2, (uint64_t)by);
	ebpf_atomic_add(emit->as, R1, (int32_t)counter, R2);
}

void emit_lose(struct emit *emit)
{
	emit_count(emit, CONTROL(lost), 1);
	ebpf_atomic_add(emit->as, R1, CONTROL(epoch), R2);
}

void emit_lose_raised(struct emit *emit)
{
	emit_lose(emit);
	ebpf_atomic_add(emit->as, R1, CONTROL(unraised), R2);
}

/* Adds 1 to a counter of this CPU's line. Overwrites r0-r5. */
void emit_count_here(struct emit *emit, size_t counter)
{
	uint32_t unknown = ebpf_label(emit->as);

	emit_cpu_line(emit, R1, unknown);
	ebpf_mov_imm(emit->as, R2, 1);
	ebpf_atomic_add(emit->as, R1, (int32_t)counter, R2);
	ebpf_bind(emit->as, unknown);
}

/*
 * r2 = how many runs this CPU has opened before this one, r1 = this CPU's line; leaves for none if it has none, which
 * every CPU has. Overwrites r0-r5.
 */
void emit_count_opened(struct emit *emit, uint32_t none)
{
	struct ebpf_asm *as = emit->as;

	emit_cpu_line(emit, R1, none);
	if (!emit->plan->interrupted) {
		ebpf_load(as, BPF_DW, R2, R1, CPU(opened));
		ebpf_address(as, R3, R2, 1);
		ebpf_store(as, BPF_DW, R1, CPU(opened), R3);
	} else {
		ebpf_mov_imm(as, R2, 1);
		ebpf_emit(as, insn_atomic(BPF_DW, BPF_ADD | BPF_FETCH, R1, CPU(opened), R2));
	}
}

/* r0 = when a run is made, for putting runs in order. Overwrites r1. */
void emit_now(struct emit *emit)
{
	const struct memory_region *work = &emit->context->memory->work;
	struct ebpf_asm *as = emit->as;

	if (emit->context->plan->live) {
		ebpf_load(as, BPF_DW, R0, R6, offsetof(struct event_header, ts));
		return;
	}
	ebpf_load_value(as, R1, emit->context->memory->maps[work->map].fd, work->off);
	ebpf_load(as, BPF_DW, R0, R1, offsetof(struct matcher_work, made));
	ebpf_alu_imm(as, BPF_ADD, R0, 1);
	ebpf_store(as, BPF_DW, R1, offsetof(struct matcher_work, made), R0);
	if (emit->is_behind)
		ebpf_alu_imm(as, BPF_ADD, R0, MATCHER_MADE_BEHIND);
}
