/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PROFILE_STACKS_H
#define PROFILE_STACKS_H

#include "base/diag.h"
#include "profile/profile.h"

/* Stacks of another tool against the calls that a simulated run made. Costs are sums of what the stacks' lines say. */
struct profile_stacks {
	double total;
	double wrong;    /* of stacks with a call that was never made */
	double unjudged; /* of others with a function that the simulation has not */
	double rootless; /* of stacks that begin at what something calls: cut off */
	size_t count;
	/* The calls that were never made, with the cost of stacks that have them: names canonical, edges with costs. */
	struct profile *calls;
};

/*
 * Judges the folded stacks (a;b;c COST in each line, what all begins with first). A first frame that the simulation has
 * not, such as the name of a program, is passed over. 0, -EINVAL or -ENOMEM after one message; calls is for
 * profile_free then, too.
 */
int profile_check_stacks(const struct diag_source *stacks, const struct profile *simulated, struct asterism_diag *diag,
			 struct profile_stacks *result);

#endif
