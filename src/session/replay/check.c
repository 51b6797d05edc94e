// SPDX-License-Identifier: BSD-2-Clause
/*
 * Checks whether a rule can match at all, by its states: over what can happen, is there a way to a match? What rules
 * raise can happen if the rule that raises it can match.
 */

#include "session/replay/check.h"

#include "base/alloc.h"
#include "base/text.h"
#include "event/about.h"
#include "program/emissions.h"

#include <errno.h>
#include <string.h>

/* What -e takes sensors by. */
#define SENSOR_PREFIX "sensor:"

/* The check under way. */
struct judging {
	const struct replay_check *check;
	const struct program *program;
	struct asterism_diag *diag;
	bool *absent;                         /* per type: the source does not hold it */
	bool *raised;                         /* per type: a rule that can match raises it */
	bool *reached;                        /* per state of the rule that is judged */
	bool *forbidden;                      /* per type: the rule only forbids it; found with */
	bool *used;                           /* per type: the rule has transitions for it */
	bool *gone;                           /* per type: it ends runs whose process or thread is gone */
	bool lacks_about[EVENT_ABOUT_FIELDS]; /* likewise, of event_abouts */
	bool lacks_raised, lacks_declared; /* something was told to be missing: what a kernel raises, what none does */
	uint32_t skipped;                  /* rules that are left out */
};

static bool is_missing_field(const struct replay_check *check, const struct event_type *type, uint32_t field)
{
	const struct event_want want = replay_want_of(check->want);

	return want.wants_field(want.context, type, field) && !event_source_holds(check->source, type, field);
}

static bool is_absent(const struct replay_check *check, const struct event_type *type)
{
	if (!type || !event_source_holds(check->source, type, EVENT_NO_FIELD))
		return true;
	for (uint32_t i = 0; i < type->field_count; i++) {
		if (is_missing_field(check, type, i))
			return true;
	}
	return false;
}

static const struct event_type *checked_type(const struct replay_check *check, uint32_t index)
{
	return event_catalog_find(check->catalog, program_text(check->program, check->program->types[index].name));
}

static bool can_happen(const struct judging *judging, const struct program_transition *transition)
{
	return transition->type == PROGRAM_TIMER || !judging->absent[transition->type] ||
	       judging->raised[transition->type];
}

/* Goes along one state's transitions. Returns whether one of them is a match. */
static bool leave_state(struct judging *judging, const struct program_state *state, bool *news)
{
	for (uint32_t i = 0; i < state->transition_count; i++) {
		const struct program_transition *transition = &program_transitions(judging->program, state)[i];

		if (!can_happen(judging, transition))
			continue;
		if (transition->target == PROGRAM_TARGET_MATCH || transition->flags & PROGRAM_TELL)
			return true;
		if (transition->target < PROGRAM_TARGET_MATCH && !judging->reached[transition->target]) {
			judging->reached[transition->target] = true;
			*news = true;
		}
	}
	return false;
}

static bool can_match(struct judging *judging, const struct program_rule *rule)
{
	const struct program_state *states = program_states(judging->program, rule);
	bool news = rule->state_count != 0;

	memset(judging->reached, 0, rule->state_count * sizeof *judging->reached);
	if (news)
		judging->reached[0] = true;
	while (news) {
		news = false;
		for (uint32_t i = 0; i < rule->state_count; i++) {
			if (!judging->reached[i])
				continue;
			if (states[i].flags & PROGRAM_STATE_DEADLINE || leave_state(judging, &states[i], &news))
				return true;
		}
	}
	return false;
}

/* What the rule raises at a match. Returns whether that is new. */
static bool raise_event(struct judging *judging, const struct program_rule *rule)
{
	bool news = false;

	for (uint32_t i = 0; i < rule->statement_count; i++) {
		const struct program_statement *statement = &program_statements(judging->program, rule)[i];

		if (!program_is_emission(statement) || judging->raised[statement->type])
			continue;
		judging->raised[statement->type] = true;
		news = true;
	}
	return news;
}

static void find_raised(struct judging *judging)
{
	bool news = true;

	while (news) {
		news = false;
		for (uint32_t i = 0; i < judging->program->rule_count; i++) {
			const struct program_rule *rule = &judging->program->rules[i];

			if (rule->statement_count && can_match(judging, rule))
				news |= raise_event(judging, rule);
		}
	}
}

/* Whether the transition only keeps a run from matching. */
static bool is_ending(const struct program_rule *rule, const struct program_transition *transition)
{
	if (rule->semantics == PROGRAM_MACHINE)
		return transition->target == PROGRAM_TARGET_END;
	return transition->flags & (PROGRAM_FORBID | PROGRAM_IN_PLACE);
}

