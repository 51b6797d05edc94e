// SPDX-License-Identifier: BSD-2-Clause
/* Writes an explanation as JSON. Names are kept once given: programs read them. */

#include "program/calls.h"
#include "program/explain/explain-priv.h"
#include "program/query.h"

#include "base/alloc.h"
#include "base/severity.h"

#include <inttypes.h>

/* A reference to a text as a string, or null. */
static void put_text_reference(const struct explain *explain, uint32_t text)
{
	if (text == PROGRAM_NONE)
		text_append(explain->out, "null");
	else
		text_json(explain->out, program_text(explain->program, text));
}

static void put_explained_string(const struct explain *explain, const char *string)
{
	if (string)
		text_json(explain->out, string);
	else
		text_append(explain->out, "null");
}

static void put_explained_number(const struct explain *explain, const char *name, uint64_t number, bool known)
{
	text_printf(explain->out, ",\"%s\":", name);
	if (known)
		text_printf(explain->out, "%" PRIu64, number);
	else
		text_append(explain->out, "null");
}

static void put_flag(const struct explain *explain, const char *name, bool flag)
{
	text_printf(explain->out, ",\"%s\":%s", name, flag ? "true" : "false");
}

/* What was written to draft as a string; empties it. */
static void put_draft(const struct explain *explain, struct text_buffer *draft)
{
	char *text = NULL;
	int failure = text_take(draft, &text);

	if (failure) {
		explain->out->failure = failure;
		return;
	}
	text_json(explain->out, text);
	alloc_free(text);
}

static void put_explained_rule(const struct explain *explain)
{
	const struct program_rule *rule = explain->rule;
	const struct program_explain_facts *facts = explain->facts;
	struct text_buffer *out = explain->out;

	text_append(out, "{\"rule\":");
	put_text_reference(explain, rule->name);
	text_append(out, ",\"place\":");
	put_text_reference(explain, rule->place);
	text_append(out, ",\"source\":");
	put_text_reference(explain, rule->source);
	text_printf(out, ",\"semantics\":\"%s\",\"mode\":", explain_semantics(rule));
	put_explained_string(explain, *explain_mode(rule) ? explain_mode(rule) : NULL);
	text_printf(out, ",\"on_loss\":\"%s\",\"after_match\":\"%s\"", explain_loss(rule),
		    rule->flags & PROGRAM_RULE_DROP ? "DROP" : "KEEP");
	if (rule->flags & PROGRAM_RULE_SILENT)
		put_flag(explain, "return_nothing", true);
	put_flag(explain, "return_sequence", rule->flags & PROGRAM_RULE_SEQUENCE);
	put_explained_number(explain, "within_ns", rule->within_ns, rule->within_ns != 0);
	put_explained_number(explain, "pool", rule->pool, true);
	if (rule->per_process)
		put_explained_number(explain, "per_process", rule->per_process, true);
	put_explained_number(explain, "slot_bytes", rule->slot_bytes, true);
	text_append(out, ",\"where\":");
	put_explained_string(explain, facts->where);
	text_append(out, ",\"why\":");
	put_explained_string(explain, facts->why);
	put_explained_number(explain, "kernel_bytes", facts->kernel_bytes, facts->kernel_bytes != 0);
	put_explained_number(explain, "user_space_bytes", facts->user_space_bytes, facts->user_space_bytes != 0);
	if (facts->kept_events)
		put_explained_number(explain, "kept_events", facts->kept_events, true);
}

static void put_explained_properties(const struct explain *explain)
{
	const struct program_rule *rule = explain->rule;
	struct text_buffer *out = explain->out;

	if (rule->severity)
		text_printf(out, ",\"severity\":\"%s\"", severity_name(rule->severity));
	for (uint32_t i = 0; i < rule->tag_count; i++) {
		text_append(out, i ? "," : ",\"tags\":[");
		put_text_reference(explain, program_tags(explain->program, rule)[i]);
	}
	if (rule->tag_count)
		text_append(out, "]");
	if (rule->except) {
		text_append(out, ",\"except\":");
		explain_put_node(explain, rule->except - 1);
	}
	if (rule->description) {
		text_append(out, ",\"description\":");
		put_explained_string(explain, program_description(explain->program, rule));
	}
}

static void put_stream(const struct explain *explain)
{
	const struct program_rule *rule = explain->rule;

	put_flag(explain, "over_all", rule->flags & PROGRAM_RULE_OVER_ALL);
	text_append(explain->out, ",\"over\":[");
	for (uint32_t i = 0; i < rule->over_count; i++) {
		text_append(explain->out, i ? "," : "");
		put_explained_string(explain, explain_type_name(explain, program_over(explain->program, rule)[i]));
	}
	text_append(explain->out, "]");
}

