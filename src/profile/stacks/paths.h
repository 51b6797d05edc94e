/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PROFILE_STACKS_PATHS_H
#define PROFILE_STACKS_PATHS_H

/* Stacks that a completed profile makes likely, and the formats of others that are made of them. */

#include "profile/profile.h"

#include <stdio.h>

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
