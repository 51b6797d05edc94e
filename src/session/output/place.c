// SPDX-License-Identifier: BSD-2-Clause
/* Finds the container of a process, and keeps the answer for a while: one that matches often is not read anew. */

#include "session/output/place.h"

#include "base/clock.h"
#include "program/image.h"
#include "react/stops.h"

enum { PLACE_NS = 100 * 1000 * 1000 };

/* When the process was there for certain: a match at a deadline has none of its events at its own time. */
static uint64_t seen_ns(const struct program_rule *rule, const struct program_match *match)
{
	return rule->flags & PROGRAM_RULE_DEADLINE ? match->ts - rule->within_ns : match->ts;
}

const struct container *place_find(struct places *places, const struct program_rule *rule,
				   const struct program_match *match)
{
	uint32_t pid = match->pid;
	struct place *place = &places->recent[pid % PLACES];
	uint64_t seen = seen_ns(rule, match);
	uint64_t now_ns = clock_now_ns();

	if (place->pid != pid || now_ns >= place->until_ns || seen < place->seen_ns) {
		place->pid = pid;
		place->seen_ns = seen;
		place->until_ns = now_ns + PLACE_NS;
		/* In this order: who has the number afterwards, and is that old, had it before, too. */
		if (!container_of_process((pid_t)pid, &place->container) || !react_thread_state((pid_t)pid, 0, seen))
			place->container = (struct container){ 0 };
	}
	return *place->container.id ? &place->container : NULL;
}
