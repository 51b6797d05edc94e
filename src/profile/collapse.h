/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PROFILE_COLLAPSE_H
#define PROFILE_COLLAPSE_H

#include "profile/graph.h"

/*
 * A copy in which functions that call each other in a circle are one function; to[function] is where each went.
 * Contexts are left out. 0 or -ENOMEM.
 */
int profile_collapse(const struct profile *profile, const struct graph *graph, uint32_t *to,
		     struct profile **collapsed);

/* Copies the texts of a function; its costs are 0. */
int profile_copy_function(const struct profile *from, uint32_t function, struct profile *to, uint32_t *copy);
/* Makes the spot one of the function of to; its cost is 0. */
int profile_copy_spot(const struct profile *from, uint32_t spot, struct profile *to, uint32_t function, uint32_t *copy);
int profile_copy_events(const struct profile *from, struct profile *to);

#endif
