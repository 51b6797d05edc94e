/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CMD_PRICES_H
#define CMD_PRICES_H

/* What the work of rules costs on this machine. */

#include "model/cost.h"

/*
 * The prices that were kept; else, where this process may load programs, those that are measured now, which takes about
 * a second, and kept; else the table's. They are kept in the file that ASTERISM_PRICES names, or in that of the system;
 * "table" in place of a file stands for the table.
 */
void prices_get(struct model_prices *prices);

#endif
