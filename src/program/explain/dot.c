// SPDX-License-Identifier: BSD-2-Clause
/*
 * Draws a rule's automaton for Graphviz: circles with a double border match, what ends a run is grey, forbidden ways
 * are red and dashed, ways in place and of copies dotted, what machines tell bold. Texts pass through one escape, so no
 * name can leave its label.
 */

#include "program/explain/explain-priv.h"
#include "program/query.h"

#include "base/alloc.h"

#include <inttypes.h>

/* A label may hold entities and escapes; text is to be read as it is. */
static void escape(struct text_buffer *out, const char *text)
{
	for (; *text && !out->failure; text++) {
		switch (*text) {
		case '"':
		case '\\':
			text_append_bytes(out, (const char[]){ '\\', *text }, 2);
			break;
		case '&':
			text_append(out, "&amp;");
			break;
		case '\n':
			text_append(out, "\\n");
			break;
		default:
			text_append_bytes(out, text, 1);
			break;
		}
	}
}

/* Appends what was written to draft, escaped, and empties it. */
static void move(struct text_buffer *out, struct text_buffer *draft)
{
	char *text = NULL;
	int failure = text_take(draft, &text);

	if (failure) {
		out->failure = failure;
		return;
	}
	escape(out, text);
	alloc_free(text);
}

static void draw_target(const struct explain *explain, uint32_t target)
{
	if (target == PROGRAM_TARGET_END)
		text_append(explain->out, "end");
	else if (target == PROGRAM_TARGET_MATCH)
		text_append(explain->out, "match");
	else
		text_printf(explain->out, "s%" PRIu32, target);
}

static void draw_condition(const struct explain *explain, struct text_buffer *draft, uint32_t node, const char *words)
{
	if (node == PROGRAM_NONE)
		return;
	text_append(explain->out, words);
	program_print(draft, explain->program, explain->rule, node);
	move(explain->out, draft);
}

/* What a machine's transition tells. */
static void draw_notice(const struct explain *explain, struct text_buffer *draft, uint32_t notice)
{
	const struct program_rule *rule = explain->rule;
	const struct program_statement *statements = program_statements(explain->program, rule);
	struct explain aside = *explain;

	if (!notice)
		return;
	aside.out = draft;
	if (program_notice(explain->program, rule, notice)->piece_count) {
		text_append(explain->out, "\\nwarns ");
		explain_warning(&aside, notice);
		move(explain->out, draft);
	}
	for (uint32_t i = 0; i < rule->statement_count; i++) {
		if (statements[i].notice != notice || explain->out->failure)
			continue;
		text_append(explain->out, "\\n");
		explain_statement(&aside, &statements[i]);
		move(explain->out, draft);
	}
}

static void draw_transition(const struct explain *explain, uint32_t from, const struct program_transition *transition)
{
	struct text_buffer draft = { 0 }, *out = explain->out;
	struct explain aside = *explain;

	aside.out = &draft;
	text_printf(out, "\ts%" PRIu32 " -> ", from);
	draw_target(explain, transition->target);
	text_append(out, " [label=\"");
	explain_event(&aside, transition);
	move(out, &draft);
	draw_condition(explain, &draft, transition->fit, "\\nif ");
	for (uint32_t i = 0; i < transition->action_count && !out->failure; i++) {
		const struct program_action *action = &program_actions(explain->program, transition)[i];

		if (explain_is_machine(explain) && explain_is_bookkeeping(explain, action))
			continue;
		text_append(out, "\\n");
		explain_action(&aside, action);
		move(out, &draft);
	}
	draw_condition(explain, &draft, transition->hold, "\\nhold ");
	if (explain_is_machine(explain))
		draw_notice(explain, &draft, explain_notice(explain, transition));
	text_append(out, "\"");
	if ((transition->flags & (PROGRAM_FORBID | PROGRAM_GONE)) == PROGRAM_FORBID)
		text_append(out, ", style=dashed, color=red, fontcolor=red");
	else if (transition->flags & (PROGRAM_IN_PLACE | PROGRAM_COPY))
		text_append(out, ", style=dotted");
	else if (explain_is_machine(explain) && explain_notice(explain, transition))
		text_append(out, ", style=bold");
	else if (transition->target == PROGRAM_TARGET_END)
		text_append(out, ", color=gray50, fontcolor=gray50");
	text_append(out, "];\n");
}

