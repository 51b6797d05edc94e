// SPDX-License-Identifier: BSD-2-Clause
/*
 * Drops open runs that an end or a loss elsewhere concerns: those of a key where a match drops them or where they
 * depend on a run that was refused, all of them where events were lost. What a loss marks ends at once where the rule
 * discards it, so its place is free.
 */

#include "engine/life-priv.h"
#include "engine/why-priv.h"

/* The first of the runs of class that a match with these slots drops; NULL: there are none. */
static struct engine_run *first_dropped(const struct engine_rule *rule, const struct engine_class *class,
					const char *slots)
{
	uint32_t hash = engine_index_hash(class, class->parts, slots);
	struct engine_run **first = engine_index_find(rule, class, class->parts, slots, hash);

	return first ? *first : NULL;
}

static void drop_run(struct engine_rule *rule, struct engine_run *run, const struct engine_spared *spared)
{
	if (run->ordinal >= spared->limit || run->ordinal == spared->opened)
		return;
	if (spared->deadline && rule->states[run->state].deadline &&
	    engine_timer_of(&rule->runs, run)->first_ts == spared->first_ts)
		return;
	if (rule->why)
		engine_why_end(rule, PROGRAM_WHY_DROPPED);
	engine_life_end(rule, run);
}

void engine_drop(struct engine_rule *rule, const char *slots, const struct engine_spared *spared)
{
	struct engine_run *run, *next;

	for (run = rule->drops_all ? rule->ages.oldest : NULL; run; run = next) {
		next = engine_age_of(&rule->runs, run)->younger;
		drop_run(rule, run, spared);
	}
	if (rule->drops_all)
		return;
	for (uint32_t i = 0; i < rule->image->class_count; i++) {
		for (run = first_dropped(rule, &rule->classes[i], slots); run; run = next) {
			next = run->next;
			drop_run(rule, run, spared);
		}
	}
}

static void mark_spared(struct engine_run *run, uint64_t spared)
{
	if (run->ordinal != spared)
		run->epoch = ENGINE_EPOCH_MARKED;
}

void engine_mark_key(struct engine_rule *rule, const char *slots, uint64_t spared)
{
	const struct engine_spared others = { .limit = UINT64_MAX, .opened = spared };

	if (rule->image->loss == PROGRAM_DISCARD) {
		engine_drop(rule, slots, &others);
		return;
	}
	for (struct engine_run *run = rule->drops_all ? rule->ages.oldest : NULL; run;
	     run = engine_age_of(&rule->runs, run)->younger)
		mark_spared(run, spared);
	for (uint32_t i = 0; i < rule->image->class_count && !rule->drops_all; i++)
		for (struct engine_run *run = first_dropped(rule, &rule->classes[i], slots); run; run = run->next)
			mark_spared(run, spared);
}

void engine_mark_all(struct engine_rule *rule)
{
	rule->epoch++;
	if (rule->image->loss != PROGRAM_DISCARD)
		return;
	for (size_t i = 0; rule->live && i <= rule->by_key.mask; i++) {
		while (rule->by_key.buckets[i]) {
			if (rule->why)
				engine_why_end(rule, PROGRAM_WHY_DISCARDED);
			engine_life_end(rule, rule->by_key.buckets[i]);
		}
	}
}
