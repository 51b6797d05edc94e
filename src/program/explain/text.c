// SPDX-License-Identifier: BSD-2-Clause
/* Writes a rule's automaton as text. */

#include "program/calls.h"
#include "program/explain/explain-priv.h"
#include "program/query.h"

#include "base/alloc.h"
#include "base/severity.h"

#include <inttypes.h>
#include <string.h>

/* 1.5 MiB; exact below 1 KiB. */
static void print_bytes(struct text_buffer *out, uint64_t bytes)
{
	static const char *const units[] = { "bytes", "KiB", "MiB", "GiB", "TiB" };
	double amount = (double)bytes;
	size_t i = 0;

	while (amount >= 1024 && i + 1 < sizeof units / sizeof *units) {
		amount /= 1024;
		i++;
	}
	text_printf(out, amount >= 100 || i == 0 ? "%.0f %s" : "%.3g %s", amount, units[i]);
}

static void print_head(const struct explain *explain)
{
	const struct program_rule *rule = explain->rule;
	struct text_buffer *out = explain->out;
	const char *name = program_text(explain->program, rule->name);
	const char *place = program_text(explain->program, rule->place);
	const char *source = program_text(explain->program, rule->source);

	text_printf(out, "%s %s", explain_is_machine(explain) ? "machine" : "rule", name);
	if (*place)
		text_printf(out, " (%s)", place);
	text_append(out, "\n");
	if (*source && strcmp(source, name) != 0)
		text_printf(out, "  %s\n", source);
	text_printf(out, "  semantics  %s", explain_semantics(rule));
	if (rule->within_ns) {
		text_append(out, ", WITHIN ");
		text_time(out, rule->within_ns);
	}
	if (!explain_is_machine(explain))
		text_printf(out, ", AFTER MATCH %s", rule->flags & PROGRAM_RULE_DROP ? "DROP" : "KEEP");
	text_printf(out, ", ON LOSS %s", explain_loss(rule));
	if (*explain_mode(rule))
		text_printf(out, ", %s", explain_mode(rule));
	text_append(out, "\n");
	if (explain_is_machine(explain)) {
		text_append(out, "  key        ");
		if (program_classes(explain->program, rule)[0].slot_count)
			explain_keys(explain, program_classes(explain->program, rule));
		else
			text_append(out, "none: one instance");
		text_append(out, "\n");
	}
}

static void print_properties(const struct explain *explain)
{
	const struct program_rule *rule = explain->rule;
	struct text_buffer *out = explain->out;

	if (rule->severity)
		text_printf(out, "  severity   %s\n", severity_name(rule->severity));
	for (uint32_t i = 0; i < rule->tag_count; i++)
		text_printf(out, "%s%s%s", i ? ", " : "  tags       ",
			    program_text(explain->program, program_tags(explain->program, rule)[i]),
			    i + 1 < rule->tag_count ? "" : "\n");
	if (program_description(explain->program, rule))
		text_printf(out, "  means      %s\n", program_description(explain->program, rule));
}

static void print_stream(const struct explain *explain)
{
	const struct program_rule *rule = explain->rule;

	text_append(explain->out, "  stream     ");
	if (rule->flags & PROGRAM_RULE_OVER_ALL)
		text_append(explain->out, "every event");
	for (uint32_t i = 0; i < rule->over_count && !(rule->flags & PROGRAM_RULE_OVER_ALL); i++)
		text_printf(explain->out, "%s%s", i ? ", " : "",
			    explain_type_name(explain, program_over(explain->program, rule)[i]));
	text_append(explain->out, "\n");
}

