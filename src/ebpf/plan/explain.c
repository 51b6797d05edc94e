// SPDX-License-Identifier: BSD-2-Clause
/* The properties of a plan that both the text and the JSON of `explain --plan` show. */

#include "ebpf/plan/explain-priv.h"

#define RULE(member)  offsetof(struct plan_rule, member)
#define EVENT(member) offsetof(struct plan_event, member)

const struct plan_truth plan_rule_truths[] = {
	{ "has_runs", NULL, RULE(has_runs) },
	{ "wide", "wide: processes one event at a time, whatever its key", RULE(wide) },
	{ "timed", "timed: instances have timers (AFTER)", RULE(timed) },
	{ "due", "due: runs can match or end when a time is reached", RULE(due) },
	{ "swept", "swept: runs can end without an event, by time or by lost events", RULE(swept) },
	{ "interrupted", "interrupted: one of its programs can interrupt another on the same CPU", RULE(interrupted) },
	{ "locks_out_interrupts", "disables interrupts while it holds a lock", RULE(locks_out_interrupts) },
	{ "raises", "emits events that rules here use", RULE(raises) },
	{ "raised", "uses events that rules here emit", RULE(raised) },
	{ "silences", "does not report some of its notices", RULE(silences) },
	{ NULL, NULL, 0 },
};

const struct plan_truth plan_event_truths[] = {
	{ "opens", "can open a run, or match at once", EVENT(opens) },
	{ "opens_runs", "can open a run that waits for further events", EVENT(opens_runs) },
	{ "moves", "can move a run, or a copy of it, to another key", EVENT(moves) },
	{ "copies", "can copy an instance to another key", EVENT(copies) },
	{ "names_part", "ends all instances with this part of the key", EVENT(names_part) },
	{ "holds", "holds the lock throughout", EVENT(holds) },
	{ "links_late", "adds opened runs to their bucket last", EVENT(links_late) },
	{ "in_order", "finds matches in the order in which their runs were opened", EVENT(in_order) },
	{ "once", "fetches the other header fields only once, if no other rule needs them", EVENT(once) },
	{ NULL, NULL, 0 },
};
