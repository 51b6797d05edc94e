// SPDX-License-Identifier: BSD-2-Clause
/*
 * Decides what a unit at work consists of, and in which order it begins and ends: questions and reactions are there
 * before the first match and until the last.
 */

#include "api/api-priv.h"

#include "api/sized.h"
#include "base/clock.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>

/* A rule that floods must not keep its unit from ending. */
enum { LAST_BATCHES = 64 };

static int allow_named(struct asterism_session *session)
{
	struct session_policy *policy = &session->policy;

	for (const char *const *name = session->options.allowed_actions; *name; name++) {
		const struct react_action *action = react_find(*name);

		if (!action || policy->action_count == POLICY_ACTIONS_MAX)
			return diag_error(session->diag, NULL, -EINVAL, "there is no action '%s'", *name);
		policy->actions[policy->action_count++] = action;
	}
	return 0;
}

int api_policy_open(struct asterism_session *session)
{
	const struct asterism_session_options *options = &session->options;

	if (!!options->allow_actions + !!options->allowed_actions + !!options->policy_file > 1)
		return diag_error(session->diag, NULL, -EINVAL, "actions are allowed in more than one way");
	session->has_policy = options->allow_actions || options->allowed_actions || options->policy_file;
	session->policy.allows_all = options->allow_actions;
	session->policy.anywhere = options->outside_scope;
	if (options->allowed_actions)
		return allow_named(session);
	if (options->policy_file && policy_read(&session->policy, options->policy_file, session->diag))
		return -EINVAL;
	return 0;
}

static enum ebpf_scope scope_of(const struct asterism_session *session)
{
	switch (session->options.scope) {
	case ASTERISM_SCOPE_PIDS:
		return EBPF_SCOPE_PIDS;
	case ASTERISM_SCOPE_ALL:
		return EBPF_SCOPE_ALL;
	default:
		return EBPF_SCOPE_TREE;
	}
}

static bool in_scope(void *context, int pid)
{
	const struct asterism_rules *rules = context;

	return rules->executor && executor_has(rules->executor, pid);
}

static int open_responses(struct asterism_rules *rules)
{
	struct asterism_session *session = rules->session;
	const struct responses_options options = {
		.program = rules->program,
		.policy = session->has_policy ? &session->policy : NULL,
		.in_scope = in_scope,
		.on_ask = api_on_ask,
		.ask_context = rules,
		.tell = api_tell,
		.context = rules,
	};

	return responses_open(&rules->responses, &options, session->diag);
}

static void free_work(struct asterism_rules *rules)
{
	executor_free(rules->executor);
	responses_close(&rules->responses);
	rules->executor = NULL;
}

int api_work_open(struct asterism_rules *rules)
{
	struct asterism_session *session = rules->session;
	struct executor_options options = {
		.scope = scope_of(session),
		.anywhere = session->has_policy && session->policy.anywhere,
		.on_match = api_on_match,
		.context = rules,
		.batch = API_BATCH,
	};
	int result = open_responses(rules);

	if (!result) {
		options.allowed = reactions_allowed(rules->responses.reactions);
		options.stops = rules->responses.questions ? questions_stops(rules->responses.questions) : NULL;
		result = executor_new(rules->rules, &options, session->diag, &rules->executor);
	}
	if (result)
		free_work(rules);
	return result;
}

static void tally(void *context, uint32_t statement, uint64_t *buckets)
{
	const struct asterism_rules *rules = context;

	executor_tally(rules->executor, statement, buckets);
}

/* What is found until the programs stop nobody any more gets its default answer, and nobody is told. */
static void finish_questions(struct asterism_rules *rules)
{
	uint64_t wait_ns, refused, lost;

	questions_refuse(rules->responses.questions);
	for (int i = 0; i < LAST_BATCHES && executor_poll(rules->executor, &wait_ns) == EXECUTOR_PAUSE; i++)
		;
	questions_close(rules->responses.questions);
	questions_count(rules->responses.questions, &refused, &lost);
	rules->past_stops_refused += refused;
	rules->past_asks_lost += lost;
}

/* Counts so far become the past. Counters that find no room for that are gone, as those of a unit that was unloaded. */
static void keep_counts(struct asterism_rules *rules)
{
	struct session_totals past = rules->past;
	struct ebpf_run_time time;

	api_rules_count(rules);
	rules->past = rules->now;
	rules->now = past;
	reactions_tallies(rules->responses.reactions, tally, rules, &rules->past_tallies);
	executor_run_time(rules->executor, &time);
	rules->past_time.ns += time.ns;
	rules->past_time.runs += time.runs;
}

void api_work_close(struct asterism_rules *rules)
{
	int epoll_fd = rules->session->epoll_fd;

	rules->leaving = true;
	if (rules->responses.questions)
		finish_questions(rules);
	keep_counts(rules);
	/* Where this process has forked, closing does not take a descriptor out of the set. */
	epoll_ctl(epoll_fd, EPOLL_CTL_DEL, executor_fd(rules->executor), NULL);
	if (rules->responses.questions)
		epoll_ctl(epoll_fd, EPOLL_CTL_DEL, questions_fd(rules->responses.questions), NULL);
	free_work(rules);
	rules->leaving = rules->answered = false;
}

int api_work_poll(struct asterism_rules *rules, uint64_t *wait_ns)
{
	int result = executor_poll(rules->executor, wait_ns), responded;

	if (result && result != EXECUTOR_PAUSE)
		return result;
	responded = responses_poll(&rules->responses, clock_now_ns(), wait_ns);
	return responded ? responded : result;
}

/* Telling of the verdict is a dispatch: callbacks may want anything that they may want in one. */
int api_work_answer(struct asterism_rules *rules, uint64_t ticket, enum session_verdict verdict)
{
	struct asterism_session *session = rules->session;
	bool is_inside = session->dispatching;
	int result;

	session->dispatching = true;
	result = questions_answer(rules->responses.questions, ticket, verdict);
	session->dispatching = is_inside;
	if (!is_inside) {
		if (session->doomed) {
			session->doomed = false;
			asterism_session_free(session);
			return -ECANCELED;
		}
		api_rules_settle(session);
	}
	if (result == -ENOENT)
		diag_error(session->diag, NULL, result, "no question with this ticket is pending");
	return result;
}

int asterism_rules_tallies(struct asterism_rules *rules)
{
	const struct react_tallies *past = &rules->past_tallies;
	int result = 0;

	react_tallies_fini(&rules->tallies);
	rules->tallies = (struct react_tallies){ 0 };
	if (rules->responses.reactions)
		result = reactions_tallies(rules->responses.reactions, tally, rules, &rules->tallies);
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

	_Static_assert(sizeof own.buckets == sizeof from->buckets, "histograms have 64 buckets");
	memcpy(own.buckets, from->buckets, sizeof own.buckets);
	return sized_give(tally, &own, sizeof own);
}
