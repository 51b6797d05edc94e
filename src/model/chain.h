/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef MODEL_CHAIN_H
#define MODEL_CHAIN_H

/*
 * A chain of states, most of which are left some time: what is to be expected of one that begins in state 0. In the
 * words of absorbing Markov chains: Q holds the probabilities from transient to transient states, R those to absorbing
 * ones; N = (I - Q)^-1 says how many steps are made in each state, B = N R where it ends, t = N c how long it takes.
 * Kemeny and Snell, "Finite Markov Chains", chapter 3. Where one may become several (rows of Q that sum up to more than
 * one) the same is true of means, of all that come of the first: a branching process of several types.
 */

#include <stdint.h>

struct model_chain {
	uint32_t count;  /* transient states */
	const double *q; /* count x count, row by row: the mean number that comes to a state by a step in another */
};

/* More states than these would take seconds. */
enum { MODEL_STATES_MAX = 1024 };

/*
 * visits[count]: the first row of N, in steps. Returns 0; -ERANGE: there is no end of it (a state that nothing leaves,
 * or what comes of one is one or more on average); -E2BIG; -ENOMEM. NaN or negative numbers in q are -ERANGE, too.
 */
int model_visits(const struct model_chain *chain, double *visits);

/* values[count] = N c, c[count]: what is to be expected of each state, from there on; c must not be negative. As above.
 */
int model_expect(const struct model_chain *chain, const double *c, double *values);

#endif
