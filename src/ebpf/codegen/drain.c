// SPDX-License-Identifier: BSD-2-Clause
/*
 * Deals with raised events in order: in that in which they were raised, each by all rules before anything that it
 * raised itself, and all of them when the event from outside has been dealt with by all rules. A callback of bpf_loop
 * takes the first node that is pending to the place it stands at, where its next event is made and given to the rules
 * that take it. What these raise goes to the end of the list.
 *
 * The number of turns is bounded: what is left after them is a counted loss of the rules that raised it.
 *
 * A program has this code once, whatever types of events lead to it: in a global function, which the verifier follows
 * once and not for every call. Such a function takes no pointers, so it has a frame of its own.
 *
 * Registers: r7 the node, r8 the queue, r6 the record, r9 the frame, which the code for the event from outside is done
 * with.
 */

#include "ebpf/codegen/derived.h"
#include "ebpf/codegen/machine.h"

#include "base/alloc.h"

#include <errno.h>

#define QUEUE(member)  offsetof(struct matcher_queue, member)
#define NODE(member)   offsetof(struct matcher_raised, member)
#define ORIGIN(member) offsetof(struct matcher_origin, member)

enum { DRAINED_MATCH_OFF = sizeof(struct matcher_raised) };

struct drain {
	const struct emit_context *context;
	const struct plan *plan;
	struct ebpf_asm *as;
	struct emit_derived *derived;
	uint32_t lock;
	int16_t irq_flags;
	uint32_t *places; /* labels, by number */
	uint32_t again, stop, release;
};

/* For what the rule does at the raised event, or to raise its own. */
static struct emit emit_for(const struct drain *drain, const struct plan_event *event)
{
	struct emit emit = emit_of(drain->context, drain->as, event);

	emit.functions.lock = drain->lock;
	emit.irq_flags = drain->irq_flags;
	emit.derived = drain->derived;
	emit.is_derived = true;
	emit.is_behind = drain->derived->at_event;
	emit.derived_scratch = drain->derived->scratch_off;
	return emit;
}

/* Goes to the place in r0. */
static void dispatch_place(const struct drain *drain, uint32_t first, uint32_t end)
{
	uint32_t half = first + (end - first) / 2, upper;

	if (end - first == 1) {
		ebpf_jump(drain->as, drain->places[first]);
		return;
	}
	upper = ebpf_label(drain->as);
	ebpf_jump_if_imm(drain->as, BPF_JGE, R0, (int32_t)half, upper);
	dispatch_place(drain, first, half);
	ebpf_bind(drain->as, upper);
	dispatch_place(drain, half, end);
}

/* r1 narrowed to what a field of this type holds. */
static void narrow_to_type(struct ebpf_asm *as, uint32_t value)
{
	int32_t bits = value == EVENT_U8 || value == EVENT_I8     ? 56
		       : value == EVENT_U16 || value == EVENT_I16 ? 48
		       : value == EVENT_U32 || value == EVENT_I32 ? 32
								  : 0;
	bool is_signed = value == EVENT_I8 || value == EVENT_I16 || value == EVENT_I32;
	uint32_t done = ebpf_label(as);

	if (value == EVENT_BOOL) {
		ebpf_jump_if_imm(as, BPF_JEQ, R1, 0, done);
		ebpf_mov_imm(as, R1, 1);
	} else if (bits) {
		ebpf_alu_imm(as, BPF_LSH, R1, bits);
		ebpf_alu_imm(as, is_signed ? BPF_ARSH : BPF_RSH, R1, bits);
	}
	ebpf_bind(as, done);
}

/* The field of the record in r6, which is 0, becomes the argument; it stays 0 where a division by zero is in it. */
static void set_field(struct emit *emit, const struct program_arg *arg)
{
	const struct program_field *field = &emit->program->fields[arg->field];
	struct ebpf_text_place place = { R6, (int32_t)field->offset, field->bytes };

	emit->lower.on_zero = ebpf_label(emit->as);
	if (field->value == EVENT_STRING) {
		ebpf_lower_text(&emit->lower, arg->node, &place);
	} else {
		ebpf_lower_value(&emit->lower, arg->node);
		narrow_to_type(emit->as, field->value);
		ebpf_store(emit->as, BPF_DW, R6, (int32_t)field->offset, R1);
	}
	ebpf_bind(emit->as, emit->lower.on_zero);
}

