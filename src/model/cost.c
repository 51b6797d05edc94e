// SPDX-License-Identifier: BSD-2-Clause
/* Computes what the work of a model costs, by the prices that were measured or by those that are given here. */

#include "model/cost.h"

/*
 * A virtual machine with 2 CPUs of about 3 GHz, Linux 6.18: what the least of 20 rounds of 100,000 getppid takes more
 * than without any rule, where the rule looks at the call, opens a run, steps it, matches. Shipping is an estimate.
 */
const struct model_prices model_table_prices = {
	.ns = {
		[MODEL_HOOK] = 20,
		[MODEL_GUARD] = 2,
		[MODEL_OPEN] = 35,
		[MODEL_STEP] = 25,
		[MODEL_MATCH] = 60,
		[MODEL_SHIP] = 250,
	},
};

/* How far prices of one machine, with its caches warm, may be from those of another. */
#define TABLE_FACTOR 2.5
/* How far from those of a tight loop on the same machine, whose caches are warm. */
#define MEASURED_FACTOR 1.6

const char *const model_work_names[] = {
	[MODEL_HOOK] = "hook", [MODEL_GUARD] = "guard", [MODEL_OPEN] = "open",
	[MODEL_STEP] = "step", [MODEL_MATCH] = "match", [MODEL_SHIP] = "ship",
};

const char *const model_work_counts[] = {
	[MODEL_HOOK] = "events",        [MODEL_GUARD] = "candidates", [MODEL_OPEN] = "runs opened",
	[MODEL_STEP] = "steps of runs", [MODEL_MATCH] = "matches",    [MODEL_SHIP] = "events shipped",
};

void model_cost(const struct model *model, const struct model_prices *prices, bool ships, struct model_cost *cost)
{
	const struct model_rates *rates = &model->rates;
	double factor = prices->is_measured ? MEASURED_FACTOR : TABLE_FACTOR;

	*cost = (struct model_cost){
		.rates = { [MODEL_HOOK] = rates->seen,
			   [MODEL_GUARD] = rates->candidates,
			   [MODEL_OPEN] = rates->opened + rates->copied,
			   [MODEL_STEP] = rates->steps,
			   [MODEL_MATCH] = rates->matches,
			   [MODEL_SHIP] = ships ? rates->seen : 0 },
	};
	for (int i = 0; i < MODEL_WORKS; i++)
		cost->ns += cost->rates[i] * prices->ns[i];
	cost->event_ns = rates->seen > 0 ? cost->ns / rates->seen : 0;
	cost->cpu = cost->ns / 1e9;
	cost->least = cost->ns / factor;
	cost->most = cost->ns * factor;
}
