// SPDX-License-Identifier: BSD-2-Clause
/*
 * Writes an event to the ring, as ring/writer.c does in C. Strings are fetched before the reservation, since only then
 * their length is known, one after the other into the program's own memory; numbers are fetched after it, straight into
 * the ring. So between reservation and commit there are only loads and stores.
 *
 * An event fits if the most that its type may take does: the verifier can follow that, and it costs a few words.
 *
 * Registers: r6 memory for strings, then the reserve word found, then the event's place; r7 the current task; r8 bytes
 * of strings, then the control block; r9 the context.
 */

#include "ebpf/recorder/record-priv.h"

#include <errno.h>
#include <stddef.h>

enum { ATTEMPTS = 4, COMM_WORDS = RING_COMM_BYTES / RING_UNIT_BYTES, LATE_UNITS = RECORD_LATE_UNITS };

struct writing {
	const struct record_code *code;
	struct ebpf_asm *as;
	const struct source_entry *entry;
	const struct event_packed *layout;
	struct source_style style;
	bool plain_comm; /* the task's name can be loaded */
	bool reports;    /* something may be told of the event before it: that it is late, what is unread */
	uint32_t units_max;
	uint32_t next, drop;
	/* Stack. */
	int16_t strings;  /* where r6 pointed to */
	int16_t bytes;    /* to copy from there */
	int16_t cpu;      /* its number */
	int16_t thread;   /* tid << 32 */
	int16_t ids;      /* tid | pid << 32, where a helper told */
	int16_t comm;     /* the name, where a helper told */
	int16_t ts;       /* when */
	int16_t units;    /* to commit */
	int16_t end;      /* position behind the event */
	int16_t context;  /* units of the context told, as store_one_of says */
	int16_t attempts; /* left */
	int16_t key;      /* of the sub-buffer, 4 bytes */
	int16_t unread;   /* which strings are; tells */
	int16_t late;     /* units for telling; tells */
};

uint32_t record_units_max(const struct event_packed *layout)
{
	return RING_CONTEXT_UNITS + 1 + layout->bytes_max / RING_UNIT_BYTES;
}

static void take_stack(struct writing *writing)
{
	int16_t *const slots[] = { &writing->strings, &writing->bytes,    &writing->cpu,   &writing->thread,
				   &writing->ids,     &writing->ts,       &writing->units, &writing->end,
				   &writing->context, &writing->attempts, &writing->key };

	for (size_t i = 0; i < sizeof slots / sizeof *slots; i++)
		*slots[i] = ebpf_stack_take(writing->as, RING_UNIT_BYTES);
	writing->comm = ebpf_stack_take(writing->as, RING_COMM_BYTES);
	if (!writing->reports)
		return;
	writing->unread = ebpf_stack_take(writing->as, RING_UNIT_BYTES);
	writing->late = ebpf_stack_take(writing->as, RING_UNIT_BYTES);
}

static void load_slot(const struct writing *writing, uint8_t reg, int16_t slot)
{
	ebpf_load(writing->as, BPF_DW, reg, R10, slot);
}

static void store_slot(const struct writing *writing, int16_t slot, uint8_t reg)
{
	ebpf_store(writing->as, BPF_DW, R10, slot, reg);
}

/*
 * Stores one of some small constants so that the verifier does not know which when it is loaded again: of what does not
 * begin where a slot does, it keeps no more than that it is there, if it is not 0. So ways that differ in it alone are
 * one for the code that follows.
 */
static void store_one_of(const struct writing *writing, int16_t slot, uint8_t reg)
{
	ebpf_alu_imm(writing->as, BPF_ADD, reg, 1);
	ebpf_store(writing->as, BPF_W, R10, slot + RING_UNIT_BYTES / 2, reg);
}

/* reg = what was stored, and 1. */
static void load_one_of(const struct writing *writing, uint8_t reg, int16_t slot)
{
	ebpf_load(writing->as, BPF_W, reg, R10, slot + RING_UNIT_BYTES / 2);
}

