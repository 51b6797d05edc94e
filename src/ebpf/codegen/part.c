// SPDX-License-Identifier: BSD-2-Clause
/* Decides what the code for one event type is made of: the frame, then the rules, those with guards behind a tree. */

#include "ebpf/codegen/derived.h"
#include "ebpf/codegen/part.h"
#include "program/reads.h"

bool matcher_wants(struct ebpf_matcher *matcher, uint32_t rule, uint32_t type)
{
	struct emit emit = matcher_emit_of(matcher, NULL, rule, type);

	return emit.place->here && program_rule_sees(matcher->program, emit.rule, type) && emit_rule_wants(&emit);
}

/* What is left to be fetched. */
static struct matcher_header header_of(const struct emit_parts *parts)
{
	struct matcher_header header = parts->part->header;

	if (parts->matcher->knows_who) {
		header.late &= (uint8_t)~MATCHER_HEADER_WHO;
		header.match &= (uint8_t)~MATCHER_HEADER_WHO;
	}
	return header;
}

void emit_one_rule(struct emit_parts *parts, uint32_t rule)
{
	struct emit emit = matcher_emit_of(parts->matcher, parts->as, rule, parts->type);

	emit.functions = parts->functions;
	emit.header = header_of(parts);
	emit.irq_flags = parts->irq_flags;
	emit.is_alone = parts->wanting == 1;
	emit.derived = parts->derived;
	emit_rule(&emit);
	if (emit_raises(&emit))
		emit_drain_later(&emit);
}

static uint32_t count_wanting(struct ebpf_matcher *matcher, uint32_t type, const struct matcher_part *part)
{
	uint32_t count = 0;

	for (uint32_t rule = part->first; rule < part->end; rule++)
		count += matcher_wants(matcher, rule, type);
	return count;
}

static bool locks_out_interrupts(const struct ebpf_matcher *matcher, const struct matcher_part *part)
{
	for (uint32_t rule = part->first; rule < part->end; rule++)
		if (matcher->rules[rule].locks_out_interrupts)
			return true;
	return false;
}

/* Notes what rule looks at in events of type that may be unread. Returns whether there is anything. */
static bool find_doubtful(const struct ebpf_matcher *matcher, uint32_t rule, uint32_t type, bool *doubtful)
{
	const struct program_type *row = &matcher->program->types[type];
	bool reads[EVENT_FIELDS_MAX] = { false }, any = false;

	program_rule_reads(matcher->program, rule, type, reads);
	for (uint32_t i = 0; i < row->field_count; i++) {
		const bool *may_be_unread = matcher->options.may_be_unread;
		bool may = may_be_unread ? may_be_unread[row->first_field + i]
					 : program_fields(matcher->program, row)[i].value == EVENT_STRING;

		if (!reads[i] || !may)
			continue;
		doubtful[i] = any = true;
	}
	return any;
}

static void emit_count_unread(struct emit_parts *parts, uint32_t rule)
{
	struct emit emit = matcher_emit_of(parts->matcher, parts->as, rule, parts->type);

	ebpf_note(parts->as, "unread for %s", program_text(emit.program, emit.rule->name));
	emit_count(&emit, offsetof(struct matcher_control, unread), 1);
	ebpf_atomic_add(parts->as, R1, offsetof(struct matcher_control, epoch), R2);
}

/* Leaves for unread if one of the doubtful strings of the event is. Returns how many there are. */
static uint32_t emit_look_at(struct emit_parts *parts, const bool *doubtful, uint32_t unread)
{
	const struct program *program = parts->matcher->program;
	const struct program_type *type = &program->types[parts->type];
	uint32_t count = 0;

	for (uint32_t i = 0; i < type->field_count; i++) {
		const struct program_field *field = &program_fields(program, type)[i];

		if (!doubtful[i] || field->value != EVENT_STRING)
			continue;
		ebpf_note(parts->as, "is %s unread?", program_text(program, field->name));
		ebpf_load(parts->as, BPF_B, R1, R6, (int32_t)(field->offset + field->bytes - 1));
		ebpf_jump_if_imm(parts->as, BPF_JNE, R1, 0, unread);
		count++;
	}
	return count;
}

