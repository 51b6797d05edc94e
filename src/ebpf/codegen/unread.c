// SPDX-License-Identifier: BSD-2-Clause
/* Handles an event that a rule would look at where something of it could not be read. */

#include "ebpf/codegen/part.h"

#include "event/type.h"

static void count_unread(const struct emit_parts *parts, const struct plan_event *event)
{
	struct emit emit = emit_of(parts->context, parts->as, event);

	emit_count_unread(&emit);
}

/* Leaves for unread if one of the doubtful strings of the event is. Returns how many there are. */
static uint32_t look_at_doubtful(struct emit_parts *parts, const bool *doubtful, uint32_t unread)
{
	const struct program *program = parts->plan->program;
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

uint32_t codegen_look_for_unread(struct emit_parts *parts, uint32_t unread)
{
	uint32_t fields = parts->plan->program->types[parts->type].field_count;
	bool doubtful[EVENT_FIELDS_MAX] = { false };
	const struct plan_event *event;

	for (uint32_t i = 0; (event = plan_next(parts->plan, parts->type, parts->part, &i));)
		for (uint32_t field = 0; field < fields; field++)
			doubtful[field] |= event->may_be_unread[field];
	return look_at_doubtful(parts, doubtful, unread);
}

void codegen_unread(struct emit_parts *parts, uint32_t strings)
{
	struct ebpf_asm *as = parts->as;
	const struct plan_event *event;

	for (uint32_t i = 0; (event = plan_next(parts->plan, parts->type, parts->part, &i)) && !ebpf_asm_error(as);) {
		uint32_t unread = ebpf_label(as), next = ebpf_label(as), looks_at;

		looks_at = look_at_doubtful(parts, event->may_be_unread, unread);
		if (!looks_at || strings > 1)
			codegen_one_rule(parts, event);
		ebpf_jump(as, next);
		ebpf_bind(as, unread);
		if (looks_at)
			count_unread(parts, event);
		ebpf_bind(as, next);
	}
}

void codegen_part_unread(const struct emit_context *context, struct ebpf_asm *as, uint32_t type,
			 const struct plan_part *part, bool for_all)
{
	struct emit_parts parts = { .context = context, .plan = context->plan, .as = as, .type = type, .part = part };
	const struct plan_event *event;

	emit_why_seen(context, as, type, part);
	for (uint32_t i = 0; (event = plan_next(context->plan, type, part, &i));)
		if (for_all || event->doubtful)
			count_unread(&parts, event);
}