static void print_location(const struct explain *explain)
{
	const struct program_explain_facts *facts = explain->facts;
	const struct program_rule *rule = explain->rule;
	struct text_buffer *out = explain->out;

	if (facts->where) {
		text_printf(out, "  executed   %s", facts->where);
		if (facts->why)
			text_printf(out, ": %s", facts->why);
		text_append(out, "\n");
	}
	text_printf(out, "  pool       %" PRIu64 " %s%s, each remembers %" PRIu32 " bytes", rule->pool,
		    explain_is_machine(explain) ? "instance" : "run", rule->pool == 1 ? "" : "s", rule->slot_bytes);
	if (rule->per_process)
		text_printf(out, "; %" PRIu32 " may be of one process", rule->per_process);
	if (facts->kernel_bytes) {
		text_append(out, "; ");
		print_bytes(out, facts->kernel_bytes);
		text_append(out, " in the kernel");
	}
	if (facts->user_space_bytes) {
		text_append(out, "; ");
		print_bytes(out, facts->user_space_bytes);
		text_append(out, " in user space");
	}
	text_append(out, "\n");
	if (facts->kept_events)
		text_printf(out, "  sequence   %" PRIu32 " events at most, of all runs together\n", facts->kept_events);
}

static void print_target(const struct explain *explain, const struct program_transition *transition)
{
	switch (transition->target) {
	case PROGRAM_TARGET_END:
		text_append(explain->out, (transition->flags & (PROGRAM_FORBID | PROGRAM_GONE)) == PROGRAM_FORBID
						  ? "-> end, forbidden"
						  : "-> end");
		break;
	case PROGRAM_TARGET_MATCH:
		text_append(explain->out, "-> match");
		break;
	default:
		text_printf(explain->out, "-> state %" PRIu32 "%s", transition->target,
			    transition->flags & PROGRAM_IN_PLACE ? ", in place" : "");
		break;
	}
}

static void print_condition(const struct explain *explain, const char *word, uint32_t node)
{
	if (node == PROGRAM_NONE)
		return;
	text_printf(explain->out, "      %-5s ", word);
	program_print(explain->out, explain->program, explain->rule, node);
	text_append(explain->out, "\n");
}

/* What a note says beyond the event that it begins with. */
static const char *behind(const char *note, const char *event)
{
	size_t length = strlen(event);

	if (strncmp(note, event, length) != 0 || (note[length] && note[length] != ' '))
		return note;
	return note + length + (note[length] == ' ');
}

/* Who does a call, and what that means. */
static void print_call(const struct explain *explain, uint32_t index)
{
	const struct program_statement *statement = &program_statements(explain->program, explain->rule)[index];
	const struct react_action *action = program_call(explain->program, statement);

	if (action && explain->facts->who)
		text_printf(explain->out, "      by %s: %s\n", explain->facts->who[index],
			    explain->facts->guarantees[index]);
}

static void print_statement(const struct explain *explain, uint32_t index)
{
	text_append(explain->out, explain_is_machine(explain) ? "      does  " : "    does ");
	explain_statement(explain, &program_statements(explain->program, explain->rule)[index]);
	text_append(explain->out, "\n");
	print_call(explain, index);
}

/* What a machine's transition tells. */
static void print_notice(const struct explain *explain, const struct program_transition *transition)
{
	const struct program_rule *rule = explain->rule;
	uint32_t notice = explain_notice(explain, transition);
	struct text_buffer warning = { 0 };
	struct explain aside = *explain;
	char *text = NULL;
	int failure;

	if (!notice)
		return;
	aside.out = &warning;
	explain_warning(&aside, notice);
	failure = text_take(&warning, &text);
	if (failure) {
		explain->out->failure = failure;
		return;
	}
	if (*text) {
		text_append(explain->out, "      warns ");
		text_quote(explain->out, text);
		text_append(explain->out, "\n");
	}
	alloc_free(text);
	for (uint32_t i = 0; i < rule->statement_count && !explain->out->failure; i++) {
		if (program_statements(explain->program, rule)[i].notice == notice)
			print_statement(explain, i);
	}
}

static bool is_action_reported(const struct explain *explain, const struct program_action *action)
{
	return !explain_is_machine(explain) || !explain_is_bookkeeping(explain, action);
}

static void print_actions(const struct explain *explain, const struct program_transition *transition)
{
	bool first = true;

	for (uint32_t i = 0; i < transition->action_count && !explain->out->failure; i++) {
		const struct program_action *action = &program_actions(explain->program, transition)[i];

		if (!is_action_reported(explain, action))
			continue;
		text_append(explain->out, first ? "      set   " : "            ");
		explain_action(explain, action);
		text_append(explain->out, "\n");
		first = false;
	}
}

