/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CMD_INPUT_MEASURES_H
#define CMD_INPUT_MEASURES_H

/* What --order-by says: how often the conditions of rules were true, as `--why -f json` has told. */

#include "cmd/options/options.h"
#include "program/order/order.h"

/*
 * Stores what the file holds; NULL: none is given. The caller frees it with program_measures_free. Returns 0, -EINVAL
 * (the diag says why; also for a file that cannot be read), -ENOMEM.
 */
int cmd_measures_read(const struct cli_arguments *arguments, struct asterism_diag *diag,
		      struct program_measures **read_measures);

/* Whether the order is to be that of the rule text. */
bool cmd_order_is_written(const struct cli_arguments *arguments);

#endif
