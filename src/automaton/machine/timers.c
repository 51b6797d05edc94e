// SPDX-License-Identifier: BSD-2-Clause
/*
 * One timer of an instance serves all AFTERs of its state: it is set to the next of them. Where there are several, the
 * instance knows when it came, so that each is told from the others by the time at which it fires.
 */

#include "automaton/machine/machine-priv.h"

#include "base/text.h"

static uint32_t now(struct machine_build *build)
{
	return machine_convert(build, PROGRAM_U64, machine_header(build, 0));
}

static uint32_t entered_plus(struct machine_build *build, uint64_t after_ns)
{
	return node_op(&build->base, PROGRAM_OP_ADD, PROGRAM_U64, node_slot(&build->base, build->entered),
		       machine_word(build, after_ns));
}

uint32_t machine_due(struct machine_build *build, uint64_t after_ns)
{
	return node_op(&build->base, PROGRAM_OP_EQ, PROGRAM_BOOL, node_slot(&build->base, build->timer),
		       entered_plus(build, after_ns));
}

void machine_arm(struct machine_build *build, const struct machine_row *row, struct program_transition *out)
{
	uint32_t state = row->to == PROGRAM_NONE ? row->from : row->to; /* a copy may stay where it is, but is new */
	uint64_t after = machine_after(build, state, 0);

	if (machine_has_several(build, state))
		machine_set(build, out, build->entered, now(build));
	if (after)
		machine_set(build, out, build->timer,
			    node_op(&build->base, PROGRAM_OP_ADD, PROGRAM_U64, now(build), machine_word(build, after)));
	if (after && !row->opens && !row->transition->copy_by)
		out->flags |= PROGRAM_ARM;
	if (!after && !row->opens)
		machine_set(build, out, build->timer, machine_word(build, 0));
}

void machine_rearm(struct machine_build *build, const struct machine_row *row, struct program_transition *out)
{
	uint64_t next = machine_after(build, row->from, row->transition->after_ns);

	if (next)
		machine_set(build, out, build->timer, entered_plus(build, next));
}

static bool always_holds(const struct machine_build *build, uint32_t state, uint64_t after_ns)
{
	for (uint32_t i = 0; i < build->machine->transition_count; i++) {
		const struct lang_transition *transition = &build->machine->transitions[i];

		if (machine_applies(transition, state) && transition->after_ns == after_ns && !transition->guard)
			return true;
	}
	return false;
}

uint32_t machine_fallbacks(struct machine_build *build, uint32_t state, uint32_t image_state)
{
	uint64_t at = machine_after(build, state, 0), next;
	uint32_t count = 0;

	for (; at; at = next) {
		struct program_transition out = {
			.type = PROGRAM_TIMER,
			.target = image_state,
			.hold = PROGRAM_NONE,
			.element = PROGRAM_NONE,
		};

		next = machine_after(build, state, at);
		if (!next || always_holds(build, state, at))
			continue;
		out.fit = machine_due(build, at);
		out.note = rule_text(&build->base, machine_after_note(build, at));
		machine_set(build, &out, build->timer, entered_plus(build, next));
		program_build_add(build->base.unit->out, PROGRAM_TRANSITIONS, &out, 1);
		count++;
	}
	return count;
}

const char *machine_after_note(struct machine_build *build, uint64_t ns)
{
	char memory[32];
	struct text_buffer time;

	text_init_fixed(&time, memory, sizeof memory);
	text_time(&time, ns);
	return arena_format(build->base.arena, "AFTER %s", memory);
}