static void print_transition(const struct explain *explain, uint32_t from, const struct program_transition *transition)
{
	const char *note = program_text(explain->program, transition->note);
	size_t start;

	text_append(explain->out, "    ");
	start = explain->out->length;
	explain_event(explain, transition);
	if (explain->out->failure)
		return;
	note = behind(note, explain->out->bytes + start);
	text_append(explain->out, " ");
	if (explain_is_machine(explain))
		explain_machine_target(explain, from, transition);
	else
		print_target(explain, transition);
	if (*note)
		text_printf(explain->out, "   (%s)", note);
	text_append(explain->out, "\n");
	print_condition(explain, "if", transition->fit);
	print_actions(explain, transition);
	print_condition(explain, "hold", transition->hold);
	if (explain_is_machine(explain))
		print_notice(explain, transition);
}

static void print_state(const struct explain *explain, uint32_t index)
{
	const struct program_state *state = explain_state(explain, index);
	const char *label = program_text(explain->program, state->label);
	struct text_buffer *out = explain->out;

	if (explain_is_machine(explain)) {
		text_printf(out, index ? "\n  state %s:\n" : "\n  no instance, as in state %s:\n", label);
		for (uint32_t i = 0; i < state->transition_count && !out->failure; i++)
			print_transition(explain, index, &program_transitions(explain->program, state)[i]);
		return;
	}
	text_printf(out, "\n  state %" PRIu32, index);
	if (*label)
		text_printf(out, " \"%s\"", label);
	text_append(out, ": ");
	if (index == 0)
		text_append(out, "a matching event opens a run");
	else
		explain_class(explain, state->class);
	if (index != 0 && explain->rule->semantics <= PROGRAM_STRICT_PARTITION)
		text_append(out, "; any other event ends them");
	if (state->flags & PROGRAM_STATE_DEADLINE)
		text_append(out, "; they match when the time is up");
	text_append(out, "\n");
	for (uint32_t i = 0; i < state->transition_count && !out->failure; i++)
		print_transition(explain, index, &program_transitions(explain->program, state)[i]);
}

static void print_results(const struct explain *explain)
{
	const struct program_rule *rule = explain->rule;
	const struct program *program = explain->program;
	struct text_buffer *out = explain->out;

	if (rule->return_count || rule->statement_count ||
	    rule->flags & (PROGRAM_RULE_SEQUENCE | PROGRAM_RULE_SILENT) || rule->except)
		text_append(out, "\n  a match\n");
	if (rule->except) {
		text_append(out, "    is excepted where ");
		program_print(out, program, rule, rule->except - 1);
		text_append(out, "\n");
	}
	if (rule->flags & PROGRAM_RULE_SEQUENCE)
		text_append(out, "    returns its events\n");
	if (rule->flags & PROGRAM_RULE_SILENT)
		text_append(out, "    is counted, but not reported\n");
	for (uint32_t i = 0; i < rule->return_count; i++) {
		const struct program_return *value = &program_returns(program, rule)[i];

		text_printf(out, "    returns %s = ", program_text(program, value->name));
		program_print(out, program, rule, value->node);
		text_append(out, "\n");
	}
	for (uint32_t i = 0; i < rule->statement_count; i++)
		print_statement(explain, i);
}

void program_explain_text(const struct program *program, uint32_t rule, const struct program_explain_facts *facts,
			  struct text_buffer *out)
{
	struct explain explain = { .out = out, .program = program, .rule = &program->rules[rule], .facts = facts };

	print_head(&explain);
	print_properties(&explain);
	print_stream(&explain);
	print_location(&explain);
	for (uint32_t i = 0; i < explain.rule->state_count && !out->failure; i++)
		print_state(&explain, i);
	if (!explain_is_machine(&explain))
		print_results(&explain);
	explain_aggregation_text(&explain);
}
