// SPDX-License-Identifier: BSD-2-Clause
/*
 * Warns of rules of two expensive or misleading shapes: those whose runs pile up where many events open them, and those
 * that pair the beginning of a call with the end of a later one. Only what is surely so: what a guard lets through is
 * not known here.
 */

#include "automaton/rule/rule-priv.h"

#include <inttypes.h>
#include <string.h>

/* Types of which a busy machine raises many thousands in a second. */
static bool is_frequent(const struct event_type *type)
{
	static const char *const types[] = {
		"sys_enter",        "sys_exit",       "sched_switch",    "sched_wakeup",      "sched_waking",
		"futex_wait",       "futex_wait_end", "page_fault_user", "page_fault_kernel", "irq_handler_entry",
		"irq_handler_exit", "softirq_entry",  "softirq_exit",
	};
	static const char *const calls[] = {
		"read",    "write",    "readv",  "writev",     "pread64",     "pwrite64",   "recvfrom",
		"recvmsg", "recvmmsg", "sendto", "sendmsg",    "sendmmsg",    "futex",      "openat",
		"close",   "poll",     "ppoll",  "epoll_wait", "epoll_pwait", "newfstatat", "clock_nanosleep",
	};
	const char *call = strncmp(type->name, "sys_enter_", 10) == 0 ? type->name + 10
			   : strncmp(type->name, "sys_exit_", 9) == 0 ? type->name + 9
								      : NULL;

	for (size_t i = 0; i < sizeof types / sizeof *types; i++)
		if (strcmp(type->name, types[i]) == 0)
			return true;
	for (size_t i = 0; call && i < sizeof calls / sizeof *calls; i++)
		if (strcmp(call, calls[i]) == 0)
			return true;
	return false;
}

/* Whether a frequent event ends the run's stay in state, whatever it is like, or if it is forbidden: runs are few then.
 */
static bool is_left_soon(const struct state *state)
{
	for (size_t i = 0; i < state->pending_count; i++)
		if (is_frequent(state->pending[i].type) &&
		    (state->pending[i].fit == PROGRAM_NONE || state->pending[i].flags & PROGRAM_FORBID))
			return true;
	return false;
}

static void warn_of_crowd(const struct rule_build *build, const struct pending_transition *opener,
			  const struct state *state)
{
	const struct lang_rule *rule = build->rule;
	bool keyed = keys_has(build, state);

	if (opener->fit != PROGRAM_NONE || !is_frequent(opener->type) || rule->latest || rule->per_key ||
	    (keyed && rule->has_within) || is_left_soon(state))
		return;
	diag_add(build->unit->diag, ASTERISM_WARNING, &rule->location,
		 keyed ? "LATEST keeps the newest run of a key, POOL n PER KEY k as many of each, WITHIN t ends them"
		       : "a join field such as [pid], with LATEST, keeps one run for each process",
		 "each '%s' opens a run of '%s', and %s: a process that raises %" PRIu64
		 " of them takes the places of all others",
		 opener->type->name, rule->name, rule->has_within ? "WITHIN alone ends it" : "nothing ends it soon",
		 rule->pool);
}

/* Whether the expression reads the field 'ret' of an event. */
static bool reads_result(const struct lang_expr *expr)
{
	return expr && ((expr->field && strcmp(expr->field->name, "ret") == 0) || reads_result(expr->left) ||
			reads_result(expr->right));
}

static bool is_guarded(const struct lang_rule *rule, uint32_t element)
{
	for (uint32_t i = 0; i < rule->condition_count; i++)
		if (rule->conditions[i].kind == LANG_GUARD && rule->conditions[i].element == element &&
		    reads_result(rule->conditions[i].expr))
			return true;
	return false;
}

/* A call's end that does not fit leaves the run of its beginning open, and a later call's end takes it. */
static bool warn_of_mispairing(const struct rule_build *build, const struct pending_transition *opener,
			       const struct state *state)
{
	const struct lang_rule *rule = build->rule;
	const struct pending_transition *end = NULL;

	if (rule->latest || strncmp(opener->type->name, "sys_enter", 9) != 0)
		return false;
	for (size_t i = 0; i < state->pending_count; i++) {
		const struct pending_transition *pending = &state->pending[i];

		if (strncmp(pending->type->name, "sys_exit", 8) != 0 ||
		    strcmp(pending->type->name + 8, opener->type->name + 9) != 0)
			continue;
		if (end || pending->flags & PROGRAM_FORBID || pending->target == PROGRAM_NONE)
			return false;
		end = pending;
	}
	if (!end || end->element >= rule->element_count || !is_guarded(rule, end->element))
		return false;
	diag_add(build->unit->diag, ASTERISM_WARNING, &rule->elements[end->element].location,
		 "STRICTPARTITION with [tid] pairs each call with its own end; so does LATEST",
		 "a '%s' that does not fit leaves the run open, and the end of a later call is paired with this '%s', "
		 "too",
		 end->type->name, opener->type->name);
	return true;
}

void shapes_warn(const struct rule_build *build)
{
	const struct state *start = &build->states[0];
	enum lang_semantics semantics = build->rule->semantics;

	if (semantics == LANG_STRICT_SEQUENCE || semantics == LANG_STRICT_PARTITION)
		return;
	for (size_t i = 0; i < start->pending_count; i++) {
		const struct pending_transition *opener = &start->pending[i];

		if (opener->target >= build->state_count)
			continue;
		if (!warn_of_mispairing(build, opener, &build->states[opener->target]))
			warn_of_crowd(build, opener, &build->states[opener->target]);
	}
}