/* Makes the event in the node. */
static void make_drained_record(struct emit *emit, const struct program_statement *statement)
{
	const struct program_type *type = &emit->program->types[statement->type];
	static const size_t numbers[][2] = { { MATCH(cpu), HEADER(cpu) },
					     { MATCH(pid), HEADER(pid) },
					     { MATCH(tid), HEADER(tid) } };
	struct ebpf_words comm = { R6, R7, HEADER(comm), DRAINED_MATCH_OFF + (int32_t)MATCH(comm),
				   EVENT_COMM_BYTES / 8 };
	struct ebpf_words ts = { R6, R7, HEADER(ts), DRAINED_MATCH_OFF + (int32_t)MATCH(ts), 1 };
	struct ebpf_words seq = { R6, R7, HEADER(seq), NODE(seq), 1 };
	const uint32_t head = sizeof(struct event_header);
	struct ebpf_asm *as = emit->as;

	ebpf_note(as, "rule %s: EMIT %s", program_text(emit->program, emit->rule->name),
		  program_text(emit->program, type->name));
	ebpf_load(as, BPF_W, R0, R8, QUEUE(turn));
	ebpf_alu_imm(as, BPF_ADD, R0, 1);
	ebpf_store(as, BPF_W, R8, QUEUE(turn), R0);
	ebpf_address(as, R6, R7, (int32_t)emit->derived->record_off);
	ebpf_lower_copy(&emit->lower, &ts);
	ebpf_lower_copy(&emit->lower, &seq);
	ebpf_lower_copy(&emit->lower, &comm);
	ebpf_store_imm(as, BPF_W, R6, HEADER(type), (int32_t)statement->type);
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
		ebpf_load(as, BPF_W, R0, R7, DRAINED_MATCH_OFF + (int32_t)numbers[i][0]);
		ebpf_store(as, BPF_W, R6, (int32_t)numbers[i][1], R0);
	}
	ebpf_lower_zero(&emit->lower, R6, (int32_t)head, (type->record_bytes - head) / 8);
	emit_set_slots(emit, R7, DRAINED_MATCH_OFF + sizeof(struct matcher_match));
	for (uint32_t i = 0; i < statement->arg_count; i++)
		set_field(emit, &program_args(emit->program, statement)[i]);
}

/* The events of a match of the rule are raised one by one. */
static void emit_matched(struct drain *drain, uint32_t rule)
{
	struct emit emit = emit_for(drain, &drain->plan->rules[rule].deadline);
	struct ebpf_asm *as = drain->as;
	uint32_t place = drain->derived->cascade.rule_places[rule];
	const struct program_statement *statement = program_statements(emit.program, emit.rule);

	ebpf_bind(as, drain->places[place]);
	for (uint32_t i = 0, left = emit.rule->statement_count; i < left; i++, statement++) {
		bool is_last = true;

		if (plan_raised_type(drain->plan, statement) == PROGRAM_NONE)
			continue;
		for (uint32_t j = i + 1; j < left; j++)
			is_last &= plan_raised_type(drain->plan, &statement[j - i]) == PROGRAM_NONE;
		if (place != drain->derived->cascade.rule_places[rule])
			ebpf_bind(as, drain->places[place]);
		place++;
		if (emit_is_machine(&emit)) {
			emit_set_slots(&emit, R7, DRAINED_MATCH_OFF + sizeof(struct matcher_match));
			codegen_unless_notice(&emit, statement->notice,
					      is_last ? drain->release : drain->places[place]);
		}
		make_drained_record(&emit, statement);
		ebpf_store_imm(as, BPF_W, R7, NODE(then), is_last ? 0 : (int32_t)place);
		ebpf_jump(as, drain->places[drain->derived->cascade.type_places[statement->type]]);
	}
}