/* Which types the rule looks at, and which of them it only forbids. */
static void look_at_types(struct judging *judging, const struct program_rule *rule)
{
	const struct program *program = judging->program;
	bool is_strict = rule->semantics == PROGRAM_STRICT_SEQUENCE || rule->semantics == PROGRAM_STRICT_PARTITION;

	memset(judging->used, 0, program->type_count * sizeof *judging->used);
	memset(judging->forbidden, true, program->type_count * sizeof *judging->forbidden);
	memset(judging->gone, 0, program->type_count * sizeof *judging->gone);
	for (uint32_t i = 0; is_strict && i < rule->over_count; i++)
		judging->used[program_over(program, rule)[i]] = true;
	for (uint32_t i = 0; i < rule->state_count; i++) {
		const struct program_state *state = &program_states(program, rule)[i];

		for (uint32_t j = 0; j < state->transition_count; j++) {
			const struct program_transition *transition = &program_transitions(program, state)[j];

			/* A trace without the ends of processes is as if none had ended. */
			if (transition->type == PROGRAM_TIMER)
				continue;
			if (transition->flags & PROGRAM_GONE) {
				judging->gone[transition->type] = true;
				continue;
			}
			judging->used[transition->type] = true;
			if (!is_ending(rule, transition))
				judging->forbidden[transition->type] = false;
		}
	}
}

/* TYPE, or TYPE:FIELD+FIELD where only these are missing: as record's -e takes it. */
static void put_missing_types(struct judging *judging, uint32_t index, struct text_buffer *text)
{
	const struct replay_check *check = judging->check;
	const struct event_type *type = checked_type(check, index);
	char mark = ':';

	text_append(text, text->length ? ", " : "");
	if (type && type->sensor) {
		text_printf(text, "%s%s", SENSOR_PREFIX, type->sensor);
		return;
	}
	text_append(text, program_text(judging->program, judging->program->types[index].name));
	if (!type || !event_source_holds(check->source, type, EVENT_NO_FIELD))
		return;
	for (uint32_t i = 0; i < type->field_count; i++) {
		if (!is_missing_field(check, type, i))
			continue;
		text_printf(text, "%c%s", mark, type->fields[i].name);
		mark = '+';
		const struct event_about *about = i < type->own_count ? NULL : event_about_find(type->fields[i].name);

		if (about)
			judging->lacks_about[about - event_abouts] = true;
	}
}

static void note_missing(struct judging *judging, uint32_t index)
{
	const struct event_type *type = checked_type(judging->check, index);

	if (type && (type->hook_count || type->sensor))
		judging->lacks_raised = true;
	else
		judging->lacks_declared = true;
}

/* What a rule does not get, of what it only forbids or of the rest, with its verb; NULL: nothing. alloc_free it. */
static int list_missing(struct judging *judging, bool forbidden, char **list)
{
	struct text_buffer text = { 0 };
	unsigned count = 0;

	*list = NULL;
	for (uint32_t i = 0; i < judging->program->type_count; i++) {
		if (!judging->used[i] || !judging->absent[i] || judging->raised[i] ||
		    judging->forbidden[i] != forbidden)
			continue;
		/* What rules raise is missing because of what they miss. */
		if (program_is_emitted(judging->program, i))
			continue;
		put_missing_types(judging, i, &text);
		note_missing(judging, i);
		count++;
	}
	if (!count)
		return 0;
	text_append(&text, count == 1 ? " was" : " were");
	return text_take(&text, list);
}

static void report_unrecorded(const struct judging *judging, const struct program_rule *rule,
			      enum asterism_severity severity, const char *list, const char *meaning)
{
	diag_add(judging->diag, severity, NULL, NULL, "%s %s: %s not recorded%s", program_sort(rule),
		 program_text(judging->program, rule->name), list, meaning);
}

/* To whom counts open runs: those of processes and threads that are gone are counted as well. */
static int tell_ends(struct judging *judging, const struct program_rule *rule)
{
	const struct replay_check *check = judging->check;
	struct text_buffer text = { 0 };
	unsigned count = 0;
	char *list;

	for (uint32_t i = 0; i < judging->program->type_count && check->on_no_end; i++) {
		if (!judging->gone[i] || judging->used[i] || !judging->absent[i])
			continue;
		put_missing_types(judging, i, &text);
		note_missing(judging, i);
		count++;
	}
	if (!count)
		return 0;
	if (text_take(&text, &list))
		return -ENOMEM;
	diag_add(judging->diag, ASTERISM_WARNING, NULL, NULL,
		 "%s %s: %s %s not recorded: runs stay open after their process or thread is gone, so the figures for "
		 "open runs may be too high",
		 program_sort(rule), program_text(judging->program, rule->name), list, count == 1 ? "was" : "were");
	check->on_no_end(check->context, (uint32_t)(rule - judging->program->rules), list);
	alloc_free(list);
	return 0;
}