static void put_elements(const struct explain *explain)
{
	text_append(explain->out, ",\"elements\":[");
	for (uint32_t i = 0; i < explain->rule->element_count; i++) {
		const struct program_element *element = &program_elements(explain->program, explain->rule)[i];

		text_append(explain->out, i ? ",{\"type\":" : "{\"type\":");
		put_explained_string(explain, explain_type_name(explain, element->type));
		text_append(explain->out, ",\"name\":");
		put_text_reference(explain, element->name);
		put_flag(explain, "array", element->flags & PROGRAM_ELEMENT_ARRAY);
		put_flag(explain, "negated", element->flags & PROGRAM_ELEMENT_NEGATED);
		text_append(explain->out, "}");
	}
	text_append(explain->out, "]");
}

static void put_slots(const struct explain *explain)
{
	text_append(explain->out, ",\"slots\":[");
	for (uint32_t i = 0; i < explain->rule->slot_count; i++) {
		const struct program_slot *slot = &program_slots(explain->program, explain->rule)[i];
		struct text_buffer draft = { 0 };

		program_print_slot(&draft, explain->program, explain->rule, i);
		text_append(explain->out, i ? ",{\"name\":" : "{\"name\":");
		put_draft(explain, &draft);
		text_printf(explain->out, ",\"kind\":\"%s\",\"offset\":%" PRIu32 ",\"bytes\":%" PRIu32 "}",
			    explain_kind(slot->kind), slot->offset, slot->bytes);
	}
	text_append(explain->out, "]");
}

static void put_explained_key(const struct explain *explain, const struct program_key *key, uint32_t fields)
{
	const struct program *program = explain->program;

	text_append(explain->out, "{\"type\":");
	put_explained_string(explain, key->type == PROGRAM_NONE ? NULL : explain_type_name(explain, key->type));
	text_append(explain->out, ",\"fields\":[");
	for (uint32_t i = 0; i < fields; i++) {
		text_append(explain->out, i ? "," : "");
		uint32_t field = program_key_fields(program, key)[i];

		put_text_reference(explain, field == PROGRAM_NONE ? PROGRAM_NONE : program->fields[field].name);
	}
	text_append(explain->out, "]}");
}

static void put_classes(const struct explain *explain)
{
	const struct program *program = explain->program;

	text_append(explain->out, ",\"classes\":[");
	for (uint32_t i = 0; i < explain->rule->class_count; i++) {
		const struct program_class *class = &program_classes(program, explain->rule)[i];

		text_append(explain->out, i ? ",{\"label\":" : "{\"label\":");
		put_text_reference(explain, class->label);
		text_append(explain->out, ",\"slots\":[");
		for (uint32_t j = 0; j < class->slot_count; j++)
			text_printf(explain->out, "%s%" PRIu32, j ? "," : "", program_class_slots(program, class)[j]);
		text_append(explain->out, "],\"keys\":[");
		for (uint32_t j = 0; j < class->key_count; j++) {
			text_append(explain->out, j ? "," : "");
			put_explained_key(explain, &program_keys(program, class)[j], class->slot_count);
		}
		text_append(explain->out, "]}");
	}
	text_append(explain->out, "]");
}

static void put_transition(const struct explain *explain, const struct program_transition *transition)
{
	struct text_buffer draft = { 0 }, *out = explain->out;
	struct explain aside = *explain;

	aside.out = &draft;
	text_append(out, "{\"type\":");
	put_explained_string(explain, explain_type_name(explain, transition->type));
	if (transition->target == PROGRAM_TARGET_END || transition->target == PROGRAM_TARGET_MATCH)
		text_printf(out, ",\"target\":\"%s\"", transition->target == PROGRAM_TARGET_END ? "end" : "match");
	else
		put_explained_number(explain, "target", transition->target, true);
	text_append(out, ",\"fit\":");
	explain_put_node(explain, transition->fit);
	text_append(out, ",\"actions\":[");
	for (uint32_t i = 0; i < transition->action_count && !out->failure; i++) {
		text_append(out, i ? "," : "");
		explain_action(&aside, &program_actions(explain->program, transition)[i]);
		put_draft(explain, &draft);
	}
	text_append(out, "],\"hold\":");
	explain_put_node(explain, transition->hold);
	put_explained_number(explain, "element", transition->element, transition->element != PROGRAM_NONE);
	put_flag(explain, "forbid", (transition->flags & (PROGRAM_FORBID | PROGRAM_GONE)) == PROGRAM_FORBID);
	put_flag(explain, "in_place", transition->flags & PROGRAM_IN_PLACE);
	if (explain_is_machine(explain)) {
		uint32_t notice = explain_notice(explain, transition);

		put_flag(explain, "copy", transition->flags & PROGRAM_COPY);
		put_explained_number(explain, "notice", notice, notice != 0);
	}
	text_append(out, ",\"note\":");
	put_text_reference(explain, transition->note);
	text_append(out, "}");
}

