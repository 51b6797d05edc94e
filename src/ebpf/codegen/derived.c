// SPDX-License-Identifier: BSD-2-Clause
/*
 * Raises the events of a rule. Its match is put together not in the ring but in a node of memory that each program has
 * for each CPU, told, and listed; when all rules have dealt with the event, and no lock is held, events are made from
 * its slots and dealt with (codegen/drain.c). The number of nodes is bounded: a match that finds none is a counted
 * loss.
 *
 * Matches of one event stand in the order in which their runs were opened.
 */

#include "ebpf/codegen/derived.h"
#include "ebpf/codegen/machine.h"

#define QUEUE(member)  offsetof(struct matcher_queue, member)
#define NODE(member)   offsetof(struct matcher_raised, member)
#define ORIGIN(member) offsetof(struct matcher_origin, member)

enum { MATCH_OFF = sizeof(struct matcher_raised) };

bool codegen_raises(const struct emit *emit)
{
	return emit->derived && emit->plan->raises;
}

/* What a match takes in the ring, or in a node. */
uint32_t codegen_derived_match_bytes(const struct plan_rule *rule)
{
	uint32_t bytes = (uint32_t)sizeof(struct matcher_match) + rule->area_bytes;

	return bytes + (rule->raised ? (uint32_t)sizeof(struct matcher_origin) : 0);
}

