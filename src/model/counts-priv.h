/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef MODEL_COUNTS_PRIV_H
#define MODEL_COUNTS_PRIV_H

#include "model/model.h"

/* Fills in what the trace says of ways and states. */
void model_read(struct model *model, uint64_t last_ns);

/* How many ways from this one on are for the same type; it is the first. */
uint32_t model_group(const struct model *model, uint32_t from);

/* Of judged events, those that the ways from first on leave to way. */
double model_left_over(const struct model *model, const struct model_way *first, const struct model_way *way,
		       double judged);

/* Whether a copy of the run takes it, and the run stays. */
bool model_copies(const struct model *model, const struct model_way *way);

/*
 * Runs that left the way's state by it, and that came to its target from without, as `taken` and `holds` have it. A
 * hold that fails ends the run, or the copy.
 */
double model_leaves(const struct model *model, const struct model_way *way);
double model_arrives(const struct model *model, const struct model_way *way);

#endif