static void draw_state(const struct explain *explain, uint32_t index)
{
	const struct program_state *state = explain_state(explain, index);
	struct text_buffer draft = { 0 }, *out = explain->out;
	const char *label = program_text(explain->program, state->label);
	struct explain aside = *explain;

	aside.out = &draft;
	text_printf(out, "\ts%" PRIu32 " [label=\"%" PRIu32, index, index);
	if (*label) {
		text_append(out, " ");
		escape(out, label);
	}
	if (index == 0 && explain_is_machine(explain))
		text_append(out, "\\nno instance");
	if (index != 0 && !explain_is_machine(explain)) {
		text_append(out, "\\n");
		explain_class(&aside, state->class);
		move(out, &draft);
	}
	text_append(out, index == 0 ? "\", style=\"rounded,bold\"];\n" : "\"];\n");
	for (uint32_t i = 0; i < state->transition_count && !out->failure; i++)
		draw_transition(explain, index, &program_transitions(explain->program, state)[i]);
	if (state->flags & PROGRAM_STATE_DEADLINE) {
		text_printf(out, "\ts%" PRIu32 " -> match [label=\"after ", index);
		text_time(out, explain->rule->within_ns);
		text_append(out, "\", style=bold];\n");
	}
}

/* Whether a transition of the rule, or its deadline, leads to target. */
static bool is_reached(const struct explain *explain, uint32_t target)
{
	for (uint32_t i = 0; i < explain->rule->state_count; i++) {
		const struct program_state *state = explain_state(explain, i);

		if (target == PROGRAM_TARGET_MATCH && state->flags & PROGRAM_STATE_DEADLINE)
			return true;
		for (uint32_t j = 0; j < state->transition_count; j++) {
			if (program_transitions(explain->program, state)[j].target == target)
				return true;
		}
	}
	return false;
}

static void draw_title(const struct explain *explain)
{
	const struct program_rule *rule = explain->rule;
	struct text_buffer *out = explain->out;

	text_append(out, "\tlabel=\"");
	escape(out, program_text(explain->program, rule->name));
	text_printf(out, ": %s", explain_semantics(rule));
	if (rule->within_ns) {
		text_append(out, " WITHIN ");
		text_time(out, rule->within_ns);
	}
	if (explain->facts->where) {
		text_append(out, "\\n");
		escape(out, explain->facts->where);
	}
	text_append(out, "\";\n");
}

void program_explain_dot(const struct program *program, uint32_t rule, const struct program_explain_facts *facts,
			 struct text_buffer *out)
{
	struct explain explain = { .out = out, .program = program, .rule = &program->rules[rule], .facts = facts };

	text_append(out, "digraph \"");
	escape(out, program_text(program, explain.rule->name));
	text_append(out, "\" {\n\trankdir=LR;\n\tlabelloc=t;\n");
	draw_title(&explain);
	text_append(out, "\tnode [shape=box, style=rounded, fontname=\"sans-serif\"];\n"
			 "\tedge [fontname=\"sans-serif\", fontsize=10];\n");
	if (is_reached(&explain, PROGRAM_TARGET_MATCH))
		text_append(out, "\tmatch [shape=doublecircle, style=solid];\n");
	if (is_reached(&explain, PROGRAM_TARGET_END))
		text_append(out, "\tend [shape=circle, style=solid, color=gray50, fontcolor=gray50];\n");
	for (uint32_t i = 0; i < explain.rule->state_count && !out->failure; i++)
		draw_state(&explain, i);
	text_append(out, "}\n");
}
