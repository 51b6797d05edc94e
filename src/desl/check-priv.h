/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef DESL_CHECK_PRIV_H
#define DESL_CHECK_PRIV_H

/* Steps of checking the type that reading is at. False: reported. */

#include "desl/reading-priv.h"

bool desl_resolve(struct desl_reading *reading);

/* Kinds of values, and the order in which fields are worked out. */
bool desl_check_kinds(struct desl_reading *reading);

/* What the constraint asks for, and what aggregates are over. */
bool desl_check_constraint(struct desl_reading *reading);
bool desl_check_groups(struct desl_reading *reading);

/* Advice is over fields of its own type, and names such. */
bool desl_resolve_advice(struct desl_reading *reading);

/* What the thesis prints and cannot be repaired. */
void desl_check_printed(struct desl_reading *reading);

/* Whether an expression has something of one of these. */
bool desl_has(const struct desl_expr *expr, enum desl_op first, enum desl_op last);

/* The sources that it is over, as bits. */
uint32_t desl_sources_of(const struct desl_type *type, const struct desl_expr *expr);

/* The corrected program: the text with all edits. NULL: no memory. */
char *desl_apply_edits(struct desl_reading *reading);

#endif
