// SPDX-License-Identifier: BSD-2-Clause
/* Decides the order in which a rule deals with an event. */

#include "ebpf/codegen/machine.h"

#define FRAME(member) offsetof(struct matcher_frame, member)

static bool has_openings(const struct emit *emit)
{
	uint32_t count;

	emit_transitions(emit, 0, &count);
	return count > 0;
}

bool emit_rule_wants(const struct emit *emit)
{
	return has_openings(emit) || emit_walk_count(emit);
}

/* The members of the frame that this rule goes by. */
static void begin_frame(struct emit *emit)
{
	struct ebpf_asm *as = emit->as;

	ebpf_note(as, "rule %s", program_text(emit->program, emit->rule->name));
	if (emit_has_moves(emit))
		emit_frame_set(as, FRAME(moved), 0);
	if (emit_links_late(emit))
		emit_frame_set(as, FRAME(opened), 0);
	if (emit->rule->flags & PROGRAM_RULE_DROP)
		emit_frame_set(as, FRAME(matched), 0);
	if (emit->rule->semantics == PROGRAM_SKIP_TILL_ANY) {
		emit_control(emit, R1);
		ebpf_load(as, BPF_DW, R0, R1, offsetof(struct matcher_control, epoch));
		emit_frame_put(as, FRAME(epoch), R0);
	}
}

void emit_rule(struct emit *emit)
{
	uint32_t done;

	if (emit_is_machine(emit)) {
		emit_machine(emit);
		return;
	}
	done = ebpf_label(emit->as);
	emit->holds = emit_needs_hold(emit);
	emit_functions_new(emit);
	emit->is_late_once = emit->is_alone && (emit->holds || (!(emit->rule->flags & PROGRAM_RULE_DROP) &&
								emit_walk_count(emit) + has_openings(emit) <= 1));
	begin_frame(emit);
	if (emit->holds)
		emit_hold(emit, done);
	emit_walks(emit);
	if (has_openings(emit))
		emit_open(emit);
	if (emit->rule->flags & PROGRAM_RULE_DROP && emit->place->has_runs)
		emit_drop(emit);
	emit_settle(emit);
	if (emit->holds)
		emit_let_go(emit);
	ebpf_bind(emit->as, done);
}
