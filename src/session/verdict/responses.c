// SPDX-License-Identifier: BSD-2-Clause
/* Begins and ends what responds to matches, in order, and knows who it may act upon. */

#include "session/verdict/responses.h"

#include "ebpf/ebpf.h"

static int open_reactions(struct responses *responses, const struct responses_options *options,
			  struct asterism_diag *diag)
{
	const struct reactions_options reactions = {
		.policy = options->policy,
		.stops = options->stops,
		.agent = { .in_scope = options->in_scope,
			   .snapshot = options->snapshot,
			   .context = options->context,
			   .anywhere = options->policy && options->policy->anywhere,
			   .foreign_ids = !ebpf_ids_are_own() },
	};
	int result = policy_check(options->policy, options->program, options->catalog, diag);

	return result ? result : reactions_new(options->program, &reactions, diag, &responses->reactions);
}

int responses_open(struct responses *responses, const struct responses_options *options, struct asterism_diag *diag)
{
	int result;

	*responses = (struct responses){ 0 };
	result = open_reactions(responses, options, diag);
	return result ? result : verdicts_new(options, responses->reactions, diag, &responses->verdicts);
}

void responses_close(struct responses *responses)
{
	verdicts_free(responses->verdicts);
	reactions_free(responses->reactions);
	*responses = (struct responses){ 0 };
}

int responses_poll(const struct responses *responses, uint64_t now_ns, uint64_t *wait_ns)
{
	uint64_t wait_for_reactions_ns = UINT64_MAX;
	int result = responses->verdicts ? verdicts_poll(responses->verdicts, now_ns, wait_ns) : 0;

	if (responses->reactions)
		reactions_poll(responses->reactions, now_ns, &wait_for_reactions_ns);
	if (wait_for_reactions_ns < *wait_ns)
		*wait_ns = wait_for_reactions_ns;
	return result;
}
