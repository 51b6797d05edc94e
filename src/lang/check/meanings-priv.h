/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef LANG_CHECK_MEANINGS_PRIV_H
#define LANG_CHECK_MEANINGS_PRIV_H

/* What values mean, through expressions. */

#include "lang/check/check-priv.h"

/* What op makes of both operands. */
const struct meaning *lang_meaning_of(const struct lang_check *c, enum lang_op op, const struct lang_expr *left,
				      const struct lang_expr *right);

/* Whether op, at location, may be applied to what the operands mean, and whether they may be compared. False: reported.
 */
bool lang_meaning_adds(struct lang_check *c, enum lang_op op, const struct lang_expr *left,
		       const struct lang_expr *right, const struct diag_location *location);
bool lang_meaning_compares(struct lang_check *c, const struct lang_expr *left, const struct lang_expr *right,
			   const struct diag_location *location);

#endif