static void put_program_states(const struct explain *explain)
{
	struct text_buffer draft = { 0 }, *out = explain->out;
	struct explain aside = *explain;

	aside.out = &draft;
	text_append(out, ",\"states\":[");
	for (uint32_t i = 0; i < explain->rule->state_count && !out->failure; i++) {
		const struct program_state *state = explain_state(explain, i);

		text_append(out, i ? ",{\"label\":" : "{\"label\":");
		put_text_reference(explain, state->label);
		put_explained_number(explain, "class", state->class, i != 0);
		text_append(out, ",\"waits\":");
		if (i != 0) {
			explain_class(&aside, state->class);
			put_draft(explain, &draft);
		} else {
			text_append(out, "null");
		}
		put_flag(explain, "deadline", state->flags & PROGRAM_STATE_DEADLINE);
		text_append(out, ",\"transitions\":[");
		for (uint32_t j = 0; j < state->transition_count && !out->failure; j++) {
			text_append(out, j ? "," : "");
			put_transition(explain, &program_transitions(explain->program, state)[j]);
		}
		text_append(out, "]}");
	}
	text_append(out, "]");
}

/* Who does the calls among the statements, and what that means. */
static void put_statement_calls(const struct explain *explain)
{
	const struct program *program = explain->program;
	uint32_t count = 0;

	for (uint32_t i = 0; i < explain->rule->statement_count; i++) {
		const struct react_action *action =
			program_call(program, &program_statements(program, explain->rule)[i]);

		if (!action)
			continue;
		text_printf(explain->out, "%s{\"action\":\"%s\",\"by\":", count++ ? "," : ",\"calls\":[", action->name);
		text_printf(explain->out, explain->facts->who ? "\"%s\"" : "null",
			    explain->facts->who ? explain->facts->who[i] : "");
		text_printf(explain->out, ",\"changes_system\":%s,\"guarantee\":\"%s\"}",
			    action->changes_system ? "true" : "false",
			    explain->facts->who ? explain->facts->guarantees[i] : action->guarantee);
	}
	text_append(explain->out, count ? "]" : "");
}

/* What a machine has besides: the trail, the timer, what it tells; returned values and statements name their notice. */
static void put_notices(const struct explain *explain)
{
	const struct program_rule *rule = explain->rule;
	struct text_buffer draft = { 0 };
	struct explain aside = *explain;

	aside.out = &draft;
	put_explained_number(explain, "trail", rule->trail_count, true);
	put_flag(explain, "timer", rule->flags & PROGRAM_RULE_TIMER);
	text_append(explain->out, ",\"notices\":[");
	for (uint32_t i = 1; i <= rule->notice_count && !explain->out->failure; i++) {
		const struct program_notice *notice = program_notice(explain->program, rule, i);

		text_append(explain->out, i > 1 ? ",{\"warning\":" : "{\"warning\":");
		explain_warning(&aside, i);
		put_draft(explain, &draft);
		put_flag(explain, "silent", notice->flags & PROGRAM_NOTICE_SILENT);
		text_append(explain->out, "}");
	}
	text_append(explain->out, "],\"statement_notices\":[");
	for (uint32_t i = 0; i < rule->statement_count; i++)
		text_printf(explain->out, "%s%" PRIu32, i ? "," : "",
			    program_statements(explain->program, rule)[i].notice);
	text_append(explain->out, "]");
}

static void put_results(const struct explain *explain)
{
	const struct program *program = explain->program;
	const struct program_rule *rule = explain->rule;
	struct text_buffer draft = { 0 }, *out = explain->out;
	struct explain aside = *explain;

	aside.out = &draft;
	text_append(out, ",\"returns\":[");
	for (uint32_t i = 0; i < rule->return_count; i++) {
		text_append(out, i ? ",{\"name\":" : "{\"name\":");
		put_text_reference(explain, program_returns(program, rule)[i].name);
		text_append(out, ",\"value\":");
		explain_put_node(explain, program_returns(program, rule)[i].node);
		if (explain_is_machine(explain))
			put_explained_number(explain, "notice", program_returns(program, rule)[i].notice, true);
		text_append(out, "}");
	}
	text_append(out, "],\"statements\":[");
	for (uint32_t i = 0; i < rule->statement_count; i++) {
		text_append(out, i ? "," : "");
		explain_statement(&aside, &program_statements(program, rule)[i]);
		put_draft(explain, &draft);
	}
	text_append(out, "]");
	put_statement_calls(explain);
	if (explain_is_machine(explain))
		put_notices(explain);
	explain_aggregation_json(explain);
	put_explained_properties(explain);
	text_append(out, "}\n");
}

void program_explain_json(const struct program *program, uint32_t rule, const struct program_explain_facts *facts,
			  struct text_buffer *out)
{
	struct explain explain = { .out = out, .program = program, .rule = &program->rules[rule], .facts = facts };

	put_explained_rule(&explain);
	put_stream(&explain);
	put_elements(&explain);
	put_slots(&explain);
	put_classes(&explain);
	put_program_states(&explain);
	put_results(&explain);
}