/* Leaves for unread if the event lacks what some rule looks at. Returns how many strings that may be. */
static uint32_t emit_look_for_unread(struct emit_parts *parts, uint32_t unread)
{
	bool doubtful[EVENT_FIELDS_MAX] = { false };

	for (uint32_t rule = parts->part->first; rule < parts->part->end; rule++)
		if (matcher_wants(parts->matcher, rule, parts->type))
			find_doubtful(parts->matcher, rule, parts->type, doubtful);
	return emit_look_at(parts, doubtful, unread);
}

/*
 * What becomes of an event in which one of so many strings is unread: a rule that looks at it does not see the event,
 * and its open runs are marked; the others see it.
 */
static void emit_unread(struct emit_parts *parts, uint32_t strings)
{
	struct ebpf_asm *as = parts->as;

	for (uint32_t rule = parts->part->first; rule < parts->part->end && !ebpf_asm_error(as); rule++) {
		bool doubtful[EVENT_FIELDS_MAX] = { false };
		uint32_t unread = ebpf_label(as), next = ebpf_label(as), looks_at;

		if (!matcher_wants(parts->matcher, rule, parts->type))
			continue;
		find_doubtful(parts->matcher, rule, parts->type, doubtful);
		looks_at = emit_look_at(parts, doubtful, unread);
		if (!looks_at || strings > 1)
			emit_one_rule(parts, rule);
		ebpf_jump(as, next);
		ebpf_bind(as, unread);
		if (looks_at)
			emit_count_unread(parts, rule);
		ebpf_bind(as, next);
	}
}

void ebpf_matcher_emit_unread(struct ebpf_matcher *matcher, struct ebpf_asm *as, uint32_t type, uint32_t part,
			      bool for_all)
{
	struct emit_parts parts = {
		.matcher = matcher, .as = as, .type = type, .part = &matcher->types[type].parts[part]
	};
	bool doubtful[EVENT_FIELDS_MAX];

	for (uint32_t rule = parts.part->first; rule < parts.part->end; rule++)
		if (matcher_wants(matcher, rule, type) && (for_all || find_doubtful(matcher, rule, type, doubtful)))
			emit_count_unread(&parts, rule);
}

/* When all rules have dealt with the event. */
static void drain(const struct emit_parts *parts)
{
	struct emit emit = matcher_emit_of(parts->matcher, parts->as, parts->part->first, parts->type);

	emit.derived = parts->derived;
	emit_drain(&emit);
}

void emit_part(struct ebpf_matcher *matcher, struct ebpf_asm *as, uint32_t type, const struct matcher_part *part,
	       struct emit_derived *derived)
{
	struct emit_parts parts = { .matcher = matcher, .as = as, .type = type, .part = part, .derived = derived };
	struct emit_guards guards;
	uint32_t mark = ebpf_stack_mark(as), unread = ebpf_label(as), done = ebpf_label(as);
	int16_t frame =
		ebpf_stack_take(as, derived ? sizeof(struct matcher_frame) : offsetof(struct matcher_frame, raised));
	int error = emit_guards_find(matcher, type, part, &guards);

	if (error)
		ebpf_asm_fail(as, error);
	if (locks_out_interrupts(matcher, part))
		parts.irq_flags = ebpf_stack_take(as, 8);
	parts.functions.lock = emit_function_lock(as);
	parts.wanting = count_wanting(matcher, type, part);
	ebpf_mov(as, R9, R10);
	ebpf_alu_imm(as, BPF_ADD, R9, frame);
	emit_frame_begin(matcher, as);
	emit_frame_point(as, offsetof(struct matcher_frame, record), R6);
	if (derived) {
		emit_drain_function(matcher, as, derived, parts.functions.lock);
		emit_frame_set(as, offsetof(struct matcher_frame, raised), 0);
		emit_frame_forget(as, offsetof(struct matcher_frame, queue));
	}
	struct matcher_header header = header_of(&parts);

	emit_header_begin(as, &header, &parts.functions);
	uint32_t strings = emit_look_for_unread(&parts, unread);

	emit_guards(&parts, &guards);
	for (uint32_t rule = part->first; rule < part->end && !ebpf_asm_error(as); rule++)
		if (matcher_wants(matcher, rule, type) && !emit_guards_has(&guards, rule))
			emit_one_rule(&parts, rule);
	if (strings) {
		ebpf_jump(as, done);
		ebpf_bind(as, unread);
		emit_unread(&parts, strings);
	}
	ebpf_bind(as, done);
	if (derived)
		drain(&parts);
	emit_guards_fini(&guards);
	ebpf_stack_release(as, mark);
}