static uint32_t most(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

/* How large nodes are and how many there are. */
static void measure_nodes(const struct emit_context *context, struct emit_derived *derived)
{
	const struct program *program = context->plan->program;
	uint32_t match_bytes = 0, record_bytes = 0, scratch_bytes = 0;

	for (uint32_t rule = 0; rule < program->rule_count; rule++) {
		if (derived->cascade.rules[rule])
			match_bytes = most(match_bytes, codegen_derived_match_bytes(&context->plan->rules[rule]));
		if (context->plan->rules[rule].raised)
			scratch_bytes = most(scratch_bytes, context->memory->rules[rule].stride);
	}
	for (uint32_t type = 0; type < program->type_count; type++)
		if (derived->cascade.type_places[type] != PROGRAM_NONE)
			record_bytes = most(record_bytes, program->types[type].record_bytes);
	derived->record_off = MATCH_OFF + match_bytes;
	derived->bytes = derived->record_off + record_bytes;
	derived->count = MATCHER_RAISED_BYTES / derived->bytes;
	if (derived->count > MATCHER_RAISED_MAX)
		derived->count = MATCHER_RAISED_MAX;
	derived->count = most(derived->count, MATCHER_RAISED_LEAST);
	derived->scratch_off = (uint32_t)sizeof(struct matcher_queue) + (derived->count + 1) * derived->bytes;
	derived->cpu_bytes = (derived->scratch_off + scratch_bytes + MATCHER_CACHE_LINE - 1) / MATCHER_CACHE_LINE *
			     MATCHER_CACHE_LINE;
}

int codegen_derived_add(const struct emit_context *context, uint32_t type, const struct plan_part *part,
			struct emit_derived *derived)
{
	derived->at_event = type != PROGRAM_NONE;
	return plan_cascade(context->plan, type, part, &derived->cascade);
}

int codegen_derived_settle(const struct emit_context *context, struct emit_derived *derived, bool keeps)
{
	measure_nodes(context, derived);
	derived->map = -1;
	if (keeps)
		derived->map =
			memory_make_queue(context->memory, (uint64_t)derived->cpu_bytes * context->memory->cpu_count);
	return keeps && derived->map < 0 ? derived->map : 0;
}

void codegen_derived_fini(struct emit_derived *derived)
{
	plan_cascade_fini(&derived->cascade);
}

/* dst = the node of this number, which the verifier must know to be within their count. Overwrites r0. */
void codegen_derived_node(struct emit *emit, uint8_t dst, uint8_t queue, uint8_t index)
{
	ebpf_mov(emit->as, R0, index);
	ebpf_alu_imm(emit->as, BPF_MUL, R0, (int32_t)emit->derived->bytes);
	ebpf_address(emit->as, dst, queue, sizeof(struct matcher_queue));
	ebpf_alu(emit->as, BPF_ADD, dst, R0);
}

/* r8 = this CPU's queue, also in the frame; leaves for unknown. Overwrites r0-r5. */
void codegen_derived_queue(struct emit *emit, uint32_t unknown)
{
	struct ebpf_asm *as = emit->as;

	ebpf_call(as, BPF_FUNC_get_smp_processor_id);
	ebpf_jump_if_imm(as, BPF_JGE, R0, (int32_t)emit->context->memory->cpu_count, unknown);
	ebpf_alu_imm(as, BPF_MUL, R0, (int32_t)emit->derived->cpu_bytes);
	ebpf_load_value(as, R8, emit->derived->map, 0);
	ebpf_alu(as, BPF_ADD, R8, R0);
	memory_frame_point(as, FRAME(queue), R8);
}

void codegen_derived_reserve(struct emit *emit, uint32_t none)
{
	struct ebpf_asm *as = emit->as;
	uint32_t unused = ebpf_label(as), full = ebpf_label(as), have = ebpf_label(as);

	ebpf_note(as, "rule %s: room for an event to raise", program_text(emit->program, emit->rule->name));
	codegen_derived_queue(emit, full);
	ebpf_load(as, BPF_W, R1, R8, QUEUE(free));
	ebpf_jump_if_imm(as, BPF_JEQ, R1, 0, unused);
	ebpf_jump_if_imm(as, BPF_JGT, R1, (int32_t)emit->derived->count, full);
	codegen_derived_node(emit, R2, R8, R1);
	ebpf_load(as, BPF_W, R0, R2, NODE(next));
	ebpf_store(as, BPF_W, R8, QUEUE(free), R0);
	ebpf_jump(as, have);
	ebpf_bind(as, unused);
	ebpf_load(as, BPF_W, R1, R8, QUEUE(used));
	ebpf_jump_if_imm(as, BPF_JGE, R1, (int32_t)emit->derived->count, full);
	ebpf_alu_imm(as, BPF_ADD, R1, 1);
	ebpf_store(as, BPF_W, R8, QUEUE(used), R1);
	codegen_derived_node(emit, R2, R8, R1);
	ebpf_jump(as, have);
	ebpf_bind(as, full);
	emit_lose_raised(emit);
	ebpf_jump(as, none);
	ebpf_bind(as, have);
	ebpf_store(as, BPF_W, R2, NODE(self), R1);
	ebpf_address(as, R8, R2, MATCH_OFF);
}

/* r3 = the node of the match in r8, r2 = the queue. */
static void load_node(struct emit *emit)
{
	ebpf_address(emit->as, R3, R8, -MATCH_OFF);
	ebpf_load(emit->as, BPF_DW, R2, R9, FRAME(queue));
}

void codegen_derived_discard(struct emit *emit)
{
	struct ebpf_asm *as = emit->as;

	load_node(emit);
	ebpf_load(as, BPF_W, R0, R2, QUEUE(free));
	ebpf_store(as, BPF_W, R3, NODE(next), R0);
	ebpf_load(as, BPF_W, R0, R3, NODE(self));
	ebpf_store(as, BPF_W, R2, QUEUE(free), R0);
}

/* Where the match in r8 comes from: outside, or the raised event being dealt with. Overwrites r0-r2. */
void codegen_derived_origin(struct emit *emit)
{
	struct ebpf_asm *as = emit->as;
	int32_t at = (int32_t)(sizeof(struct matcher_match) + emit->plan->area_bytes);
	struct ebpf_words words = { R8, R1, at, NODE(origin), sizeof(struct matcher_origin) / 8 };

	if (!emit->plan->raised)
		return;
	if (!emit->is_derived) {
		ebpf_store_imm(as, BPF_W, R8, at + (int32_t)ORIGIN(level), 0);
		return;
	}
	ebpf_load(as, BPF_DW, R1, R9, FRAME(node));
	ebpf_lower_copy(&emit->lower, &words);
	ebpf_load(as, BPF_DW, R1, R9, FRAME(queue));
	ebpf_load(as, BPF_W, R0, R1, QUEUE(turn));
	ebpf_store(as, BPF_W, R8, at + (int32_t)ORIGIN(turn), R0);
}

/* Of what the node in r3 raises, whose match is in r8. Overwrites r0, r1, r4. */
static void fill_origin(struct emit *emit)
{
	struct ebpf_asm *as = emit->as;
	struct ebpf_words origin = { R3, R4, NODE(origin), NODE(origin), sizeof(struct matcher_origin) / 8 };

	if (emit->is_derived) {
		ebpf_load(as, BPF_DW, R4, R9, FRAME(node));
		ebpf_lower_copy(&emit->lower, &origin);
		ebpf_load(as, BPF_W, R0, R3, NODE(origin.level));
		ebpf_alu_imm(as, BPF_ADD, R0, 1);
		ebpf_store(as, BPF_W, R3, NODE(origin.level), R0);
		return;
	}
	ebpf_load(as, BPF_DW, R0, R8, MATCH(made));
	ebpf_store(as, BPF_DW, R3, NODE(origin.made), R0);
	ebpf_load(as, BPF_W, R0, R8, MATCH(ordinal));
	ebpf_store(as, BPF_W, R3, NODE(origin.ordinal), R0);
	ebpf_store_imm(as, BPF_W, R3, NODE(origin.rule), (int32_t)emit->plan->index);
	ebpf_store_imm(as, BPF_W, R3, NODE(origin.level), 1);
}

/* Or else time has passed. */
static bool is_event(const struct emit *emit)
{
	return emit->event->type != PROGRAM_NONE && emit->event->type != PROGRAM_TIMER;
}

/* The seq of the event that completes the match. */
static void fill_seq(struct emit *emit)
{
	const struct memory_region *work = &emit->context->memory->work;
	struct ebpf_asm *as = emit->as;

	if (emit->context->plan->live) {
		ebpf_store_imm(as, BPF_DW, R3, NODE(seq), 0);
		return;
	}
	if (is_event(emit)) {
		ebpf_load(as, BPF_DW, R0, R6, offsetof(struct event_header, seq));
	} else {
		ebpf_load_value(as, R1, emit->context->memory->maps[work->map].fd, work->off);
		ebpf_load(as, BPF_DW, R0, R1, offsetof(struct matcher_work, seq));
	}
	ebpf_store(as, BPF_DW, R3, NODE(seq), R0);
}

/* Leaves for later if the match in `node` comes after the one in `other`. Overwrites r0, r1. */
static void jump_if_later(struct emit *emit, uint8_t node, uint8_t other, uint32_t later)
{
	struct ebpf_asm *as = emit->as;
	uint32_t earlier = ebpf_label(as);

	ebpf_load(as, BPF_DW, R0, node, MATCH_OFF + MATCH(made));
	ebpf_load(as, BPF_DW, R1, other, MATCH_OFF + MATCH(made));
	ebpf_jump_if(as, BPF_JGT, R0, R1, later);
	ebpf_jump_if(as, BPF_JLT, R0, R1, earlier);
	ebpf_load(as, BPF_W, R0, node, MATCH_OFF + MATCH(ordinal));
	ebpf_load(as, BPF_W, R1, other, MATCH_OFF + MATCH(ordinal));
	ebpf_jump_if(as, BPF_JGT, R0, R1, later);
	ebpf_bind(as, earlier);
}

/* r1 = the number of the node after the cursor. Overwrites r0, r2. */
static void load_after_cursor(struct emit *emit, uint8_t queue, uint32_t bad)
{
	struct ebpf_asm *as = emit->as;
	uint32_t inside = ebpf_label(as), have = ebpf_label(as);

	ebpf_load(as, BPF_W, R2, queue, QUEUE(cursor));
	ebpf_jump_if_imm(as, BPF_JNE, R2, 0, inside);
	ebpf_load(as, BPF_W, R1, queue, QUEUE(first));
	ebpf_jump(as, have);
	ebpf_bind(as, inside);
	ebpf_jump_if_imm(as, BPF_JGT, R2, (int32_t)emit->derived->count, bad);
	codegen_derived_node(emit, R1, queue, R2);
	ebpf_load(as, BPF_W, R1, R1, NODE(next));
	ebpf_bind(as, have);
}

/* bpf_loop's callback (turn, frame): the cursor goes one node on, up to the first that comes after the new one. */
static uint32_t function_seek(struct emit *emit)
{
	struct ebpf_asm *as = emit->as;
	uint32_t function = ebpf_asm_function(as, "seek");

	ebpf_asm_enter(as, function);
	uint32_t stop = ebpf_label(as);

	ebpf_note(as, "rule %s: which match comes first", program_text(emit->program, emit->rule->name));
	ebpf_load(as, BPF_DW, R8, R2, FRAME(queue));
	load_after_cursor(emit, R8, stop);
	ebpf_jump_if_imm(as, BPF_JEQ, R1, 0, stop);
	ebpf_jump_if_imm(as, BPF_JGT, R1, (int32_t)emit->derived->count, stop);
	ebpf_mov(as, R6, R1);
	codegen_derived_node(emit, R7, R8, R1);
	ebpf_load(as, BPF_W, R2, R8, QUEUE(fresh));
	ebpf_jump_if_imm(as, BPF_JGT, R2, (int32_t)emit->derived->count, stop);
	codegen_derived_node(emit, R3, R8, R2);
	jump_if_later(emit, R7, R3, stop);
	ebpf_store(as, BPF_W, R8, QUEUE(cursor), R6);
	ebpf_return_0_or_1(as, stop);
	ebpf_asm_leave(as);
	return function;
}

/* The node of the match in r8 comes before the last one. Overwrites r0-r5. */
static void insert(struct emit *emit)
{
	struct ebpf_asm *as = emit->as;
	uint32_t front = ebpf_label(as), done = ebpf_label(as);

	load_node(emit);
	ebpf_load(as, BPF_W, R5, R3, NODE(self));
	ebpf_store(as, BPF_W, R2, QUEUE(fresh), R5);
	ebpf_store_imm(as, BPF_W, R2, QUEUE(cursor), 0);
	ebpf_mov_imm(as, R1, emit->derived->count);
	ebpf_load_function(as, R2, function_seek(emit));
	ebpf_mov(as, R3, R9);
	ebpf_mov_imm(as, R4, 0);
	ebpf_call(as, BPF_FUNC_loop);
	load_node(emit);
	ebpf_mov(as, R5, R2);
	load_after_cursor(emit, R5, done);
	ebpf_store(as, BPF_W, R3, NODE(next), R1);
	ebpf_load(as, BPF_W, R1, R3, NODE(self));
	ebpf_jump_if_imm(as, BPF_JEQ, R2, 0, front);
	codegen_derived_node(emit, R4, R5, R2);
	ebpf_store(as, BPF_W, R4, NODE(next), R1);
	ebpf_jump(as, done);
	ebpf_bind(as, front);
	ebpf_store(as, BPF_W, R5, QUEUE(first), R1);
	ebpf_bind(as, done);
}

/* The match in r8 is told. What silences it looks at its slots; all code behind goes on with those of the run. */
static void report_derived(struct emit *emit)
{
	struct ebpf_asm *as = emit->as;
	struct emit of_match = *emit;
	uint32_t reported = ebpf_label(as), done = ebpf_label(as);

	if (emit->plan->silences) {
		emit_set_slots(&of_match, R8, sizeof(struct matcher_match));
		codegen_if_silent(&of_match, done);
	}
	ebpf_load_map(as, R1, emit->context->memory->ring_fd);
	ebpf_mov(as, R2, R8);
	ebpf_mov_imm(as, R3, codegen_derived_match_bytes(emit->plan));
	ebpf_mov_imm(as, R4, emit->context->silent ? BPF_RB_NO_WAKEUP : 0);
	ebpf_call(as, BPF_FUNC_ringbuf_output);
	ebpf_jump_if_imm(as, BPF_JEQ, R0, 0, reported);
	emit_count(emit, offsetof(struct matcher_control, lost), 1);
	emit_log_forget(emit, R8, sizeof(struct matcher_match));
	ebpf_jump(as, done);
	ebpf_bind(as, reported);
	emit_count(emit, offsetof(struct matcher_control, matches), 1);
	ebpf_bind(as, done);
}

/* The match in r8 is complete. Overwrites r0-r5. */
void codegen_derived_submit(struct emit *emit)
{
	struct ebpf_asm *as = emit->as;
	uint32_t first = ebpf_label(as), done = ebpf_label(as);
	uint32_t out_of_order = ebpf_label(as), end = ebpf_label(as);

	ebpf_note(as, "rule %s: tell and raise", program_text(emit->program, emit->rule->name));
	report_derived(emit);
	load_node(emit);
	ebpf_store_imm(as, BPF_W, R3, NODE(place), (int32_t)emit->derived->cascade.rule_places[emit->plan->index]);
	ebpf_store_imm(as, BPF_W, R3, NODE(next), 0);
	fill_origin(emit);
	fill_seq(emit);
	ebpf_load(as, BPF_DW, R2, R9, FRAME(queue));
	ebpf_load(as, BPF_W, R5, R3, NODE(self));
	ebpf_load(as, BPF_W, R1, R2, QUEUE(last));
	ebpf_jump_if_imm(as, BPF_JEQ, R1, 0, first);
	ebpf_jump_if_imm(as, BPF_JGT, R1, (int32_t)emit->derived->count, first);
	codegen_derived_node(emit, R4, R2, R1);
	if (!emit->event->in_order)
		jump_if_later(emit, R4, R3, out_of_order);
	ebpf_store(as, BPF_W, R4, NODE(next), R5);
	ebpf_jump(as, done);
	ebpf_bind(as, first);
	ebpf_store(as, BPF_W, R2, QUEUE(first), R5);
	ebpf_bind(as, done);
	ebpf_store(as, BPF_W, R2, QUEUE(last), R5);
	ebpf_jump(as, end);
	ebpf_bind(as, out_of_order);
	if (!emit->event->in_order)
		insert(emit);
	ebpf_bind(as, end);
}

void codegen_derived_take_over(struct emit *emit, uint32_t none)
{
	struct ebpf_asm *as = emit->as;
	uint32_t first = ebpf_label(as), taken = ebpf_label(as);

	ebpf_load(as, BPF_W, R1, R8, QUEUE(first));
	ebpf_jump_if_imm(as, BPF_JEQ, R1, 0, none);
	ebpf_load(as, BPF_W, R0, R8, QUEUE(pending));
	ebpf_jump_if_imm(as, BPF_JEQ, R0, 0, first);
	ebpf_load(as, BPF_W, R2, R8, QUEUE(end));
	ebpf_jump_if_imm(as, BPF_JGT, R2, (int32_t)emit->derived->count, none);
	codegen_derived_node(emit, R3, R8, R2);
	ebpf_store(as, BPF_W, R3, NODE(next), R1);
	ebpf_jump(as, taken);
	ebpf_bind(as, first);
	ebpf_store(as, BPF_W, R8, QUEUE(pending), R1);
	ebpf_bind(as, taken);
	ebpf_load(as, BPF_W, R2, R8, QUEUE(last));
	ebpf_store(as, BPF_W, R8, QUEUE(end), R2);
	ebpf_store_imm(as, BPF_DW, R8, QUEUE(first), 0);
}

void codegen_derived_later(struct emit *emit)
{
	struct ebpf_asm *as = emit->as;
	uint32_t done = ebpf_label(as), none = ebpf_label(as);

	ebpf_note(as, "rule %s: did it raise anything", program_text(emit->program, emit->rule->name));
	ebpf_load(as, BPF_DW, R8, R9, FRAME(queue));
	ebpf_jump_if_imm(as, BPF_JEQ, R8, 0, done);
	codegen_derived_take_over(emit, none);
	memory_frame_set(as, FRAME(raised), 1);
	ebpf_bind(as, none);
	memory_frame_forget(as, FRAME(queue));
	ebpf_bind(as, done);
}
