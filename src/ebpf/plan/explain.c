// SPDX-License-Identifier: BSD-2-Clause
/* Decides what is told of a plan: the same truths as text and as JSON. */

#include "ebpf/plan/explain-priv.h"

#define RULE(member)  offsetof(struct plan_rule, member)
#define EVENT(member) offsetof(struct plan_event, member)

const struct plan_truth plan_rule_truths[] = {
	{ "has_runs", NULL, RULE(has_runs) },
	{ "wide", "wide: its events are processed one at a time", RULE(wide) },
	{ "timed", "timed: its instances have timers", RULE(timed) },
	{ "due", "due: time alone can change its runs", RULE(due) },
	{ "swept", "swept: its runs may end without an event of theirs", RULE(swept) },
	{ "interrupted", "interrupted: a program of it may interrupt another one", RULE(interrupted) },
	{ "locks_out_interrupts", "locking interrupts out while it holds a lock", RULE(locks_out_interrupts) },
	{ "raises", "raising events that some rule takes", RULE(raises) },
	{ "raised", "taking events that some rule raises", RULE(raised) },
	{ "silences", "silent at some of its notices", RULE(silences) },
	{ NULL, NULL, 0 },
};

const struct plan_truth plan_event_truths[] = {
	{ "opens", "may open a run, or match at once", EVENT(opens) },
	{ "opens_runs", "may open a run that waits for more", EVENT(opens_runs) },
	{ "moves", "may make a run, or a copy of it, wait elsewhere", EVENT(moves) },
	{ "copies", "may copy an instance for another key", EVENT(copies) },
	{ "names_part", "ends all instances of a part of the key", EVENT(names_part) },
	{ "holds", "holds the lock from beginning to end", EVENT(holds) },
	{ "links_late", "links what it opens after everything else", EVENT(links_late) },
	{ "in_order", "finds its matches in the order in which their runs were opened", EVENT(in_order) },
	{ "once", "fetches the rest of the header in one place, where it is the only rule", EVENT(once) },
	{ NULL, NULL, 0 },
};
