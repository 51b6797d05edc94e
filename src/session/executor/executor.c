// SPDX-License-Identifier: BSD-2-Clause
/* Chooses the executor that does what options ask for: of all kinds the first that takes them. */

#include "session/executor/kinds.h"

static const struct executor_kind *const kinds[] = {
	&executor_sharded, /* declines what cannot be shared out */
	&executor_user,
	&executor_kernel,
	&executor_mixed,
};

int executor_new(const struct executor_options *options, struct asterism_diag *diag, struct executor **made)
{
	int result = 0;

	*made = NULL;
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds && !result && !*made; i++)
		result = kinds[i]->open(options, diag, made);
	return result || *made ? result : -EINVAL;
}