/*
 * String number index of the payload goes to r6, r0 = its bytes. If it cannot be read it is unread, and an empty one,
 * or the call is awaited where the style says so.
 */
static void emit_string(const struct writing *writing, uint32_t index)
{
	const struct event_packed_string *string = &writing->layout->strings[index];
	const struct source_node *path = writing->entry->paths[string->field];
	struct event_field place = writing->entry->want->type->fields[string->field];
	struct source_style style = writing->style;
	struct ebpf_asm *as = writing->as;
	uint32_t unread = ebpf_label(as), done = ebpf_label(as);
	bool marks = path_may_fail(path) && (!style.leaves || !path_reads_user(path));

	place.offset = 0;
	ebpf_note(as, "%s", place.name);
	if (marks) {
		style.leaves = style.tells = true;
		style.unread = unread;
	}
	path_emit_text(as, &style, path, &place);
	if (!marks)
		return;
	ebpf_jump(as, done);
	ebpf_bind(as, unread);
	/* Atomically, as what is there is not known to the verifier then: it follows one way where a load and a store
	 * of known bits would be one for each set of strings. */
	ebpf_mov_imm(as, R1, event_packed_unread_bit(index));
	ebpf_atomic_or(as, R10, writing->unread, R1);
	ebpf_store_imm(as, BPF_B, SOURCE_REG_RECORD, 0, 0);
	ebpf_mov_imm(as, R0, 1);
	ebpf_bind(as, done);
}

/* Goes to the style's label for what is unread if some number is: once the event is begun it is too late for that. */
static void emit_try_numbers(const struct writing *writing)
{
	for (uint32_t i = 0; i < writing->layout->number_count; i++) {
		const struct source_node *path = writing->entry->paths[writing->layout->numbers[i].field];
		struct source_style style = writing->style;

		style.leaves = true;
		if (path_reads_user(path))
			path_emit_value(writing->as, &style, path);
	}
}

/* Fetches all strings, and computes how many bytes that is with the padding of the event. */
static void emit_strings(const struct writing *writing)
{
	const struct event_packed *layout = writing->layout;
	struct ebpf_asm *as = writing->as;

	if (!layout->string_count)
		return;
	ebpf_mov_imm(as, R8, 0);
	for (uint32_t i = 0; i < layout->string_count; i++) {
		emit_string(writing, i);
		ebpf_alu(as, BPF_ADD, R8, R0);
		load_slot(writing, R6, writing->strings);
		ebpf_alu(as, BPF_ADD, R6, R8);
	}
	ebpf_store_imm(as, BPF_DW, R6, 0, 0);
	ebpf_alu_imm(as, BPF_ADD, R8, (int32_t)layout->fixed_bytes + RING_UNIT_BYTES - 1);
	ebpf_alu_imm(as, BPF_AND, R8, -RING_UNIT_BYTES);
	ebpf_alu_imm(as, BPF_SUB, R8, (int32_t)layout->fixed_bytes);
	store_slot(writing, writing->bytes, R8);
}

/* r8 = the control block; the CPU's number to its slot. */
static void emit_control(const struct writing *writing)
{
	const struct record_rings *rings = writing->code->rings;
	struct ebpf_asm *as = writing->as;

	ebpf_call(as, BPF_FUNC_get_smp_processor_id);
	ebpf_jump_if_imm(as, BPF_JGE, R0, (int32_t)rings->cpu_count, writing->next);
	store_slot(writing, writing->cpu, R0);
	record_emit_control(rings, as, R8);
}

/* Who it was: slots filled from the awaited call. */
static void emit_who_before(const struct writing *writing)
{
	struct ebpf_asm *as = writing->as;

	ebpf_load(as, BPF_DW, R0, SOURCE_REG_CONTEXT, offsetof(struct source_awaited, tid));
	store_slot(writing, writing->ids, R0);
	ebpf_alu_imm(as, BPF_LSH, R0, 32);
	store_slot(writing, writing->thread, R0);
	for (int i = 0; i < COMM_WORDS; i++) {
		ebpf_load(as, BPF_DW, R0, SOURCE_REG_CONTEXT,
			  (int32_t)offsetof(struct source_awaited, comm) + i * RING_UNIT_BYTES);
		store_slot(writing, (int16_t)(writing->comm + i * RING_UNIT_BYTES), R0);
	}
}

