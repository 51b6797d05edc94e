/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef MODEL_COST_H
#define MODEL_COST_H

/*
 * What a rule will cost, before it is loaded: the rates of a model, each times what one of its kind takes.
 *
 *   ns/s = seen c_hook + candidates c_guard + opened c_open + steps c_step + matches c_match + shipped c_ship
 *
 * c_hook is paid for every event of the rule's types, and once for all rules that look at a type: rules that come
 * beside others cost less.
 */

#include "model/model.h"

enum model_work { MODEL_HOOK, MODEL_GUARD, MODEL_OPEN, MODEL_STEP, MODEL_MATCH, MODEL_SHIP, MODEL_WORKS };

/* What each takes on a machine. */
struct model_prices {
	double ns[MODEL_WORKS];
	bool is_measured; /* here, and not those of the table */
};

extern const struct model_prices model_table_prices;

/* "hook", ... and what is counted: "events seen". */
extern const char *const model_work_names[MODEL_WORKS];
extern const char *const model_work_counts[MODEL_WORKS];

struct model_cost {
	double rates[MODEL_WORKS]; /* of a second */
	double ns;                 /* of a second, all together */
	double event_ns;           /* of an event seen */
	double cpu;                /* share of a CPU, 1: all of it */
	double least, most;        /* ns of a second: what it may be if prices are off by the bounds of the table */
};

/* ships: the rule runs in user space, and the kernel hands every event over. */
void model_cost(const struct model *model, const struct model_prices *prices, bool ships, struct model_cost *cost);

#endif