static int judge_rule(struct judging *judging, const struct program_rule *rule)
{
	bool matches = can_match(judging, rule);
	char *needed, *forbidden = NULL;
	int result;

	look_at_types(judging, rule);
	result = list_missing(judging, false, &needed);
	if (!result)
		result = list_missing(judging, true, &forbidden);
	if (!result && needed && !matches && judging->check->skips) {
		report_unrecorded(judging, rule, ASTERISM_WARNING, needed,
				  ", so it is skipped: it cannot match in this input");
		judging->skipped++;
	} else if (!result && needed && !matches) {
		report_unrecorded(judging, rule, ASTERISM_ERROR, needed, ", so it cannot match in this input");
		result = -EINVAL;
	} else if (!result && needed) {
		report_unrecorded(judging, rule, ASTERISM_WARNING, needed, ": matches with it are missing");
	}
	if (!result && forbidden)
		report_unrecorded(judging, rule, ASTERISM_WARNING, forbidden,
				  ", so its absence is not proven and matches may be wrong");
	if (!result)
		result = tell_ends(judging, rule);
	alloc_free(needed);
	alloc_free(forbidden);
	return result == -ENOMEM ? diag_no_memory(judging->diag) : result;
}

/* With the option that records who events are about, where this is missing. */
static void advise_about(const struct judging *judging)
{
	struct text_buffer text = { 0 };
	const char *before = "; or with --about ";
	char *hint;

	text_append(&text, judging->check->remedy);
	for (size_t i = 0; i < EVENT_ABOUT_FIELDS; i++) {
		if (!judging->lacks_about[i])
			continue;
		text_printf(&text, "%s%s", before, event_abouts[i].name);
		before = ",";
	}
	if (text_take(&text, &hint))
		return;
	diag_hint(judging->diag, hint);
	alloc_free(hint);
}

/* What helps is the same for all rules, so it is said once, with the last of what is told. */
static void advise(const struct judging *judging)
{
	if (judging->lacks_raised && judging->check->remedy)
		advise_about(judging);
	else if (judging->lacks_declared && !judging->lacks_raised)
		diag_hint(judging->diag, "these events are only declared and not raised by the kernel: they come from "
					 "other tools, such as LTTng on a kernel built for debugging, or from "
					 "programs; for a shipped rule 'asterism rules NAME' says from where");
}

static uint32_t most_states(const struct program *program)
{
	uint32_t most = 0;

	for (uint32_t i = 0; i < program->rule_count; i++) {
		if (program->rules[i].state_count > most)
			most = program->rules[i].state_count;
	}
	return most;
}

static int judge_all(struct judging *judging)
{
	int result = 0;

	for (uint32_t i = 0; i < judging->program->type_count; i++)
		judging->absent[i] = is_absent(judging->check, checked_type(judging->check, i));
	find_raised(judging);
	for (uint32_t i = 0; i < judging->program->rule_count && result != -ENOMEM; i++) {
		int judged = judge_rule(judging, &judging->program->rules[i]);

		result = judged ? judged : result;
	}
	if (!result && judging->skipped && judging->skipped == judging->program->rule_count) {
		diag_add(judging->diag, ASTERISM_ERROR, NULL, NULL, "all rules are skipped");
		result = -EINVAL;
	}
	advise(judging);
	return result;
}

int replay_check(const struct replay_check *check, struct asterism_diag *diag, bool *absent)
{
	const struct program *program = check->program;
	struct judging judging = {
		.check = check,
		.program = program,
		.diag = diag,
		.absent = absent,
		.raised = alloc_zero(program->type_count, sizeof(bool)),
		.reached = alloc_zero(most_states(program), sizeof(bool)),
		.forbidden = alloc_zero(program->type_count, sizeof(bool)),
		.used = alloc_zero(program->type_count, sizeof(bool)),
		.gone = alloc_zero(program->type_count, sizeof(bool)),
	};
	int result = -ENOMEM;

	if (judging.raised && judging.reached && judging.forbidden && judging.used && judging.gone)
		result = judge_all(&judging);
	else
		diag_no_memory(diag);
	alloc_free(judging.raised);
	alloc_free(judging.reached);
	alloc_free(judging.forbidden);
	alloc_free(judging.used);
	alloc_free(judging.gone);
	return result;
}
