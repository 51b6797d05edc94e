/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PROFILE_STACKS_H
#define PROFILE_STACKS_H

#include "base/diag.h"
#include "profile/profile.h"

#include <stdio.h>

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

enum { PROFILE_DEPTH_MAX = 512 };

/* A stack: functions from what all begins with to the one that the cost is of. */
typedef void profile_stack(void *context, const uint32_t *functions, unsigned depth, double cost);

/*
 * Calls one for each stack that a completed profile makes likely: costs of an edge, of the first event, are spread as
 * if they did not depend on what called its caller. Stacks come in the order of a tree, what is above after what is
 * below. Paths of less than least of all are left out, and so much of the cost in *left_out. 0 or -ENOMEM.
 */
int profile_each_stack(const struct profile *profile, double least, profile_stack *one, void *context,
		       double *left_out);

/*
 * Write these: as folded stacks; as speedscope's JSON, one "sampled" profile; as a flame graph in SVG, without any
 * program in it; for pprof. 0, -ENOMEM, or the -errno of the stream.
 */
int profile_write_folded(FILE *stream, const struct profile *profile, double least, double *left_out);
int profile_write_pprof(FILE *stream, const struct profile *profile, double least, double *left_out);
int profile_write_speedscope(FILE *stream, const struct profile *profile, double least, double *left_out);
int profile_write_svg(FILE *stream, const struct profile *profile, double least, double *left_out);

#endif