/* Who it is: r7 the task, or slots filled by helpers. */
static void emit_who(struct writing *writing)
{
	const struct record_code *code = writing->code;
	struct ebpf_asm *as = writing->as;

	writing->plain_comm = !writing->style.past && code->tid && code->tgid && code->comm && !writing->style.cautious;
	if (writing->style.past) {
		emit_who_before(writing);
		return;
	}
	if (!writing->plain_comm) {
		ebpf_call(as, BPF_FUNC_get_current_pid_tgid);
		store_slot(writing, writing->ids, R0);
		ebpf_alu_imm(as, BPF_LSH, R0, 32);
		store_slot(writing, writing->thread, R0);
		ebpf_call_comm(as, R10, writing->comm);
		return;
	}
	if (!writing->style.task) {
		ebpf_call(as, BPF_FUNC_get_current_task_btf);
		ebpf_mov(as, R7, R0);
		writing->style.task = true;
	}
	path_emit_value(as, &writing->style, code->tid);
	ebpf_alu_imm(as, BPF_LSH, R0, 32);
	store_slot(writing, writing->thread, R0);
}

/* reg = a word of the task's name. */
static void emit_comm(const struct writing *writing, uint8_t reg, int word)
{
	if (writing->plain_comm)
		ebpf_load(writing->as, BPF_DW, reg, R7,
			  (int32_t)writing->code->comm->access.spot.offset + word * RING_UNIT_BYTES);
	else
		load_slot(writing, reg, (int16_t)(writing->comm + word * RING_UNIT_BYTES));
}

/* r3 = the units that a context takes: none if the last event is by the same thread. r1 is the position. */
static void emit_is_reported(const struct writing *writing)
{
	struct ebpf_asm *as = writing->as;
	uint32_t known = ebpf_label(as), report = ebpf_label(as);

	load_slot(writing, R2, writing->thread);
	ebpf_alu(as, BPF_OR, R2, R1);
	ebpf_load(as, BPF_DW, R3, R8, offsetof(struct ring_control, reported));
	ebpf_jump_if(as, BPF_JNE, R2, R3, report);
	for (int i = 0; i < COMM_WORDS; i++) {
		emit_comm(writing, R2, i);
		ebpf_load(as, BPF_DW, R3, R8,
			  (int32_t)offsetof(struct ring_control, reported_comm) + i * RING_UNIT_BYTES);
		ebpf_jump_if(as, BPF_JNE, R2, R3, report);
	}
	ebpf_mov_imm(as, R3, 0);
	ebpf_jump(as, known);
	ebpf_bind(as, report);
	ebpf_mov_imm(as, R3, RING_CONTEXT_UNITS);
	ebpf_bind(as, known);
}

/* r4 = the units of the event without a context. r5 is lost. */
static void emit_units(const struct writing *writing)
{
	const struct event_packed *layout = writing->layout;
	struct ebpf_asm *as = writing->as;

	if (!layout->string_count) {
		ebpf_mov_imm(as, R4, 1 + event_packed_round(layout->fixed_bytes) / RING_UNIT_BYTES);
	} else {
		load_slot(writing, R4, writing->bytes);
		ebpf_alu_imm(as, BPF_ADD, R4, (int32_t)layout->fixed_bytes + RING_UNIT_BYTES);
		ebpf_alu_imm(as, BPF_RSH, R4, 3);
	}
	if (writing->reports) {
		load_slot(writing, R5, writing->late);
		ebpf_alu(as, BPF_ADD, R4, R5);
	}
}

