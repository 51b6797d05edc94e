/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PROFILE_COMPLETE_PRIV_H
#define PROFILE_COMPLETE_PRIV_H

#include "profile/graph.h"

/*
 * One event's costs while they are shared. Edges are those of the simulation, in the order of its graph; functions are
 * those of the simulation, too: what is unattached has no calls.
 */
struct sharing {
	const struct profile *simulated;
	const struct graph *graph;
	const double *weights;      /* of edges: by what costs are shared */
	const double *weights_self; /* the simulation's self costs in the same unit; NULL: of another */
	const double *self;         /* sampled */
	/* What is worked out: */
	double *inclusive;            /* of functions */
	double *costs;                /* of edges */
	double *shares;               /* of edges: of what is called */
	double *whole;                /* inclusive cost of components */
	enum profile_origin *origins; /* of functions */
	bool *by_calls;               /* of functions */
	double root;                  /* the inclusive cost of all that nothing calls */
	double by_calls_cost;         /* shared by numbers of calls, for lack of weights */
};

int share_init(struct sharing *sharing, const struct profile *simulated, const struct graph *graph);
void share_fini(struct sharing *sharing);

/* The quotient heuristic, or gprof's rule where weights are calls. 0 or -ENOMEM. */
int share_run(struct sharing *sharing);

/* The same by contexts; shares and whole are not worked out. event: of the simulation. */
int contexts_share_runs(struct sharing *sharing, unsigned event);

/* Costs of contexts: each function's self cost shared among its contexts. For alloc_free; NULL: no memory. */
double *contexts_share_of(const struct sharing *sharing, unsigned event);

struct deviation {
	double total; /* of all self costs, unattached ones included */
	double samples;
	double *values; /* of functions, standard; NAN: not worked out */
};

/* Sampling errors of the functions that cost most, as many as time allows; origins become exact. 0 or -ENOMEM. */
int deviation_of_shares(struct sharing *sharing, struct deviation *deviation);
int deviation_of_contexts(struct sharing *sharing, const double *context_costs, struct deviation *deviation);

#endif
