/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef MODEL_MODEL_H
#define MODEL_MODEL_H

/*
 * What a rule will do, from what it did in a trace. Its automaton ran over the trace, and what became of its runs was
 * counted by state and transition (program/why/why.h), under the keys that runs wait under: these counts are all that
 * the model knows of the trace. They become probabilities, the probabilities a Markov chain (model/chain.h), and with
 * the rates of the events the chain says what is to be expected in a second: runs, matches, steps, and by Little's law
 * the runs that are open at a time. What all this costs, cost.h says.
 *
 * The chain: state 0 is an event that may open a run, a candidate; state i > 0 is a run in state i of the automaton. A
 * step is an event that is judged by a state, or the end of a run without one. What does not fit stays where it is.
 */

#include "base/diag.h"
#include "program/match.h"
#include "program/why/why.h"

/* A transition. Numbers of events are of the trace. */
struct model_way {
	const struct program_transition *transition;
	uint32_t state;
	uint32_t fit_name, hold_name; /* p1, p2, ...: 0 where there is nothing to ask */
	double tried;                 /* how often its `fit` was asked */
	double taken, failed;         /* it was the one that fits; and its `hold` was false then */
	double fits, holds;           /* probabilities: of those tried; of those taken */
	/* Of the runs that leave the state, or of candidates: those that leave by it, and by its hold. Copies: per run.
	 */
	double share, failed_share;
};

struct model_state {
	uint32_t first_way, way_count;
	double judged;   /* events that runs in it were judged for; of state 0: candidates */
	double came;     /* runs */
	double open;     /* of these: still there at the end of the trace */
	double expired;  /* ended as their time was up */
	double matured;  /* matched as their time was up */
	double ended;    /* ended otherwise: in between, dropped, refused, by a loss */
	double steps;    /* all steps that were made in it */
	double stayed_s; /* seconds that all runs were here, together */
	double visits;   /* N: steps here to be expected of a candidate */
	double returns;  /* B = N R: matches to be expected of a run that is here */
	double left_s;   /* t = N c: seconds that it has still to go */
};

/* Of a second, if not said otherwise. */
struct model_rates {
	double seen;       /* events that concern the rule */
	double candidates; /* lambda: events that may open a run */
	double opened, copied, steps, matches;
	double s;        /* steps that a candidate makes, its own included */
	double returned; /* p_return: matches of a candidate */
	double life_s;   /* seconds that a run is open */
	double open;     /* L: runs open at a time, on average */
	double measured; /* the same as the trace had it */
	double peak;     /* the most that the trace had */
	double pool;     /* that will do */
};

struct model {
	const struct program *program;
	const struct program_rule *rule;
	const uint64_t *counts;
	const struct program_rule_stats *stats;
	double seconds;             /* that the trace lasts */
	struct model_state *states; /* as many as the rule has */
	struct model_way *ways;
	uint32_t way_count, name_count;
	bool assumed;      /* a probability is not the trace's */
	bool is_unbounded; /* there is no end of runs: of the rates only those of events are known, peak and measured */
	uint32_t endless;  /* then: a state that nothing left; 0: what comes of a run is a run or more */
	struct model_rates rates;
};

/* What the automaton did between two times of the events' clock. All of it must outlive the model. */
struct model_trace {
	const struct program *program;
	uint32_t rule;
	const uint64_t *counts; /* as the engine counted them */
	const struct program_rule_stats *stats;
	uint64_t first_ns, last_ns;
};

/* Probability number name is to be another one. */
struct model_assumption {
	uint32_t name;
	double value; /* 0 to 1 */
};

/*
 * Returns 0; -EINVAL, with a sentence: an assumption names no probability; -E2BIG: too many states; -ENOMEM.
 * model_free takes NULL, too.
 */
int model_new(const struct model_trace *trace, const struct model_assumption *assumptions, size_t count,
	      struct asterism_diag *diag, struct model **made);
void model_free(struct model *model);

#endif