/* Finds out how much there is to be told of the event. An awaited call's is always late. */
static void emit_late_units(const struct writing *writing)
{
	struct ebpf_asm *as = writing->as;

	if (!writing->reports)
		return;
	ebpf_mov_imm(as, R2, LATE_UNITS);
	if (!writing->style.detached) {
		/* All bits where some string is unread, else none; without a jump, so that this is one way. */
		load_slot(writing, R1, writing->unread);
		ebpf_mov(as, R3, R1);
		ebpf_emit(as, insn_alu_imm(BPF_NEG, R3, 0));
		ebpf_alu(as, BPF_OR, R1, R3);
		ebpf_alu_imm(as, BPF_ARSH, R1, 63);
		ebpf_alu(as, BPF_AND, R2, R1);
	}
	store_slot(writing, writing->late, R2);
}

/* Tells it, and moves r6 behind it. */
static void emit_late(const struct writing *writing)
{
	struct ebpf_asm *as = writing->as;
	uint32_t none = ebpf_label(as);

	if (!writing->reports)
		return;
	load_slot(writing, R1, writing->late);
	ebpf_jump_if_imm(as, BPF_JEQ, R1, 0, none);
	ebpf_note(as, "what is to be known of it");
	load_slot(writing, R1, writing->ts);
	ebpf_alu_imm(as, BPF_LSH, R1, EVENT_PACKED_ID_BITS);
	ebpf_mov_imm(as, R2, EVENT_PACKED_ID_LATE);
	ebpf_alu(as, BPF_OR, R1, R2);
	ebpf_store(as, BPF_DW, R6, 0, R1);
	ebpf_mov_imm(as, R1, 0);
	if (writing->style.detached)
		ebpf_load(as, BPF_DW, R1, SOURCE_REG_CONTEXT, offsetof(struct source_awaited, ts));
	ebpf_store(as, BPF_DW, R6, EVENT_PACKED_WORD_BYTES + (int32_t)offsetof(struct event_packed_late, entered), R1);
	load_slot(writing, R1, writing->unread);
	ebpf_store(as, BPF_DW, R6, EVENT_PACKED_WORD_BYTES + (int32_t)offsetof(struct event_packed_late, unread), R1);
	ebpf_alu_imm(as, BPF_ADD, R6, LATE_UNITS * RING_UNIT_BYTES);
	ebpf_bind(as, none);
}

/*
 * The event at the beginning of the next sub-buffer: slots as after a reservation, r1 = its end, r0 = the word. Goes to
 * again if somebody was faster.
 */
static void emit_next_sub_buffer(const struct writing *writing, uint32_t again)
{
	const struct record_rings *rings = writing->code->rings;
	struct ebpf_asm *as = writing->as;
	uint32_t settled = ebpf_label(as);

	ebpf_note(as, "the event does not fit any more");
	load_slot(writing, R1, writing->cpu);
	ebpf_mov(as, R2, R6);
	ebpf_call_function(as, record_function_settled(rings, as));
	ebpf_jump_if_imm(as, BPF_JNE, R0, 0, settled);
	/* Where the word is another by now, the sub-buffer has perhaps been opened already. */
	ebpf_load(as, BPF_DW, R1, R8, offsetof(struct ring_control, reserve));
	ebpf_jump_if(as, BPF_JNE, R1, R6, again);
	ebpf_jump(as, writing->drop);
	ebpf_bind(as, settled);
	ebpf_mov(as, R0, R6);
	ebpf_mov_imm(as, R3, RING_CONTEXT_UNITS);
	store_one_of(writing, writing->context, R3);
	emit_units(writing);
	ebpf_alu_imm(as, BPF_ADD, R4, RING_CONTEXT_UNITS + RING_HEADER_UNITS);
	store_slot(writing, writing->units, R4);
	ebpf_emit(as, insn_alu32(BPF_MOV, R1, R0));
	ebpf_emit(as, insn_alu32_imm(BPF_ADD, R1, (int32_t)rings->sub_units - 1));
	ebpf_emit(as, insn_alu32_imm(BPF_AND, R1, -(int32_t)rings->sub_units));
	ebpf_emit(as, insn_alu32(BPF_ADD, R1, R4));
}