/* r6, and the frame's record, of the node in the frame. */
static void load_record(struct drain *drain)
{
	struct ebpf_asm *as = drain->as;

	ebpf_load(as, BPF_DW, R6, R9, FRAME(node));
	ebpf_alu_imm(as, BPF_ADD, R6, (int32_t)drain->derived->record_off);
	memory_frame_point(as, FRAME(record), R6);
}

/* All rules that take the type, at its event in the node. */
static void emit_arrived(struct drain *drain, uint32_t type)
{
	const struct plan_part all = { .first = 0, .end = drain->plan->program->rule_count };
	const struct plan_event *event;
	struct ebpf_asm *as = drain->as;

	ebpf_bind(as, drain->places[drain->derived->cascade.type_places[type]]);
	load_record(drain);
	emit_why_seen(drain->context, as, type, NULL);
	for (uint32_t i = 0; (event = plan_next(drain->plan, type, &all, &i)) && !ebpf_asm_error(as);) {
		struct emit emit = emit_for(drain, event);

		if (event->asks_ends)
			emit_look_for_cut(&emit);
		codegen_rule(&emit);
		memory_frame_leave_rule(as);
		if (event->asks_ends)
			emit_count_cut(&emit);
		if (codegen_raises(&emit)) {
			uint32_t none = ebpf_label(as);

			ebpf_load(as, BPF_DW, R8, R9, FRAME(queue));
			codegen_derived_take_over(&emit, none);
			ebpf_bind(as, none);
		}
	}
	ebpf_note(as, "the raised event is done with");
	ebpf_load(as, BPF_DW, R7, R9, FRAME(node));
	ebpf_load(as, BPF_DW, R8, R9, FRAME(queue));
	ebpf_load(as, BPF_W, R0, R7, NODE(then));
	ebpf_jump_if_imm(as, BPF_JEQ, R0, 0, drain->release);
	ebpf_store(as, BPF_W, R7, NODE(place), R0);
	ebpf_jump(as, drain->again);
}

/* Too many turns: nothing more comes of the node in r7. */
static void emit_flood(struct drain *drain)
{
	struct ebpf_asm *as = drain->as;

	for (uint32_t rule = 0; rule < drain->plan->program->rule_count; rule++) {
		uint32_t next = ebpf_label(as);
		struct emit emit;

		if (!drain->derived->cascade.rules[rule])
			continue;
		emit = emit_for(drain, &drain->plan->rules[rule].deadline);
		ebpf_load(as, BPF_W, R0, R7, DRAINED_MATCH_OFF + (int32_t)MATCH(rule));
		ebpf_jump_if_imm(as, BPF_JNE, R0, (int32_t)rule, next);
		emit_lose_raised(&emit);
		ebpf_bind(as, next);
	}
	ebpf_jump(as, drain->release);
}

/* The node in r7, the first that is pending, is free. */
static void emit_ends(struct drain *drain)
{
	struct ebpf_asm *as = drain->as;

	ebpf_bind(as, drain->release);
	ebpf_load(as, BPF_W, R1, R7, NODE(next));
	ebpf_store(as, BPF_W, R8, QUEUE(pending), R1);
	ebpf_load(as, BPF_W, R0, R8, QUEUE(free));
	ebpf_store(as, BPF_W, R7, NODE(next), R0);
	ebpf_load(as, BPF_W, R0, R7, NODE(self));
	ebpf_store(as, BPF_W, R8, QUEUE(free), R0);
	ebpf_jump_if_imm(as, BPF_JEQ, R1, 0, drain->stop);
	ebpf_bind(as, drain->again);
	ebpf_return(as, 0);
	ebpf_bind(as, drain->stop);
	ebpf_return(as, 1);
}

