// SPDX-License-Identifier: BSD-2-Clause
/*
 * Plans what an event of one type does to one rule: whether it opens runs, whether runs go to wait elsewhere, where
 * slots are computed, whether a guard keeps it out; and what is locked.
 *
 * A rule is narrow if every event touches one bucket at most: then the bucket's lock is enough. An event that only
 * opens, or only steps, takes it when it comes to that; one that may do several things takes it once and holds it
 * through all of them. In a wide rule one lock, that of the first bucket, is held by every event for everything.
 */

#include "ebpf/plan/plan-priv.h"
#include "program/order/order.h"

static bool opens_runs(const struct program_transition *opening, uint32_t count)
{
	for (; count > 0; count--, opening++)
		if (plan_lives_on(opening))
			return true;
	return false;
}

/* What transitions of open runs do. */
static void follow_event_transitions(const struct plan_draft *draft, const struct plan_rule *rule,
				     struct plan_event *event)
{
	for (uint32_t state = 1; state < rule->rule->state_count; state++) {
		uint32_t count;
		const struct program_transition *transition =
			plan_transitions_on(draft, rule, state, event->type, &count);

		for (; count > 0; count--, transition++) {
			const struct plan_transition *does =
				&draft->transitions[transition - draft->program->transitions];

			event->moves |= does->moves || does->copies;
			event->copies |= transition->flags & PROGRAM_COPY && plan_lives_on(transition);
		}
	}
}

/* Whether node demands that a number of the event is a constant. */
static bool is_guard(const struct program *program, const struct program_node *node, struct plan_guard *guard)
{
	if (node->op != PROGRAM_OP_EQ)
		return false;
	const struct program_node *a = &program->nodes[node->a], *b = &program->nodes[node->b];

	if (a->op == PROGRAM_OP_CONST && b->op == PROGRAM_OP_FIELD) {
		const struct program_node *swap = a;

		a = b;
		b = swap;
	}
	bool integers = a->kind == b->kind && (a->kind == PROGRAM_I64 || a->kind == PROGRAM_U64);

	if (a->op != PROGRAM_OP_FIELD || b->op != PROGRAM_OP_CONST || b->imm > INT32_MAX ||
	    (!integers && (a->kind == PROGRAM_F64 || b->kind == PROGRAM_F64 || a->kind == PROGRAM_STRING)))
		return false;
	*guard = (struct plan_guard){ true, a->a, (int32_t)b->imm };
	return true;
}

/*
 * The first such demand of a conjunction counts, unless a division by zero may be counted before it is asked. Recursion
 * is bounded by PROGRAM_DEPTH_MAX.
 */
static bool guard_of(const struct program *program, uint32_t index, struct plan_guard *guard)
{
	if (index == PROGRAM_NONE)
		return false;
	const struct program_node *node = &program->nodes[index];

	if (node->op != PROGRAM_OP_LAND)
		return is_guard(program, node, guard);
	return guard_of(program, node->a, guard) ||
	       (!program_may_fail(program, node->a) && guard_of(program, node->b, guard));
}

/* The one guard of all openings, if there is nothing else for the event to do. */
static struct plan_guard find_guard(const struct plan_draft *draft, const struct plan_rule *rule,
				    const struct plan_event *event)
{
	const struct plan_guard none = { .is_there = false };
	struct plan_guard guard = none, other;
	uint32_t count;
	const struct program_transition *transitions = plan_transitions_on(draft, rule, 0, event->type, &count);

	if (rule->raises || rule->raised || /* these keep their place among the rules */
	    draft->options->counts_why)     /* every condition is asked */
		return none;
	if (event->walk_count || count == 0 || !guard_of(draft->program, transitions[0].fit, &guard))
		return none;
	for (uint32_t i = 1; i < count; i++)
		if (!guard_of(draft->program, transitions[i].fit, &other) || other.field != guard.field ||
		    other.value != guard.value)
			return none;
	return guard;
}

int plan_one_event(const struct plan_draft *draft, const struct plan_rule *rule, struct plan_event *event)
{
	const struct program_rule *row = rule->rule;
	const struct program_class *class = row->class_count ? program_classes(draft->program, row) : NULL;
	uint32_t openings;
	const struct program_transition *opening = plan_transitions_on(draft, rule, 0, event->type, &openings);
	int error = plan_walks(draft, rule, event);

	if (error)
		return error;
	event->key = class ? program_key_for(draft->program, class, event->type) : NULL;
	event->opens = openings > 0;
	event->opens_runs = opens_runs(opening, openings);
	event->wants = openings > 0 || event->walk_count > 0;
	event->names_part = plan_is_machine(rule) && event->key &&
			    program_key_given(draft->program, class, event->key) != program_class_whole(class);
	follow_event_transitions(draft, rule, event);
	event->guard = find_guard(draft, rule, event);
	return plan_fields(draft, rule, event);
}

/* Whether the lock is taken before everything else. */
static bool needs_hold(const struct plan_rule *rule, const struct plan_event *event)
{
	if (!rule->has_runs)
		return false;
	if (rule->wide || plan_is_machine(rule))
		return true;
	return event->walk_count == 1 && (event->opens_runs || event->moves || rule->rule->flags & PROGRAM_RULE_DROP);
}

void plan_settle_event(const struct plan_rule *rule, struct plan_event *event)
{
	bool drops = rule->rule->flags & PROGRAM_RULE_DROP;

	event->holds = needs_hold(rule, event);
	/* When others of its key may be dropped first, or copies must come before it, as runs are stepped in the order
	 * of their chain, or those that it is to replace. */
	event->links_late = drops || (event->moves && (rule->rule->semantics == PROGRAM_SKIP_TILL_ANY ||
						       rule->rule->flags & PROGRAM_RULE_LATEST));
	event->in_order = plan_is_machine(rule) || (!rule->moves && event->walk_count <= 1);
	event->once = plan_is_machine(rule) ? rule->has_runs && !event->names_part
					    : event->holds || (!drops && event->walk_count + event->opens <= 1);
}