/* Replaces the word in r0 by the position in r1 and one event more; goes to again if somebody was faster. */
static void emit_exchange(const struct writing *writing, uint32_t again)
{
	struct ebpf_asm *as = writing->as;

	store_slot(writing, writing->end, R1);
	ebpf_mov(as, R3, R0);
	ebpf_alu_imm(as, BPF_RSH, R3, 32);
	ebpf_alu_imm(as, BPF_ADD, R3, 1);
	ebpf_alu_imm(as, BPF_LSH, R3, 32);
	ebpf_alu(as, BPF_OR, R3, R1);
	ebpf_atomic_exchange_if(as, BPF_DW, R8, offsetof(struct ring_control, reserve), R3);
	ebpf_jump_if(as, BPF_JNE, R0, R6, again);
}

/* After this r6 is the event's place in its sub-buffer, in units, and the slots units, end, context, ts are filled. */
static void emit_reserve(const struct writing *writing)
{
	const struct record_rings *rings = writing->code->rings;
	struct ebpf_asm *as = writing->as;
	uint32_t retry = ebpf_label(as), again = ebpf_label(as), open = ebpf_label(as), done = ebpf_label(as);

	ebpf_store_imm(as, BPF_DW, R10, writing->attempts, ATTEMPTS);
	ebpf_bind(as, retry);
	ebpf_note(as, "where does it go, and when is it?");
	ebpf_load(as, BPF_DW, R6, R8, offsetof(struct ring_control, reserve));
	ebpf_call(as, BPF_FUNC_ktime_get_ns);
	store_slot(writing, writing->ts, R0);
	ebpf_load(as, BPF_DW, R1, R8, offsetof(struct ring_control, due));
	ebpf_alu_imm(as, BPF_SUB, R1, 1);
	ebpf_jump_if(as, BPF_JGT, R0, R1, open);
	ebpf_mov(as, R0, R6);
	ebpf_emit(as, insn_alu32(BPF_MOV, R1, R0));
	emit_is_reported(writing);
	ebpf_mov(as, R2, R1);
	ebpf_alu_imm(as, BPF_AND, R2, (int32_t)rings->sub_units - 1);
	ebpf_jump_if_imm(as, BPF_JEQ, R2, 0, open);
	ebpf_jump_if_imm(as, BPF_JGT, R2, (int32_t)(rings->sub_units - 1 - writing->units_max), open);
	emit_units(writing);
	ebpf_alu(as, BPF_ADD, R4, R3);
	store_one_of(writing, writing->context, R3);
	store_slot(writing, writing->units, R4);
	ebpf_emit(as, insn_alu32(BPF_ADD, R1, R4));
	emit_exchange(writing, again);
	ebpf_mov(as, R6, R2);
	ebpf_jump(as, done);

	ebpf_bind(as, again);
	ebpf_load(as, BPF_DW, R1, R10, writing->attempts);
	ebpf_alu_imm(as, BPF_SUB, R1, 1);
	store_slot(writing, writing->attempts, R1);
	ebpf_jump_if_imm(as, BPF_JNE, R1, 0, retry);
	ebpf_jump(as, writing->drop);

	ebpf_bind(as, open);
	emit_next_sub_buffer(writing, again);
	emit_exchange(writing, again);
	load_slot(writing, R1, writing->cpu);
	ebpf_mov(as, R2, R6);
	load_slot(writing, R3, writing->ts);
	ebpf_call_function(as, record_function_open(rings, as));
	ebpf_mov_imm(as, R6, RING_HEADER_UNITS);
	ebpf_bind(as, done);
}

/* r6 = the event's place, told and key are set. */
static void emit_place(const struct writing *writing)
{
	const struct record_rings *rings = writing->code->rings;
	struct ebpf_asm *as = writing->as;

	load_slot(writing, R2, writing->end);
	ebpf_mov(as, R1, R2);
	ebpf_emit(as, insn_alu32_imm(BPF_SUB, R1, 1));
	ebpf_alu_imm(as, BPF_RSH, R1, record_log2(rings->sub_units));
	ebpf_alu_imm(as, BPF_AND, R1, (int32_t)rings->sub_count - 1);
	load_slot(writing, R3, writing->cpu);
	ebpf_alu_imm(as, BPF_LSH, R3, record_log2(rings->sub_count));
	ebpf_alu(as, BPF_ADD, R1, R3);
	ebpf_store(as, BPF_W, R10, writing->key, R1);
	record_emit_sub_buffer(rings, as, writing->key, writing->next);
	ebpf_alu_imm(as, BPF_LSH, R6, 3);
	ebpf_alu(as, BPF_ADD, R6, R0);
}

