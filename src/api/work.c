// SPDX-License-Identifier: BSD-2-Clause
/* Starts and stops a unit: what it may do and observes, and what is kept of it while it is stopped. */

#include "api/api-priv.h"

#include "api/sized.h"

#include <errno.h>
#include <string.h>

static int allow_named(struct asterism_session *session)
{
	struct session_policy *policy = &session->policy;

	for (const char *const *name = session->options.allowed_actions; *name; name++) {
		const struct react_action *action = react_find(*name);

		if (!action || policy->action_count == POLICY_ACTIONS_MAX)
			return diag_error(session->diag, NULL, -EINVAL, "unknown action '%s'", *name);
		policy->actions[policy->action_count++] = action;
	}
	return 0;
}

int api_policy_open(struct asterism_session *session)
{
	const struct asterism_session_options *options = &session->options;

	if (!!options->allow_actions + !!options->allowed_actions + !!options->policy_file > 1)
		return diag_error(session->diag, NULL, -EINVAL, "allow_actions and a policy exclude each other");
	session->has_policy = options->allow_actions || options->allowed_actions || options->policy_file;
	session->policy.allows_all = options->allow_actions;
	session->policy.anywhere = options->outside_scope;
	if (options->allowed_actions)
		return allow_named(session);
	if (options->policy_file && policy_read(&session->policy, options->policy_file, session->diag))
		return -EINVAL;
	return 0;
}

int api_work_open(struct asterism_rules *rules)
{
	struct asterism_session *session = rules->session;
	const struct live_unit_options options = {
		.rules = rules->rules,
		.scope = api_scope_of(session),
		.filter = live_filter_get(session->filter),
		.policy = session->has_policy ? &session->policy : NULL,
		.on_ask = api_on_ask,
		.ask_context = rules,
		.report = api_report,
		.on_aggregate = api_on_aggregate,
		.context = rules,
		.number = rules->number,
		.batch = API_BATCH,
		.counts_why = session->options.count_transitions,
	};
	int result = live_unit_open(&rules->work, &options, session->diag);

	if (!result)
		result = live_unit_start(&rules->work, NULL, session->diag);
	if (!result)
		result = api_processes_enter(session, &rules->work);
	if (!result)
		result = live_unit_watch(&rules->work, &session->loop, session->diag);
	if (!result)
		live_loop_arm(&session->loop, 0);
	else if (rules->work.executor)
		api_work_close(rules);
	else
		live_unit_close(&rules->work);
	return result;
}

/* Counts so far become the past. Counters that find no room for that are gone, as those of a unit that was unloaded. */
int api_work_finish(struct asterism_rules *rules)
{
	struct ebpf_run_time time;
	int result = api_rules_finish(rules);

	executor_run_time(rules->work.executor, &time);
	rules->past_time.ns += time.ns;
	rules->past_time.runs += time.runs;
	live_unit_forget(&rules->work, &rules->session->loop);
	live_unit_close(&rules->work);
	rules->answered = false;
	return result;
}

void api_work_close(struct asterism_rules *rules)
{
	rules->work.muted = true;
	api_work_finish(rules);
}

int asterism_rules_tallies(struct asterism_rules *rules)
{
	const struct react_tallies *past = &rules->past.tallies;
	int result = 0;

	react_tallies_fini(&rules->tallies);
	rules->tallies = (struct react_tallies){ 0 };
	if (rules->work.executor)
		result = live_unit_tallies(&rules->work, &rules->tallies);
	for (size_t i = 0; i < past->count && !result; i++)
		result = react_tallies_add(&rules->tallies, &past->items[i]);
	return result ? diag_no_memory(rules->session->diag) : (int)rules->tallies.count;
}

int asterism_rules_tally(const struct asterism_rules *rules, size_t index, struct asterism_tally *tally)
{
	if (index >= rules->tallies.count)
		return -EINVAL;

	const struct react_tally *from = &rules->tallies.items[index];
	struct asterism_tally own = { .name = from->name, .is_histogram = from->is_histogram, .count = from->count };

	_Static_assert(sizeof own.buckets == sizeof from->buckets, "a histogram has 64 buckets");
	memcpy(own.buckets, from->buckets, sizeof own.buckets);
	return sized_give(tally, &own, sizeof own);
}
