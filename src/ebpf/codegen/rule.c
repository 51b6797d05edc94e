// SPDX-License-Identifier: BSD-2-Clause
/* Generates a rule's code for an event, step by step in order. */

#include "ebpf/codegen/machine.h"
#include "ebpf/codegen/part.h"
#include "ebpf/memory/places.h"

/* The members of the frame that this rule goes by. */
static void begin_frame(struct emit *emit)
{
	struct ebpf_asm *as = emit->as;

	ebpf_note(as, "rule %s", program_text(emit->program, emit->rule->name));
	if (emit->event->moves)
		memory_frame_set(as, FRAME(moved), 0);
	if (emit->event->links_late)
		memory_frame_set(as, FRAME(opened), 0);
	if (emit->rule->flags & PROGRAM_RULE_DROP)
		memory_frame_set(as, FRAME(matched), 0);
	if (emit->rule->semantics == PROGRAM_SKIP_TILL_ANY) {
		emit_control(emit, R1);
		ebpf_load(as, BPF_DW, R0, R1, offsetof(struct matcher_control, epoch));
		memory_frame_put(as, FRAME(epoch), R0);
	}
}

void codegen_rule(struct emit *emit)
{
	bool frees = emit->event->opens_runs && emit->rule->flags & PROGRAM_RULE_REPLACE;
	uint32_t done;

	if (emit_is_machine(emit)) {
		codegen_machine(emit);
		return;
	}
	done = ebpf_label(emit->as);
	emit->holds = emit->event->holds;
	emit_functions_new(emit);
	begin_frame(emit);
	if (emit->holds)
		codegen_hold(emit, done);
	codegen_walks(emit);
	if (emit->event->opens)
		codegen_open(emit);
	if (emit->rule->flags & PROGRAM_RULE_DROP && emit->plan->has_runs)
		codegen_drop(emit);
	codegen_settle(emit);
	if (frees && emit->plan->wide)
		memory_free_spare(emit, NULL);
	if (emit->holds)
		emit_let_go(emit);
	if (frees && !emit->plan->wide)
		memory_free_spare(emit, NULL);
	ebpf_bind(emit->as, done);
}

void codegen_one_rule(struct emit_parts *parts, const struct plan_event *event)
{
	struct emit emit = emit_of(parts->context, parts->as, event);

	emit.functions = parts->functions;
	emit.header = parts->header;
	emit.irq_flags = parts->irq_flags;
	emit.fetches_once = parts->wanting == 1 && event->once;
	emit.derived = parts->derived;
	if (event->asks_ends)
		emit_look_for_cut(&emit);
	codegen_rule(&emit);
	if (codegen_raises(&emit))
		codegen_derived_later(&emit);
	if (event->asks_ends)
		emit_count_cut(&emit);
}
