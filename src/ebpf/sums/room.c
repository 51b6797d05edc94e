// SPDX-License-Identifier: BSD-2-Clause
/*
 * The room in which the sums of a match are put together: in a room that each program has for each CPU, since a program
 * is never run twice at once on one, but those of different events may interrupt each other.
 */

#include "ebpf/sums/sums-priv.h"

int sums_make_room(struct emit_context *context, bool keeps)
{
	uint32_t bytes = sums_room_bytes(context->plan);

	context->room = -1;
	if (!bytes || !keeps)
		return 0;
	context->room = memory_make_queue(context->memory, (uint64_t)bytes * context->memory->cpu_count);
	return context->room < 0 ? context->room : 0;
}

/* Where a value goes: its place in the room, and the bit that says that it is there. */
struct place {
	int32_t off;
	uint32_t bytes;
	int32_t there_off;
	uint64_t there_bit;
};

/* A value that may be missing, which is no loss: zeros stand for it then. */
static void put_doubtful(struct emit *emit, const struct program_aggregate *row, const struct place *place)
{
	struct ebpf_asm *as = emit->as;
	uint32_t absent = ebpf_label(as), done = ebpf_label(as);
	struct ebpf_text_place text = { R8, place->off, place->bytes };

	if (row->there)
		ebpf_lower_branch(&emit->lower, row->there - 1, false, absent);
	emit->lower.on_zero = absent;
	if (emit->program->nodes[row->node].kind == PROGRAM_STRING) {
		ebpf_lower_text(&emit->lower, row->node, &text);
	} else {
		ebpf_lower_value(&emit->lower, row->node);
		ebpf_store(as, BPF_DW, R8, place->off, R1);
	}
	ebpf_load(as, BPF_DW, R0, R8, place->there_off);
	ebpf_mov_imm(as, R1, place->there_bit);
	ebpf_alu(as, BPF_OR, R0, R1);
	ebpf_store(as, BPF_DW, R8, place->there_off, R0);
	ebpf_jump(as, done);
	ebpf_bind(as, absent);
	ebpf_lower_zero(&emit->lower, R8, place->off, place->bytes / 8);
	ebpf_bind(as, done);
}

static void put_sums_room(struct emit *emit, const struct program_aggregate *row, const struct place *place)
{
	struct ebpf_text_place text = { R8, place->off, place->bytes };

	if (row->node == PROGRAM_NONE)
		return;
	if (sums_may_lack(emit, row)) {
		put_doubtful(emit, row, place);
	} else if (emit->program->nodes[row->node].kind == PROGRAM_STRING) {
		ebpf_lower_text(&emit->lower, row->node, &text);
	} else {
		ebpf_lower_value(&emit->lower, row->node);
		ebpf_store(emit->as, BPF_DW, R8, place->off, R1);
	}
}

/* The word at off: a bit for each of the values that is never missing. */
static void begin_there(struct emit *emit, const struct program_aggregate *rows, uint32_t count, int32_t off)
{
	uint64_t there = 0;

	for (uint32_t i = 0; i < count; i++)
		there |= sums_may_lack(emit, &rows[i]) ? 0 : UINT64_C(1) << i;
	ebpf_mov_imm(emit->as, R0, there);
	ebpf_store(emit->as, BPF_DW, R8, off, R0);
}

/* Key and values of the match, into the room in r8. */
static void fill_sums_room(struct emit *emit)
{
	const struct program_aggregation *aggregation = program_aggregation(emit->program, emit->rule);
	const struct program_aggregate *by = program_by(emit->program, aggregation);
	const struct program_aggregate *aggregates = program_aggregates(emit->program, aggregation);
	const struct plan_sums *plan = &emit->plan->sums;
	struct place place = { .off = 8 };

	begin_there(emit, by, aggregation->by_count, 0);
	for (uint32_t i = 0; i < aggregation->by_count; i++) {
		place.bytes = program_value_bytes(emit->program, emit->plan->index, by[i].node);
		place.there_bit = UINT64_C(1) << i;
		put_sums_room(emit, &by[i], &place);
		place.off += (int32_t)place.bytes;
	}
	place.there_off = sums_room_there(plan);
	place.bytes = 8;
	begin_there(emit, aggregates, aggregation->aggregate_count, place.there_off);
	for (uint32_t i = 0; i < aggregation->aggregate_count; i++) {
		place.off = sums_room_value(plan, i);
		place.there_bit = UINT64_C(1) << i;
		put_sums_room(emit, &aggregates[i], &place);
	}
}

/* r2 = the time of the match, where that matters. Overwrites r0. */
static void load_time(struct emit *emit)
{
	struct ebpf_asm *as = emit->as;

	if (emit->plan->sums.halves == 1) {
		ebpf_mov_imm(as, R2, 0);
	} else if (emit->event->type == PROGRAM_NONE) {
		ebpf_load(as, BPF_DW, R2, R7, RUN(first_ts));
		ebpf_mov_imm(as, R0, emit->rule->within_ns);
		ebpf_alu(as, BPF_ADD, R2, R0);
	} else {
		ebpf_load(as, BPF_DW, R2, R6, HEADER(ts));
	}
}

void sums_emit_match(struct emit *emit, uint32_t deliver)
{
	struct ebpf_asm *as = emit->as;
	uint32_t mark = ebpf_stack_mark(as);
	int16_t cpu = ebpf_stack_take(as, 8);

	ebpf_note(as, "rule %s: add the match up", program_text(emit->program, emit->rule->name));
	ebpf_call(as, BPF_FUNC_get_smp_processor_id);
	ebpf_jump_if_imm(as, BPF_JGE, R0, (int32_t)emit->context->memory->cpu_count, deliver);
	ebpf_store(as, BPF_DW, R10, cpu, R0);
	ebpf_alu_imm(as, BPF_MUL, R0, (int32_t)sums_room_bytes(emit->context->plan));
	ebpf_load_value(as, R8, emit->context->room, 0);
	ebpf_alu(as, BPF_ADD, R8, R0);
	fill_sums_room(emit);
	load_time(emit);
	ebpf_load(as, BPF_DW, R1, R10, cpu);
	ebpf_call_function(as, sums_function(emit));
	ebpf_stack_release(as, mark);
	ebpf_jump_if_imm(as, BPF_JNE, R0, 0, deliver);
}
