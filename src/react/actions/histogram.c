// SPDX-License-Identifier: BSD-2-Clause
/* Histogram: how often a value lay between which powers of two. */

#include "react/actions/actions-priv.h"
#include "react/actions/agent-priv.h"

#include <errno.h>

static const struct react_param histogram_params[] = {
	{ .name = "name", .type = REACT_TEXT },
	{ .name = "value", .type = REACT_INTEGER },
};

static int perform_histogram(struct react_agent *agent, struct react_call *call)
{
	struct react_tally *tally = react_tallies_get(&agent->tallies, call->args[0].text, true);
	const struct react_value *value = &call->args[1];
	bool is_huge = value->kind == REACT_U64 && value->i64 < 0;

	if (!tally)
		return agent_refuse(call, -ENOMEM, "out of memory");
	tally->count++;
	tally->buckets[is_huge ? REACT_BUCKETS - 1 : react_bucket(value->i64)]++;
	return 0;
}

const struct react_action react_histogram = {
	.name = "Histogram",
	REACT_PARAMS(histogram_params),
	.summary = "counts a value in a histogram of powers of two, which is reported at the end",
	.guarantee = "Counted in the kernel, per CPU. Matches of a rule that does nothing else and returns nothing are "
		     "not reported one by one.",
	.primitive = REACT_HISTOGRAM,
	.perform = perform_histogram,
};
