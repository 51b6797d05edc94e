// SPDX-License-Identifier: BSD-2-Clause
/* Explains what only machines have. */

#include "program/explain/explain-priv.h"
#include "program/query.h"

void explain_machine_target(const struct explain *explain, uint32_t from, const struct program_transition *transition)
{
	if (transition->target < explain->rule->state_count)
		text_printf(explain->out, "-> %s%s",
			    program_text(explain->program, explain_state(explain, transition->target)->label),
			    transition->flags & PROGRAM_COPY ? ", a copy" : "");
	else
		text_append(explain->out, from == 0 ? "-> no instance" : "-> end");
}

static bool lies_in(uint32_t slot, uint32_t first, uint32_t count)
{
	return slot >= first && slot - first < count;
}

bool explain_is_bookkeeping(const struct explain *explain, const struct program_action *action)
{
	const struct program_rule *rule = explain->rule;

	return lies_in(action->slot, rule->trail_slot, rule->trail_count * PROGRAM_TRAIL_WORDS) ||
	       lies_in(action->slot, rule->notice_slot, rule->notice_count != 0) ||
	       lies_in(action->slot, rule->opener_slot, rule->per_process != 0) ||
	       lies_in(action->slot, rule->context_slot, rule->flags & PROGRAM_RULE_TIMER ? 4 : 0);
}

uint32_t explain_notice(const struct explain *explain, const struct program_transition *transition)
{
	const struct program *program = explain->program;
	uint32_t notice = 0;

	if (!(transition->flags & PROGRAM_TELL) && transition->target != PROGRAM_TARGET_MATCH)
		return 0;
	for (uint32_t i = 0; i < transition->action_count; i++) {
		const struct program_action *action = &program_actions(program, transition)[i];

		if (action->slot == explain->rule->notice_slot)
			notice = (uint32_t)program->nodes[action->node].imm;
	}
	return notice;
}

/* Braces of the text itself are doubled. */
static void append_text(struct text_buffer *out, const char *text)
{
	for (; *text && !out->failure; text++) {
		text_append_bytes(out, text, 1);
		if (*text == '{' || *text == '}')
			text_append_bytes(out, text, 1);
	}
}

void explain_warning(const struct explain *explain, uint32_t number)
{
	const struct program *program = explain->program;
	const struct program_notice *notice = program_notice(program, explain->rule, number);

	for (uint32_t i = 0; i < notice->piece_count; i++) {
		const struct program_piece *piece = &program_pieces(program, notice)[i];

		append_text(explain->out, program_text(program, piece->text));
		if (piece->value != PROGRAM_NONE)
			text_printf(explain->out, "{%s}",
				    program_text(program, program_returns(program, explain->rule)[piece->value].name));
	}
}