/* bpf_loop's callback (turn, frame). */
static void emit_turn(struct drain *drain)
{
	struct emit emit = emit_for(drain, &drain->plan->rules[0].deadline);
	struct ebpf_asm *as = drain->as;
	uint32_t flood = ebpf_label(as);

	ebpf_note(as, "the next raised event");
	ebpf_mov(as, R9, R2);
	ebpf_mov(as, R5, R1);
	ebpf_load(as, BPF_DW, R8, R9, FRAME(queue));
	ebpf_load(as, BPF_W, R2, R8, QUEUE(pending));
	ebpf_jump_if_imm(as, BPF_JEQ, R2, 0, drain->stop);
	ebpf_jump_if_imm(as, BPF_JGT, R2, (int32_t)drain->derived->count, drain->stop);
	codegen_derived_node(&emit, R7, R8, R2);
	memory_frame_point(as, FRAME(node), R7);
	ebpf_jump_if_imm(as, BPF_JGE, R5, MATCHER_TURNS_MAX, flood);
	ebpf_load(as, BPF_W, R0, R7, NODE(place));
	dispatch_place(drain, 1, drain->derived->cascade.place_count + 1);
	for (uint32_t rule = 0; rule < drain->plan->program->rule_count; rule++)
		if (drain->derived->cascade.rules[rule])
			emit_matched(drain, rule);
	for (uint32_t type = 0; type < drain->plan->program->type_count; type++)
		if (drain->derived->cascade.type_places[type] != PROGRAM_NONE)
			emit_arrived(drain, type);
	ebpf_bind(as, flood);
	emit_flood(drain);
	emit_ends(drain);
}

static bool locks_out_interrupts(const struct plan *plan)
{
	for (uint32_t rule = 0; rule < plan->program->rule_count; rule++)
		if (plan->rules[rule].raised && plan->rules[rule].locks_out_interrupts)
			return true;
	return false;
}

static uint32_t function_turn(const struct emit_context *context, struct ebpf_asm *as, struct emit_derived *derived)
{
	uint32_t function = ebpf_asm_function(as, "raised");
	struct drain drain = { .context = context, .plan = context->plan, .as = as, .derived = derived };

	drain.lock = emit_function_lock(as);
	drain.places = alloc_zero(derived->cascade.place_count + 1, sizeof *drain.places);
	if (!drain.places) {
		ebpf_asm_fail(as, -ENOMEM);
		return function;
	}
	ebpf_asm_enter(as, function);
	for (uint32_t i = 1; i <= derived->cascade.place_count; i++)
		drain.places[i] = ebpf_label(as);
	drain.again = ebpf_label(as);
	drain.stop = ebpf_label(as);
	drain.release = ebpf_label(as);
	if (locks_out_interrupts(drain.plan))
		drain.irq_flags = ebpf_stack_take(as, 8);
	emit_turn(&drain);
	ebpf_asm_leave(as);
	alloc_free(drain.places);
	return function;
}

void codegen_drain_function(const struct emit_context *context, struct ebpf_asm *as, struct emit_derived *derived)
{
	struct emit emit = emit_of(context, as, &context->plan->rules[0].deadline);
	uint32_t turn = function_turn(context, as, derived), unknown;

	emit.derived = derived;
	derived->drain = ebpf_asm_global(as, "drain", 0);
	ebpf_asm_enter(as, derived->drain);
	unknown = ebpf_label(as);
	ebpf_note(as, "what was raised is dealt with");
	ebpf_address(as, R9, R10, ebpf_stack_take(as, sizeof(struct matcher_frame)));
	memory_frame_begin(context->memory, as);
	codegen_derived_queue(&emit, unknown);
	ebpf_store_imm(as, BPF_W, R8, QUEUE(turn), 0);
	ebpf_mov_imm(as, R1, MATCHER_TURNS_MAX + MATCHER_RAISED_MAX + 1);
	ebpf_load_function(as, R2, turn);
	ebpf_mov(as, R3, R9);
	ebpf_mov_imm(as, R4, 0);
	ebpf_call(as, BPF_FUNC_loop);
	ebpf_bind(as, unknown);
	ebpf_return(as, 0);
	ebpf_asm_leave(as);
}
