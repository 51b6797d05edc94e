// SPDX-License-Identifier: BSD-2-Clause
/*
 * Decides which open runs an end or a loss elsewhere concerns: those of a key where a match drops them or where they
 * depend on a run that was refused, all of them where events were lost. What a loss marks ends at once where the rule
 * discards it, so its place is free.
 */

#include "engine/life-priv.h"
#include "engine/why-priv.h"

void engine_drop(struct engine_rule *rule, const char *slots, const struct engine_spared *spared)
{
	for (uint32_t i = 0; i < rule->image->class_count; i++) {
		const struct engine_class *class = &rule->classes[i];
		uint32_t hash = engine_index_hash(class, class->parts, slots);
		struct engine_run **first = engine_index_find(rule, class, class->parts, slots, hash);
		struct engine_run *run = first ? *first : NULL, *next;

		for (; run; run = next) {
			next = run->next;
			if (run->ordinal >= spared->limit || run->ordinal == spared->opened)
				continue;
			if (spared->deadline && rule->states[run->state].deadline &&
			    engine_timer_of(&rule->runs, run)->first_ts == spared->first_ts)
				continue;
			if (rule->why)
				engine_why_end(rule, PROGRAM_WHY_DROPPED);
			engine_life_end(rule, run);
		}
	}
}

void engine_mark_key(struct engine_rule *rule, const char *slots, uint64_t spared)
{
	const struct engine_spared others = { .limit = UINT64_MAX, .opened = spared };

	if (rule->image->loss == PROGRAM_DISCARD) {
		engine_drop(rule, slots, &others);
		return;
	}
	for (uint32_t i = 0; i < rule->image->class_count; i++) {
		const struct engine_class *class = &rule->classes[i];
		uint32_t hash = engine_index_hash(class, class->parts, slots);
		struct engine_run **first = engine_index_find(rule, class, class->parts, slots, hash);

		for (struct engine_run *run = first ? *first : NULL; run; run = run->next)
			if (run->ordinal != spared)
				run->epoch = ENGINE_EPOCH_MARKED;
	}
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
