// SPDX-License-Identifier: BSD-2-Clause
/*
 * Assembles the code for one event type: the frame, then the rules. Of those that can only be opened by the event, and
 * only if one of its fields has a certain value, a binary tree over these values finds the few that it concerns. So a
 * hundred rules about different system calls cost little more than one.
 */

#include "ebpf/codegen/part.h"
#include "ebpf/plan/guards.h"
#include "ebpf/sums/sums.h"

static bool part_locks_out_interrupts(const struct plan *plan, const struct plan_part *part)
{
	for (uint32_t rule = part->first; rule < part->end; rule++)
		if (plan->rules[rule].locks_out_interrupts)
			return true;
	return false;
}

/* The tree over events [first, end); r1 holds the field. What concerns no one leaves for out. */
static void emit_tree(struct emit_parts *parts, const struct plan_guards *guards, uint32_t first, uint32_t end,
		      uint32_t out)
{
	const struct plan_event *const *events = guards->events;
	struct ebpf_asm *as = parts->as;
	uint32_t middle = first + (end - first) / 2, upper;

	while (middle > first && events[middle - 1]->guard.value == events[middle]->guard.value)
		middle--;
	if (middle == first)
		while (middle < end && events[middle]->guard.value == events[first]->guard.value)
			middle++;
	if (middle == end) {
		ebpf_jump_if_imm(as, BPF_JNE, R1, events[first]->guard.value, out);
		for (uint32_t i = first; i < end; i++)
			codegen_one_rule(parts, events[i]);
		ebpf_jump(as, out);
		return;
	}
	upper = ebpf_label(as);
	ebpf_jump_if_imm(as, BPF_JSGE, R1, events[middle]->guard.value, upper);
	emit_tree(parts, guards, first, middle, out);
	ebpf_bind(as, upper);
	emit_tree(parts, guards, middle, end, out);
}

static void emit_guarded(struct emit_parts *parts, const struct plan_guards *guards)
{
	const struct program *program = parts->plan->program;
	const struct program_field *field;
	uint32_t out = ebpf_label(parts->as);

	if (guards->count) {
		field = &program->fields[guards->events[0]->guard.field];
		ebpf_note(parts->as, "which of %u rules does %s concern?", guards->count,
			  program_text(program, field->name));
		ebpf_load(parts->as, ebpf_width(field->bytes), R1, R6, (int32_t)field->offset);
		emit_tree(parts, guards, 0, guards->count, out);
	}
	ebpf_bind(parts->as, out);
}

/* The rules, those that guards keep out behind their tree. */
static void emit_rules(struct emit_parts *parts)
{
	const struct plan_event *event;
	struct plan_guards guards;
	int error = plan_guards(parts->plan, parts->type, parts->part, &guards);

	if (error)
		ebpf_asm_fail(parts->as, error);
	emit_guarded(parts, &guards);
	for (uint32_t i = 0; (event = plan_next(parts->plan, parts->type, parts->part, &i));)
		if (!plan_guards_has(&guards, event) && !ebpf_asm_error(parts->as))
			codegen_one_rule(parts, event);
	plan_guards_fini(&guards);
}

static void emit_frame(struct emit_parts *parts)
{
	struct ebpf_asm *as = parts->as;
	int16_t frame = ebpf_stack_take(as, parts->derived ? sizeof(struct matcher_frame) : FRAME(raised));

	if (part_locks_out_interrupts(parts->plan, parts->part))
		parts->irq_flags = ebpf_stack_take(as, 8);
	parts->functions.lock = emit_function_lock(as);
	ebpf_address(as, R9, R10, frame);
	memory_frame_begin(parts->context->memory, as);
	memory_frame_point(as, FRAME(record), R6);
	if (!parts->derived)
		return;
	memory_frame_set(as, FRAME(raised), 0);
	memory_frame_forget(as, FRAME(queue));
}