/* Writes the context where one is told, and moves r6 behind it. */
static void emit_context(const struct writing *writing)
{
	struct ebpf_asm *as = writing->as;
	uint32_t known = ebpf_label(as);

	load_one_of(writing, R1, writing->context);
	ebpf_jump_if_imm(as, BPF_JEQ, R1, 1, known);
	ebpf_note(as, "who it is");
	load_slot(writing, R1, writing->ts);
	ebpf_alu_imm(as, BPF_LSH, R1, EVENT_PACKED_ID_BITS);
	ebpf_store(as, BPF_DW, R6, 0, R1);
	if (writing->plain_comm) {
		path_emit_value(as, &writing->style, writing->code->tid);
		ebpf_store(as, BPF_W, R6, RING_UNIT_BYTES, R0);
		path_emit_value(as, &writing->style, writing->code->tgid);
		ebpf_store(as, BPF_W, R6, RING_UNIT_BYTES + 4, R0);
	} else {
		load_slot(writing, R1, writing->ids);
		ebpf_store(as, BPF_DW, R6, RING_UNIT_BYTES, R1);
	}
	for (int i = 0; i < COMM_WORDS; i++) {
		emit_comm(writing, R1, i);
		ebpf_store(as, BPF_DW, R6, (2 + i) * RING_UNIT_BYTES, R1);
		ebpf_store(as, BPF_DW, R8, (int32_t)offsetof(struct ring_control, reported_comm) + i * RING_UNIT_BYTES,
			   R1);
	}
	ebpf_alu_imm(as, BPF_ADD, R6, RING_CONTEXT_UNITS * RING_UNIT_BYTES);
	ebpf_bind(as, known);
	load_slot(writing, R1, writing->end);
	load_slot(writing, R2, writing->thread);
	ebpf_alu(as, BPF_OR, R1, R2);
	ebpf_store(as, BPF_DW, R8, offsetof(struct ring_control, reported), R1);
}

static void emit_numbers(const struct writing *writing)
{
	const struct event_packed *layout = writing->layout;
	struct source_style style = writing->style;
	struct ebpf_asm *as = writing->as;

	style.leaves = false;

	for (uint32_t i = 0; i < layout->number_count; i++) {
		const struct event_packed_number *number = &layout->numbers[i];

		ebpf_note(as, "%s", writing->entry->want->type->fields[number->field].name);
		path_emit_number(as, &style, writing->entry->paths[number->field], (enum event_value)number->value);
		ebpf_store(as, ebpf_width(number->width), R6, EVENT_PACKED_WORD_BYTES + number->payload_offset, R0);
	}
}

/* What follows the numbers: the strings with the padding behind them, or only padding. */
static void emit_rest(const struct writing *writing)
{
	uint32_t offset = writing->layout->fixed_bytes, end = (uint32_t)event_packed_round(offset);
	struct ebpf_asm *as = writing->as;

	if (writing->layout->string_count) {
		uint32_t copied = ebpf_label(as);

		ebpf_note(as, "the strings");
		ebpf_address(as, R1, R6, EVENT_PACKED_WORD_BYTES + (int32_t)offset);
		load_slot(writing, R2, writing->bytes);
		/* Never more; but the verifier cannot know. */
		ebpf_jump_if_imm(as, BPF_JGT, R2, (int32_t)(writing->layout->bytes_max - offset), copied);
		load_slot(writing, R3, writing->strings);
		ebpf_call(as, BPF_FUNC_probe_read_kernel);
		ebpf_bind(as, copied);
		return;
	}
	while (offset < end) {
		uint32_t piece = offset % 2 ? 1 : offset % 4 ? 2 : 4;

		ebpf_store_imm(as, ebpf_width(piece), R6, EVENT_PACKED_WORD_BYTES + (int32_t)offset, 0);
		offset += piece;
	}
}

