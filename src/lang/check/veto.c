// SPDX-License-Identifier: BSD-2-Clause
/*
 * Checks which rules may refuse system calls: those that complete at the beginning of one, and see nothing but such
 * beginnings, because there is nothing else to judge a held call by.
 */

#include "lang/check/check-priv.h"

#include "event/type.h"

static const struct lang_statement *find_veto(const struct lang_rule *rule)
{
	for (uint32_t i = 0; i < rule->statement_count; i++)
		if (rule->statements[i].action && rule->statements[i].action->fails_call)
			return &rule->statements[i];
	return NULL;
}

static void check_types(struct lang_check *c)
{
	static const char hint[] =
		"rules with Veto can use only the beginnings of system calls: sys_enter, sys_enter_openat, ...";
	const struct lang_rule *rule = c->rule;

	for (uint32_t i = 0; i < rule->element_count; i++) {
		const struct event_type *type = rule->elements[i].type;

		if (type && !event_type_is_call(type))
			lang_error(c->report, &rule->elements[i].location, hint,
				   "'%s' is not the beginning of a system call", type->name);
	}
	if (rule->over_all)
		lang_error(c->report, &rule->over_location, hint, "a rule with Veto does not see every event");
	for (uint32_t i = 0; i < rule->over_count; i++) {
		bool named = false;

		for (uint32_t j = 0; j < rule->element_count; j++)
			named |= rule->elements[j].type == rule->over[i];
		if (!named && !event_type_is_call(rule->over[i]))
			lang_error(c->report, &rule->over_location, hint, "'%s' is not the beginning of a system call",
				   rule->over[i]->name);
	}
}

void lang_check_veto(struct lang_check *c)
{
	const struct lang_rule *rule = c->rule;
	const struct lang_statement *veto = find_veto(rule);
	const struct lang_structure *negation = veto ? lang_last_negation(rule->root) : NULL;

	if (!veto)
		return;
	check_types(c);
	if (negation)
		lang_error(c->report, &negation->location, "the last event must be the call that is refused",
			   "a pattern that may end in a negation has no system call to refuse");
	if (rule->mode == LANG_ASYNCHRONOUS)
		lang_error(c->report, &veto->location, NULL,
			   "an ASYNCHRONOUS rule cannot refuse a system call: the call does not wait for it");
	for (uint32_t i = 0; i < rule->statement_count; i++) {
		if (rule->statements[i].is_emit)
			lang_error(c->report, &rule->statements[i].location,
				   "emit from another rule over the same events",
				   "a rule with Veto cannot emit events: other rules would receive them too late");
	}
}
