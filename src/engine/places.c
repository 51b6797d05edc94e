// SPDX-License-Identifier: BSD-2-Clause
/*
 * Picks the run that gives its place to a newer one: that of its key in a state, where the rule keeps the latest alone;
 * one of its key, where a key has had its share; the oldest of all, where the pool is full.
 * docs/internals/execution.md, "Places".
 */

#include "engine/life-priv.h"

static bool has_values_of(const struct engine_class *key, const struct engine_run *a, const struct engine_run *b)
{
	return engine_index_agrees(key, key->parts, a->slots, b->slots);
}

/* The runs that wait under the slots of class with the values of run; NULL: there are none. */
static struct engine_run *first_waiting(const struct engine_rule *rule, const struct engine_class *class,
					const struct engine_run *run)
{
	uint32_t hash = engine_index_hash(class, class->parts, run->slots);
	struct engine_run **first = engine_index_find(rule, class, class->parts, run->slots, hash);

	return first ? *first : NULL;
}

void engine_places_enter(struct engine_rule *rule, const struct engine_run *run, bool counts)
{
	const struct engine_state *state = &rule->states[run->state];
	struct engine_run *at = first_waiting(rule, &rule->classes[state->class], run), *next;

	for (; at; at = next) {
		next = at->next;
		if (at->state == run->state && (!state->more || has_values_of(state->more, at, run))) {
			rule->stats.replaced += counts;
			engine_life_end(rule, at);
		}
	}
}

bool engine_places_share(struct engine_rule *rule, const struct engine_run *run, struct engine_run **given)
{
	const struct engine_state *state = &rule->states[run->state];
	struct engine_run *oldest = NULL;
	uint64_t count = 0;

	for (uint32_t i = 0; i < rule->image->class_count; i++) {
		struct engine_run *at;

		if (rule->classes[i].same != rule->classes[state->class].same)
			continue;
		for (at = first_waiting(rule, &rule->classes[i], run); at; at = at->next) {
			if (rule->states[at->state].key != state->key ||
			    (state->more && !has_values_of(state->more, at, run)))
				continue;
			count++;
			if (!oldest || at->ordinal < oldest->ordinal)
				oldest = at;
		}
	}
	if (count < rule->image->per_key)
		return true;
	if (!(rule->image->flags & PROGRAM_RULE_REPLACE))
		return false;
	rule->stats.replaced++;
	rule->stats.crowded++;
	engine_life_unlink(rule, oldest);
	engine_life_leave(rule, oldest);
	*given = oldest;
	return true;
}

void engine_places_free(struct engine_rule *rule, uint64_t opened)
{
	while (rule->live > rule->image->pool) {
		struct engine_run *run = rule->ages.oldest;

		rule->stats.replaced++;
		rule->stats.crowded++;
		engine_life_unlink(rule, run);
		engine_life_leave(rule, run);
		if (rule->drop)
			engine_mark_key(rule, run->slots, opened);
		engine_runs_give(rule, run);
	}
}

void engine_ages_add(struct engine_rule *rule, struct engine_run *run)
{
	struct engine_age *age = engine_age_of(&rule->runs, run);

	age->younger = NULL;
	age->older = rule->ages.youngest;
	if (age->older)
		engine_age_of(&rule->runs, age->older)->younger = run;
	else
		rule->ages.oldest = run;
	rule->ages.youngest = run;
}

void engine_ages_remove(struct engine_rule *rule, struct engine_run *run)
{
	struct engine_age *age = engine_age_of(&rule->runs, run);

	if (age->older)
		engine_age_of(&rule->runs, age->older)->younger = age->younger;
	else
		rule->ages.oldest = age->younger;
	if (age->younger)
		engine_age_of(&rule->runs, age->younger)->older = age->older;
	else
		rule->ages.youngest = age->older;
}

void engine_ages_renew(struct engine_rule *rule, struct engine_run *run)
{
	if (rule->ages.youngest == run)
		return;
	engine_ages_remove(rule, run);
	engine_ages_add(rule, run);
}