static void emit_all(struct emit_parts *parts)
{
	struct ebpf_asm *as = parts->as;
	uint32_t mark = ebpf_stack_mark(as), unread = ebpf_label(as), done = ebpf_label(as), strings;

	emit_frame(parts);
	emit_header_begin(as, &parts->header, &parts->functions);
	emit_why_seen(parts->context, as, parts->type, parts->part);
	strings = codegen_look_for_unread(parts, unread);
	emit_rules(parts);
	if (strings) {
		ebpf_jump(as, done);
		ebpf_bind(as, unread);
		codegen_unread(parts, strings);
	}
	ebpf_bind(as, done);
	ebpf_stack_release(as, mark);
}

/*
 * A function (record) that says whether the event has raised others. A type that one program raises in several ways has
 * it once, and where it may be shown the record the verifier follows it once.
 */
static uint32_t function_rules(struct emit_parts *parts)
{
	struct ebpf_asm *as = parts->as;
	uint32_t function, none, bytes = parts->context->record_bytes;
	char name[64];

	snprintf(name, sizeof name, "rules_%u_%u_%d_%u", parts->type, parts->part->first, parts->context->knows_who,
		 bytes);
	if (ebpf_asm_find(as, name, &function))
		return function;
	function = bytes ? ebpf_asm_global(as, name, 1) : ebpf_asm_function(as, name);
	ebpf_asm_enter(as, function);
	none = ebpf_label(as);
	if (bytes) {
		ebpf_asm_takes_bytes(as, function, 0, bytes);
		ebpf_mov_imm(as, R0, 0);
		ebpf_jump_if_imm(as, BPF_JEQ, R1, 0, none);
	}
	ebpf_mov(as, R6, R1);
	emit_all(parts);
	ebpf_mov_imm(as, R0, 0);
	if (parts->derived)
		ebpf_load(as, BPF_DW, R0, R9, FRAME(raised));
	ebpf_bind(as, none);
	ebpf_exit(as);
	ebpf_asm_leave(as);
	return function;
}

/*
 * Where events of the program may raise others, in a function of its own: no frame is on the stack when that of the
 * function that deals with them is there. Before Linux 6.10 a function takes 32 bytes of the stack at least, so a few
 * calls and two frames are more than its 512 bytes. And where a type is raised in several ways.
 */
static void emit_apart(struct emit_parts *parts)
{
	struct ebpf_asm *as = parts->as;
	uint32_t function = function_rules(parts), none = ebpf_label(as);

	ebpf_mov(as, R1, R6);
	ebpf_call_function(as, function);
	if (parts->derived) {
		ebpf_jump_if_imm(as, BPF_JEQ, R0, 0, none);
		ebpf_call_function(as, parts->derived->drain);
		ebpf_bind(as, none);
	}
}

/* What is left to be fetched. */
static struct plan_header header_of(const struct emit_context *context, const struct plan_part *part)
{
	struct plan_header header = part->header;

	if (context->knows_who) {
		header.late &= (uint8_t)~PLAN_HEADER_WHO;
		header.match &= (uint8_t)~PLAN_HEADER_WHO;
	}
	return header;
}

void codegen_begin(struct emit_context *context, struct ebpf_asm *as, struct emit_derived *derived, bool keeps)
{
	int error = sums_make_room(context, keeps);

	context->derived = derived->cascade.rules ? derived : NULL;
	if (!error && context->derived)
		error = codegen_derived_settle(context, derived, keeps);
	if (error)
		ebpf_asm_fail(as, error);
	if (context->derived)
		codegen_drain_function(context, as, derived);
}

void codegen_part(const struct emit_context *context, struct ebpf_asm *as, uint32_t type, const struct plan_part *part)
{
	struct emit_parts parts = {
		.context = context,
		.plan = context->plan,
		.as = as,
		.type = type,
		.part = part,
		.header = header_of(context, part),
		.derived = plan_cascade_begins(context->plan, type, part) ? context->derived : NULL,
		.wanting = plan_wanting(context->plan, type, part),
	};

	if (context->derived || context->has_repeats)
		emit_apart(&parts);
	else
		emit_all(&parts);
}
