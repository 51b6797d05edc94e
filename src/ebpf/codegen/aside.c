// SPDX-License-Identifier: BSD-2-Clause
/*
 * Decides where slots are computed that may never become a run's: a `hold` needs them and may end the run, which then
 * must not have taken a place; or the run is complete, and something is done that must not need room in the ring. Each
 * type that needs it has room of its own for each CPU, as a program is never run twice at once on one CPU.
 */

#include "ebpf/codegen/derived.h"

/* A transition that makes a run: one from the start state, or a copy's. */
static bool makes_run(const struct program_rule *rule, uint32_t state, const struct program_transition *transition)
{
	return state == 0 ||
	       (rule->semantics == PROGRAM_SKIP_TILL_ANY && !(transition->flags & (PROGRAM_FORBID | PROGRAM_IN_PLACE)));
}

/*
 * A machine's notice may be silent, so it is not put together in the ring; and a copy is kept when its key is free.
 */
static bool needs_aside(uint32_t state, const struct program_transition *transition)
{
	return (state == 0 && transition->target == PROGRAM_TARGET_MATCH) || transition->flags & PROGRAM_COPY;
}

bool emit_needs_aside(const struct emit *emit, uint32_t type)
{
	const struct program_rule *rule = emit->rule;
	bool acts = emit_acts(emit);

	for (uint32_t state = 0; state < rule->state_count; state++) {
		uint32_t count;
		const struct program_transition *transition = program_transitions_on(
			emit->program, &program_states(emit->program, rule)[state], type, &count);

		for (; count > 0; count--, transition++)
			if (makes_run(rule, state, transition) &&
			    (emit_lives_on(transition) ? transition->hold != PROGRAM_NONE : acts))
				return true;
			else if (emit_is_machine(emit) && needs_aside(state, transition))
				return true;
	}
	return false;
}

/* dst = this CPU's room for the type, laid out like a run. Overwrites r0-r5. */
void emit_aside(struct emit *emit, uint8_t dst)
{
	struct ebpf_asm *as = emit->as;
	uint32_t known = ebpf_label(as), before = 0;
	const struct matcher_rule *place = emit->place;

	if (emit->is_derived) {
		emit_derived_aside(emit, dst);
		return;
	}
	for (uint32_t type = 0; type < emit->type; type++)
		before += emit_needs_aside(emit, type);
	ebpf_call(as, BPF_FUNC_get_smp_processor_id);
	ebpf_jump_if_imm(as, BPF_JLT, R0, (int32_t)emit->matcher->cpu_count, known);
	ebpf_mov_imm(as, R0, 0);
	ebpf_bind(as, known);
	ebpf_alu_imm(as, BPF_MUL, R0, (int32_t)place->stride);
	ebpf_load_value(as, dst, emit->matcher->maps[place->aside.map].fd,
			place->aside.off + before * emit->matcher->cpu_count * place->stride);
	ebpf_alu(as, BPF_ADD, dst, R0);
}