static void emit_commit(const struct writing *writing)
{
	const struct record_rings *rings = writing->code->rings;
	struct ebpf_asm *as = writing->as;

	ebpf_load(as, BPF_W, R1, R10, writing->key);
	ebpf_alu_imm(as, BPF_AND, R1, (int32_t)rings->sub_count - 1);
	ebpf_alu_imm(as, BPF_LSH, R1, 3);
	ebpf_alu(as, BPF_ADD, R1, R8);
	load_slot(writing, R2, writing->units);
	record_emit_commit(as, R1, offsetof(struct ring_control, commits), R2);
}

void record_emit_unread(const struct record_rings *rings, struct ebpf_asm *as)
{
	uint32_t none = ebpf_label(as);

	ebpf_call(as, BPF_FUNC_get_smp_processor_id);
	ebpf_jump_if_imm(as, BPF_JGE, R0, (int32_t)rings->cpu_count, none);
	record_emit_control(rings, as, R8);
	ebpf_mov_imm(as, R1, 1);
	ebpf_atomic_add(as, R8, offsetof(struct ring_control, dropped), R1);
	ebpf_mov_imm(as, R1, 1);
	ebpf_atomic_add(as, R8, offsetof(struct ring_control, unread), R1);
	ebpf_bind(as, none);
}

/* Whether something may be told of events of the entry. */
static bool may_report(const struct source_entry *entry, const struct source_style *style)
{
	bool may = style->detached;

	for (uint32_t i = 0; i < entry->want->type->field_count; i++)
		may |= path_may_fail(entry->paths[i]) && (!style->leaves || !path_reads_user(entry->paths[i]));
	return may;
}

void record_emit(const struct record_code *code, struct ebpf_asm *as, const struct source_entry *entry,
		 const struct source_style *style, const struct record_form *form)
{
	struct writing writing = {
		.code = code,
		.as = as,
		.entry = entry,
		.layout = &form->layout,
		.style = *style,
		.units_max = record_units_max(&form->layout),
		.reports = may_report(entry, style),
		.next = ebpf_label(as),
		.drop = ebpf_label(as),
	};
	uint32_t mark = ebpf_stack_mark(as);

	writing.units_max += writing.reports ? LATE_UNITS : 0;
	take_stack(&writing);
	ebpf_store_imm(as, BPF_DW, R10, writing.ts, 0);
	if (writing.reports)
		ebpf_store_imm(as, BPF_DW, R10, writing.unread, 0);
	store_slot(&writing, writing.strings, R6);
	record_emit_gate(code->gates, as, form->id - EVENT_PACKED_ID_FIRST, writing.next);
	emit_try_numbers(&writing);
	emit_strings(&writing);
	emit_late_units(&writing);
	emit_control(&writing);
	emit_who(&writing);
	emit_reserve(&writing);
	emit_place(&writing);
	emit_context(&writing);
	emit_late(&writing);
	ebpf_note(as, "the event");
	load_slot(&writing, R1, writing.ts);
	ebpf_alu_imm(as, BPF_LSH, R1, EVENT_PACKED_ID_BITS);
	ebpf_alu_imm(as, BPF_OR, R1, form->id);
	ebpf_store(as, BPF_DW, R6, 0, R1);
	emit_numbers(&writing);
	emit_rest(&writing);
	emit_commit(&writing);
	ebpf_jump(as, writing.next);
	ebpf_bind(as, writing.drop);
	ebpf_mov_imm(as, R1, 1);
	ebpf_atomic_add(as, R8, offsetof(struct ring_control, dropped), R1);
	ebpf_bind(as, writing.next);
	load_slot(&writing, R6, writing.strings);
	load_slot(&writing, R1, writing.ts);
	ebpf_stack_release(as, mark);
}
