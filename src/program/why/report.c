// SPDX-License-Identifier: BSD-2-Clause
/* Sums the counts of a rule's transitions. */

#include "program/why/report-priv.h"

#include "program/explain/explain.h"

#include <string.h>

static const char forbidden_note[] = " is forbidden";

bool why_next(const struct program_why_report *report, struct why_step *step)
{
	const struct program_state *states = program_states(report->program, report->rule);

	while (step->state < report->rule->state_count && step->index >= states[step->state].transition_count) {
		step->state++;
		step->index = 0;
	}
	if (step->state >= report->rule->state_count)
		return false;
	step->transition = program_transitions(report->program, &states[step->state]) + step->index++;
	step->counts = report->counts + program_why_transition(report->program, report->rule, step->transition);
	return true;
}

static uint32_t add_asked_conditions(const struct program_why_report *report, const struct why_condition *whole,
				     const uint64_t *counts, struct why_condition *found)
{
	struct program_why_conditions conditions;
	uint64_t asked = whole->asked;

	program_why_conditions(report->program, whole->node, &conditions);
	for (uint32_t i = 0; i < conditions.count; i++) {
		found[i] = *whole;
		found[i].node = conditions.nodes[i];
		found[i].asked = asked;
		if (i + 1 < conditions.count)
			found[i].was_true = counts[i];
		asked = found[i].was_true;
	}
	return conditions.count;
}

uint32_t why_conditions(const struct program_why_report *report, const struct why_step *step,
			struct why_condition *found)
{
	const struct program_transition *transition = step->transition;
	uint64_t taken = step->counts[PROGRAM_WHY_TAKEN];
	const struct why_condition fit = {
		.node = transition->fit,
		.asked = program_why_tried(report->program, report->rule, report->counts, transition),
		.was_true = taken,
	};
	const struct why_condition hold = {
		.node = transition->hold,
		.is_hold = true,
		.asked = taken,
		.was_true = taken - step->counts[PROGRAM_WHY_FAILED],
	};
	uint32_t count = add_asked_conditions(report, &fit, step->counts + PROGRAM_WHY_TRUE, found);

	return count + add_asked_conditions(report, &hold,
					    step->counts + program_why_hold_true(report->program, transition),
					    found + count);
}

const char *why_target(const struct program_why_report *report, const struct why_step *step)
{
	uint32_t target = step->transition->target;

	if (target == PROGRAM_TARGET_MATCH)
		return "match";
	return target == PROGRAM_TARGET_END ? "end" : why_state_label(report, target);
}

uint64_t why_ended(const struct why_step *step)
{
	return step->transition->target == PROGRAM_TARGET_END ? step->counts[PROGRAM_WHY_TAKEN]
							      : step->counts[PROGRAM_WHY_FAILED];
}

bool why_is_first(const struct program_why_report *report, const struct why_step *step)
{
	(void)report;
	return step->index == 1 || step->transition[-1].type != step->transition->type;
}

/* Copies and their originals may both go on at one event, so nothing is known where there are several transitions. */
uint64_t why_passed(const struct program_why_report *report, const struct why_step *step)
{
	const struct program_state *state = &program_states(report->program, report->rule)[step->state];
	uint64_t met = step->counts[PROGRAM_WHY_MET], taken = 0;
	uint32_t count = 0;

	for (uint32_t i = step->index - 1; i < state->transition_count; i++) {
		struct why_step next = { .state = step->state, .index = i };

		if (!why_next(report, &next) || next.transition->type != step->transition->type)
			break;
		taken += next.counts[PROGRAM_WHY_TAKEN];
		count++;
	}
	if (count > 1 && report->rule->semantics == PROGRAM_SKIP_TILL_ANY)
		return 0;
	return met > taken ? met - taken : 0;
}

uint64_t why_all_ended(const struct program_why_report *report)
{
	uint64_t ended =
		report->counts[PROGRAM_WHY_DROPPED] + report->counts[PROGRAM_WHY_DISCARDED] + report->stats->replaced;

	for (struct why_step step = { 0 }; why_next(report, &step);)
		ended += why_ended(&step);
	for (uint32_t i = 0; i < report->rule->state_count; i++)
		ended += why_state(report, i)[PROGRAM_WHY_EXPIRED];
	for (uint32_t i = 0; i < report->rule->over_count; i++)
		ended += why_type(report, program_over(report->program, report->rule)[i])[PROGRAM_WHY_BROKE];
	return ended + why_type(report, PROGRAM_NONE)[PROGRAM_WHY_BROKE];
}

uint64_t why_all_open(const struct program_why_report *report)
{
	uint64_t open = 0;

	for (uint32_t i = 0; i < report->rule->state_count; i++)
		open += why_state(report, i)[PROGRAM_WHY_OPEN];
	return open;
}

const char *why_type_name(const struct program_why_report *report, uint32_t type)
{
	return type == PROGRAM_NONE ? "any other event"
				    : program_text(report->program, report->program->types[type].name);
}

const char *why_state_label(const struct program_why_report *report, uint32_t state)
{
	return program_text(report->program, program_states(report->program, report->rule)[state].label);
}

/* The element's name; NULL: it has none. */
static const char *step_name(const struct program_why_report *report, const struct why_step *step)
{
	uint32_t element = step->transition->element, name;

	if (element == PROGRAM_NONE)
		return NULL;
	name = program_elements(report->program, report->rule)[element].name;
	return name == PROGRAM_NONE ? NULL : program_text(report->program, name);
}

void why_put_event(const struct program_why_report *report, const struct why_step *step, struct text_buffer *out)
{
	const struct program_transition *transition = step->transition;
	const char *note = program_text(report->program, transition->note), *end = strstr(note, forbidden_note);
	const char *name = step_name(report, step);

	if (end && !end[strlen(forbidden_note)]) {
		text_append(out, "~");
		text_append_bytes(out, note, (size_t)(end - note));
	} else if (transition->target == PROGRAM_TARGET_END && *note) {
		text_append(out, note);
	} else if (transition->type == PROGRAM_TIMER) {
		text_append(out, *note ? note : "AFTER");
	} else {
		text_append(out, why_type_name(report, transition->type));
		text_printf(out, "%s%s", name ? ":" : "", name ? name : "");
	}
}

void why_put_condition(const struct program_why_report *report, const struct why_step *step, uint32_t node,
		       struct text_buffer *out)
{
	program_print_condition(out, report->program, report->rule, node, step_name(report, step));
}

void program_why_event(const struct program *program, const struct program_rule *rule,
		       const struct program_transition *transition, struct text_buffer *out)
{
	const struct program_why_report report = { .program = program, .rule = rule };
	const struct why_step step = { .transition = transition };

	why_put_event(&report, &step, out);
}

void program_why_condition(const struct program *program, const struct program_rule *rule,
			   const struct program_transition *transition, uint32_t node, struct text_buffer *out)
{
	const struct program_why_report report = { .program = program, .rule = rule };
	const struct why_step step = { .transition = transition };

	why_put_condition(&report, &step, node, out);
}
