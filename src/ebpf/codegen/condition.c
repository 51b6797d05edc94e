// SPDX-License-Identifier: BSD-2-Clause
/* Generates code for a transition's conditions and actions; a division by zero is counted. */

#include "ebpf/codegen/codegen.h"

#include "program/eval.h"
#include "program/why/why.h"

enum { CONDITION_SHOWN_BYTES = 160 };

static const char *state_name(const struct emit *emit, uint32_t target, char *buffer, size_t size)
{
	if (target == PROGRAM_TARGET_END)
		return "end";
	if (target == PROGRAM_TARGET_MATCH)
		return "match";
	snprintf(buffer, size, "state %u", target);
	(void)emit;
	return buffer;
}

/* What the verifier's log and bpftool show from here on. */
void codegen_note_transition(struct emit *emit, uint32_t state, const struct program_transition *transition,
			     const char *part, uint32_t node)
{
	char condition[CONDITION_SHOWN_BYTES] = "", target[24];
	const struct program *program = emit->program;

	if (node != PROGRAM_NONE)
		program_print_node(program, emit->rule, node, condition, sizeof condition);
	ebpf_note(emit->as, "rule %s: state %u, on %s -> %s: %s %s", program_text(program, emit->rule->name), state,
		  transition->type == PROGRAM_TIMER ? "AFTER"
						    : program_text(program, program->types[transition->type].name),
		  state_name(emit, transition->target, target, sizeof target), part, condition);
}

/* Leaves for if_false unless node holds; a division by zero counts and makes it false. */
void codegen_condition(struct emit *emit, uint32_t node, uint32_t if_false)
{
	struct ebpf_asm *as = emit->as;

	if (node == PROGRAM_NONE)
		return;
	if (!emit->context->plan->nodes[node].divides) {
		ebpf_lower_branch(&emit->lower, node, false, if_false);
		return;
	}
	uint32_t holds = ebpf_label(as);

	emit->lower.on_zero = ebpf_label(as);
	ebpf_lower_branch(&emit->lower, node, false, if_false);
	ebpf_jump(as, holds);
	ebpf_bind(as, emit->lower.on_zero);
	emit_count(emit, offsetof(struct matcher_control, divisions), 1);
	ebpf_jump(as, if_false);
	ebpf_bind(as, holds);
}

/* The same for node of the transition, counting which of its conditions are true, from number `at` of its own on. */
static void counted(struct emit *emit, const struct program_transition *transition, uint32_t at, uint32_t node,
		    uint32_t if_false)
{
	struct program_why_conditions found;

	program_why_conditions(emit->program, node, &found);
	for (uint32_t i = 0; i < found.count; i++) {
		codegen_condition(emit, found.nodes[i], if_false);
		if (i + 1 < found.count)
			emit_why_true(emit, transition, at + i);
	}
}

void codegen_require_fit(struct emit *emit, const struct program_transition *transition, uint32_t if_false)
{
	if (emit->context->plan->counts_why)
		counted(emit, transition, PROGRAM_WHY_TRUE, transition->fit, if_false);
	else
		codegen_condition(emit, transition->fit, if_false);
}

/* Leaves for if_false unless the transition's hold is true; state: out of which it leads. */
void codegen_require_hold(struct emit *emit, uint32_t state, const struct program_transition *transition,
			  uint32_t if_false)
{
	uint32_t holds, fails;

	if (!emit->context->plan->counts_why || transition->hold == PROGRAM_NONE) {
		codegen_condition(emit, transition->hold, if_false);
		return;
	}
	holds = ebpf_label(emit->as);
	fails = ebpf_label(emit->as);
	counted(emit, transition, program_why_hold_true(emit->program, transition), transition->hold, fails);
	ebpf_jump(emit->as, holds);
	ebpf_bind(emit->as, fails);
	emit_why_failed(emit, state, transition);
	ebpf_jump(emit->as, if_false);
	ebpf_bind(emit->as, holds);
}

/* A division by zero in an action leaves the slot as it is, and is counted. */
void codegen_actions(struct emit *emit, const struct program_transition *transition)
{
	const struct program_action *actions = program_actions(emit->program, transition);

	for (uint32_t i = 0; i < transition->action_count; i++) {
		uint32_t done = ebpf_label(emit->as);

		emit->lower.on_zero = ebpf_label(emit->as);
		ebpf_lower_action(&emit->lower, &actions[i]);
		if (emit->context->plan->nodes[actions[i].node].divides) {
			ebpf_jump(emit->as, done);
			ebpf_bind(emit->as, emit->lower.on_zero);
			emit_count(emit, offsetof(struct matcher_control, divisions), 1);
		}
		ebpf_bind(emit->as, done);
	}
}
