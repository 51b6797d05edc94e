// SPDX-License-Identifier: BSD-2-Clause
/* Decides what the code for one event type is made of: the frame, then the rules, those with guards behind a tree. */

#include "ebpf/emit-derived.h"

bool matcher_wants(struct ebpf_matcher *matcher, uint32_t rule, uint32_t type)
{
	struct emit emit = matcher_emit_of(matcher, NULL, rule, type);

	return emit.place->here && matcher_rule_has(matcher->program, emit.rule, type) && emit_rule_wants(&emit);
}

void emit_one_rule(struct emit_parts *parts, uint32_t rule)
{
	struct emit emit = matcher_emit_of(parts->matcher, parts->as, rule, parts->type);

	emit.functions = parts->functions;
	emit.header = parts->part->header;
	emit.irq_flags = parts->irq_flags;
	emit.is_alone = parts->wanting == 1;
	emit.derived = parts->derived;
	emit_rule(&emit);
	if (emit_raises(&emit))
		emit_drain(&emit);
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

void emit_part(struct ebpf_matcher *matcher, struct ebpf_asm *as, uint32_t type, const struct matcher_part *part,
	       struct emit_derived *derived)
{
	struct emit_parts parts = { .matcher = matcher, .as = as, .type = type, .part = part, .derived = derived };
	struct emit_guards guards;
	uint32_t mark = ebpf_stack_mark(as);
	int16_t frame =
		ebpf_stack_take(as, derived ? sizeof(struct matcher_frame) : offsetof(struct matcher_frame, queue));
	int error = emit_guards_find(matcher, type, part, &guards);

	if (error)
		ebpf_asm_fail(as, error);
	if (locks_out_interrupts(matcher, part))
		parts.irq_flags = ebpf_stack_take(as, 8);
	parts.functions.lock = emit_function_lock(as);
	parts.wanting = count_wanting(matcher, type, part);
	ebpf_mov(as, R9, R10);
	ebpf_alu_imm(as, BPF_ADD, R9, frame);
	ebpf_store(as, BPF_DW, R9, offsetof(struct matcher_frame, record), R6);
	if (derived) {
		emit_drain_function(matcher, as, derived, parts.functions.lock);
		ebpf_store_imm(as, BPF_DW, R9, offsetof(struct matcher_frame, queue), 0);
	}
	emit_header_begin(as, &part->header, &parts.functions);
	emit_guards(&parts, &guards);
	for (uint32_t rule = part->first; rule < part->end && !ebpf_asm_error(as); rule++)
		if (matcher_wants(matcher, rule, type) && !emit_guards_has(&guards, rule))
			emit_one_rule(&parts, rule);
	emit_guards_fini(&guards);
	ebpf_stack_release(as, mark);
}
