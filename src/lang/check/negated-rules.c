// SPDX-License-Identifier: BSD-2-Clause
/*
 * Reports what is wrong or doubtful about negations once conditions are known: one that forbids everything that could
 * follow, one at the end without a time, and what strict semantics make of them.
 */

#include "lang/check/check-priv.h"

/* The event types that a negation forbids whatever the values, and what may follow it. */
struct outlook {
	struct lang_check *c;
	const bool *conditioned; /* per element: a condition names it */
	const struct event_type *forbidden[LANG_ELEMENTS_MAX];
	uint32_t forbidden_count;
	bool follower_seen, allowed_seen; /* some follower; one that is not always forbidden */
};

/* A sequence is forbidden only where it completes, so it forbids no single event. */
static void collect_forbidden(struct outlook *outlook, const struct lang_structure *structure)
{
	if (structure->kind == LANG_ALTERNATIVE) {
		for (uint32_t i = 0; i < structure->child_count; i++)
			collect_forbidden(outlook, structure->children[i]);
	} else if (structure->kind == LANG_SPEC && !outlook->conditioned[structure->element]) {
		outlook->forbidden[outlook->forbidden_count++] = outlook->c->rule->elements[structure->element].type;
	}
}

static void visit_follower(struct outlook *outlook, const struct lang_element *element)
{
	bool forbidden = false;

	for (uint32_t i = 0; i < outlook->forbidden_count && element->type; i++)
		forbidden |= outlook->forbidden[i] == element->type;
	outlook->follower_seen = true;
	outlook->allowed_seen |= !forbidden;
}

static void visit_firsts(struct outlook *outlook, const struct lang_structure *structure);

/* The first events of the children from index on. True where something surely stands there. */
static bool visit_sequence(struct outlook *outlook, const struct lang_structure *sequence, uint32_t index)
{
	for (; index < sequence->child_count && !outlook->allowed_seen; index++) {
		visit_firsts(outlook, sequence->children[index]);
		if (!lang_is_nullable(sequence->children[index]))
			return true;
	}
	return index < sequence->child_count;
}

static void visit_firsts(struct outlook *outlook, const struct lang_structure *structure)
{
	if (structure->kind == LANG_SPEC)
		visit_follower(outlook, &outlook->c->rule->elements[structure->element]);
	else if (structure->kind == LANG_SEQUENCE)
		visit_sequence(outlook, structure, 0);
	else if (structure->kind == LANG_ALTERNATIVE)
		for (uint32_t i = 0; i < structure->child_count && !outlook->allowed_seen; i++)
			visit_firsts(outlook, structure->children[i]);
}

static uint32_t structure_index(const struct lang_structure *structure)
{
	uint32_t index = 0;

	while (structure->parent->children[index] != structure)
		index++;
	return index;
}

/* All events that may come next after structure. The end of the pattern counts as one that is allowed. */
static void visit_next(struct outlook *outlook, const struct lang_structure *structure)
{
	for (const struct lang_structure *parent = structure->parent; parent; parent = parent->parent) {
		if (parent->kind == LANG_SEQUENCE && visit_sequence(outlook, parent, structure_index(structure) + 1))
			return;
		if (parent->repeat_max > 1)
			visit_firsts(outlook, parent);
		structure = parent;
	}
	outlook->allowed_seen = true;
}

static void check_followers(struct lang_check *c, const struct lang_structure *negation, const bool *conditioned)
{
	struct outlook outlook = { .c = c, .conditioned = conditioned };

	collect_forbidden(&outlook, negation->children[0]);
	if (outlook.forbidden_count == 0)
		return;
	visit_next(&outlook, negation);
	if (outlook.follower_seen && !outlook.allowed_seen)
		lang_error(c->report, &negation->location, "give the negated event a condition",
			   "this negation forbids every event that could follow it");
}

static const struct lang_structure *find_sequence(const struct lang_structure *structure)
{
	const struct lang_structure *found = structure->kind == LANG_SEQUENCE ? structure : NULL;

	for (uint32_t i = 0; i < structure->child_count && !found; i++)
		found = find_sequence(structure->children[i]);
	return found;
}

static void check_negations(struct lang_check *c, const struct lang_structure *structure, const bool *conditioned)
{
	const char *semantics = lang_semantics_name(c->rule->semantics);

	if (structure->kind != LANG_NEGATION) {
		for (uint32_t i = 0; i < structure->child_count; i++)
			check_negations(c, structure->children[i], conditioned);
		return;
	}
	if (!c->syntax->broken[LANG_WHERE] && !c->syntax->unsure && !c->lost_condition)
		check_followers(c, structure, conditioned);
	if (lang_is_strict(c->rule) && find_sequence(structure))
		lang_warn(c->report, &structure->location, "negate the single events, or use SKIPTILLNEXT",
			  "under %s the first event of a negated sequence already ends the run", semantics);
}

/* A negation that may be the end of the pattern. */
static void check_trailing(struct lang_check *c)
{
	const struct lang_structure *negation = lang_last_negation(c->rule->root);

	if (!negation || negation == c->rule->root)
		return;
	if (!c->syntax->given[LANG_WITHIN].line && !c->syntax->unsure)
		lang_error(c->report, &negation->location, "it matches when WITHIN ends without the event",
			   "a pattern that ends in a negation needs WITHIN");
	if (lang_is_strict(c->rule))
		lang_warn(c->report, &negation->location, "use SKIPTILLNEXT to pass over other events",
			  "under %s any other event before WITHIN ends also ends the run",
			  lang_semantics_name(c->rule->semantics));
}

static void check_partition(struct lang_check *c)
{
	bool joined = false;

	for (const struct lang_syntax_condition *at = c->syntax->conditions; at; at = at->next)
		joined |= at->join.text != NULL;
	if (c->rule->semantics == LANG_STRICT_PARTITION && !joined && !c->syntax->broken[LANG_WHERE] &&
	    !c->syntax->unsure)
		lang_warn(c->report, &c->syntax->semantics_location,
			  "add a join field such as [tid], or use STRICTSEQUENCE",
			  "STRICTPARTITION without a join field takes the whole stream as one partition");
}

void lang_check_negated(struct lang_check *c)
{
	bool *conditioned = arena_zero(c->scratch, c->rule->element_count, sizeof *conditioned);

	if (!conditioned) {
		lang_no_memory(c->report);
		return;
	}
	for (uint32_t i = 0; i < c->rule->condition_count; i++) {
		const struct lang_condition *condition = &c->rule->conditions[i];

		if (condition->kind == LANG_NEGATED)
			conditioned[condition->element] = true;
	}
	check_negations(c, c->rule->root, conditioned);
	check_trailing(c);
	check_partition(c);
}
