// SPDX-License-Identifier: BSD-2-Clause
/*
 * Decides what the code for one event type is made of: the frame, then the rules. Of those that can only be opened by
 * the event, and only if one of its fields has a certain value, a binary tree over these values finds the few that it
 * concerns. So a hundred rules about different system calls cost little more than one.
 */

#include "ebpf/codegen/part.h"
#include "ebpf/plan/guards.h"
#include "ebpf/sums/sums.h"

static bool locks_out_interrupts(const struct plan *plan, const struct plan_part *part)
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
			emit_one_rule(parts, events[i]);
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
			emit_one_rule(parts, event);
	plan_guards_fini(&guards);
}

/* When all rules have dealt with the event. */
static void drain(const struct emit_parts *parts)
{
	struct emit emit = emit_of(parts->context, parts->as, &parts->plan->rules[parts->part->first].deadline);

	emit.derived = parts->derived;
	emit_drain(&emit);
}

static void emit_frame(struct emit_parts *parts, struct emit_derived *derived)
{
	struct ebpf_asm *as = parts->as;
	int16_t frame = ebpf_stack_take(as, derived ? sizeof(struct matcher_frame) : FRAME(raised));

	if (locks_out_interrupts(parts->plan, parts->part))
		parts->irq_flags = ebpf_stack_take(as, 8);
	parts->functions.lock = emit_function_lock(as);
	ebpf_mov(as, R9, R10);
	ebpf_alu_imm(as, BPF_ADD, R9, frame);
	emit_frame_begin(parts->context->memory, as);
	emit_frame_point(as, FRAME(record), R6);
	if (!derived)
		return;
	emit_drain_function(parts->context, as, derived, parts->functions.lock);
	emit_frame_set(as, FRAME(raised), 0);
	emit_frame_forget(as, FRAME(queue));
}

static void emit_all(struct emit_parts *parts, struct emit_derived *derived)
{
	struct ebpf_asm *as = parts->as;
	uint32_t mark = ebpf_stack_mark(as), unread = ebpf_label(as), done = ebpf_label(as), strings;

	emit_frame(parts, derived);
	emit_header_begin(as, &parts->header, &parts->functions);
	emit_why_seen(parts->context, as, parts->type, parts->part);
	strings = emit_look_for_unread(parts, unread);
	emit_rules(parts);
	if (strings) {
		ebpf_jump(as, done);
		ebpf_bind(as, unread);
		emit_unread(parts, strings);
	}
	ebpf_bind(as, done);
	if (derived)
		drain(parts);
	ebpf_stack_release(as, mark);
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

void emit_part(const struct emit_context *context, struct ebpf_asm *as, uint32_t type, const struct plan_part *part,
	       bool keeps)
{
	struct emit_context here = *context;
	struct emit_derived derived;
	int found = emit_derived_find(context, type, part, &derived), error = found < 0 ? found : 0;
	struct emit_parts parts = {
		.context = &here,
		.plan = context->plan,
		.as = as,
		.type = type,
		.part = part,
		.header = header_of(context, part),
		.derived = found > 0 ? &derived : NULL,
		.wanting = plan_wanting(context->plan, type, part),
	};

	if (found > 0 && keeps)
		error = emit_derived_map(context, &derived);
	if (!error)
		error = sums_make_room(&here, keeps);
	if (error)
		ebpf_asm_fail(as, error);
	emit_all(&parts, found > 0 ? &derived : NULL);
	emit_derived_fini(&derived);
}
