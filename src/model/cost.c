// SPDX-License-Identifier: BSD-2-Clause
/* Decides what is paid for, and the prices where none were measured. */

#include "model/cost.h"

/* A virtual machine with 2 CPUs of about 3 GHz, Linux 6.18. */
const struct model_prices model_table_prices = {
	.ns = { [MODEL_HOOK] = 60,
		[MODEL_GUARD] = 5,
		[MODEL_OPEN] = 150,
		[MODEL_STEP] = 120,
		[MODEL_MATCH] = 600,
		[MODEL_SHIP] = 700 },
};

/* How far prices of one machine are from those of another; those of calibration from what a workload has. */
#define TABLE_FACTOR    2.5
#define MEASURED_FACTOR 1.25

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
	double factor = prices->measured ? MEASURED_FACTOR : TABLE_FACTOR;

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
