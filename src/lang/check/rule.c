// SPDX-License-Identifier: BSD-2-Clause
/* Checks a rule step by step, and computes its stream: OVER or the types that the pattern names. */

#include "event/about.h"
#include "lang/check/check-priv.h"

static void add_over(struct lang_check *c, struct lang_names *names, const struct event_type *type)
{
	if (lang_names_add(names, type->name, c->rule->over_count) == LANG_NO_NAME)
		c->rule->over[c->rule->over_count++] = type;
	/* What is not in the pattern is of a partition as well, by what every event can be asked for. */
	for (uint32_t i = 0; i < c->rule->join_count && c->rule->semantics == LANG_STRICT_PARTITION; i++)
		if (event_about_find(c->rule->joins[i].name))
			lang_event_field(c, type, c->rule->joins[i].name);
}

/* OVER as written: each type once. */
static void read_over(struct lang_check *c, struct lang_names *names)
{
	for (const struct lang_syntax_type *at = c->syntax->over; at; at = at->next) {
		const struct event_type *type = lang_find_type(c, &at->name, NULL);

		if (type)
			add_over(c, names, type);
	}
}

/* Each type of the pattern: part of the stream without OVER, demanded of OVER with it. */
static void take_pattern_types(struct lang_check *c, struct lang_names *names)
{
	bool given = c->syntax->given[LANG_OVER].line != 0;

	for (uint32_t i = 0; i < c->rule->element_count; i++) {
		const struct event_type *type = c->rule->elements[i].type;

		if (!type)
			continue;
		if (!given)
			add_over(c, names, type);
		else if (!c->syntax->broken[LANG_OVER] && lang_names_find(names, type->name) == LANG_NO_NAME)
			lang_error(c->report, &c->rule->over_location,
				   "OVER must contain every type that the pattern names", "OVER lacks '%s'",
				   type->name);
	}
}

void lang_check_over(struct lang_check *c)
{
	bool given = c->syntax->given[LANG_OVER].line != 0;
	uint32_t room = given ? c->syntax->over_count : c->rule->element_count;
	struct lang_names *names = lang_names_new(c->scratch, room);

	c->rule->over_location = given ? c->syntax->over_location : c->rule->location;
	c->rule->over_all = c->syntax->over_all;
	if (c->rule->over_all)
		return;
	c->rule->over = lang_keep(c, room, sizeof *c->rule->over);
	if (!names || !c->rule->over) {
		lang_no_memory(c->report);
		return;
	}
	read_over(c, names);
	take_pattern_types(c, names);
}

/* What LATEST cannot be told of: which of its runs is the newest, or what a replaced one leaves behind. */
static void check_latest(struct lang_check *c)
{
	const struct diag_location *at = &c->rule->latest_location;

	if (!c->rule->latest)
		return;
	if (c->rule->semantics == LANG_SKIP_TILL_ANY)
		lang_error(c->report, at, "most rules need SKIPTILLNEXT",
			   "LATEST keeps one run of a key in a state, SKIPTILLANY all of them");
	if (c->rule->return_sequence)
		lang_error(c->report, at, "use RETURN { ... } to name the values to keep",
			   "LATEST cannot be used with RETURN SEQUENCE");
	if (c->rule->per_key)
		lang_error(c->report, &c->rule->per_key_location, NULL,
			   "LATEST already keeps one run of a key in a state");
	for (uint32_t i = 0; i < c->rule->element_count; i++) {
		const struct lang_element *element = &c->rule->elements[i];

		if (element->is_negated || (!element->is_array && !element->group))
			continue;
		lang_error(c->report, at, "use POOL n PER KEY k to limit the runs of one key",
			   "LATEST cannot be used with repeats");
		return;
	}
}

/* A copy is of the process that opened its original, whoever makes it: the share would bound nothing. */
static void check_per_process(struct lang_check *c)
{
	if (c->rule->per_process && c->rule->semantics == LANG_SKIP_TILL_ANY)
		lang_error(c->report, &c->rule->per_process_location, "most rules need SKIPTILLNEXT",
			   "PER PROCESS cannot be used with SKIPTILLANY");
}

/* REPLACE where a flood must not keep the rule from seeing what comes after it. */
static enum lang_full full_of_rule(const struct lang_check *c)
{
	const struct lang_rule *rule = c->rule;
	bool acts = false;

	if (c->syntax->full != LANG_FULL_DEFAULT)
		return c->syntax->full;
	for (uint32_t i = 0; i < rule->statement_count; i++)
		acts |= rule->statements[i].action && rule->statements[i].action->changes_system;
	return acts || rule->properties.severity >= SEVERITY_HIGH ? LANG_REPLACE : LANG_REFUSE;
}

void lang_check_rule(struct lang_check *c, const struct lang_syntax_rule *syntax, struct lang_rule *rule)
{
	*rule = (struct lang_rule){
		.name = syntax->name.text,
		.location = syntax->name.location,
		.mode = syntax->mode,
		.semantics = syntax->semantics,
		.loss = syntax->loss,
		.drop = syntax->drop,
		.has_within = syntax->given[LANG_WITHIN].line != 0,
		.within_ns = syntax->within_ns,
		.within_location = syntax->within_location,
		.pool = syntax->pool,
		.per_key = syntax->per_key,
		.per_key_location = syntax->per_key_location,
		.per_process = syntax->per_process,
		.per_process_location = syntax->per_process_location,
		.latest = syntax->given[LANG_LATEST].line != 0,
		.latest_location = syntax->given[LANG_LATEST],
	};
	c->syntax = syntax;
	c->rule = rule;
	c->lost_condition = false;
	c->reported = lang_names_new(c->scratch, LANG_ERRORS_MAX);
	if (!c->reported) {
		lang_no_memory(c->report);
		return;
	}
	if (!lang_check_pattern(c))
		return;
	lang_check_shape(c);
	lang_check_where(c);
	lang_check_negated(c);
	lang_check_actions(c);
	lang_check_aggregate(c);
	lang_check_over(c);
	lang_check_properties(c, &syntax->properties, &rule->properties);
	lang_check_except(c);
	lang_check_veto(c);
	check_latest(c);
	check_per_process(c);
	rule->full = full_of_rule(c);
}
