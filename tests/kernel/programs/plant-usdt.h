/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PLANT_USDT_H
#define PLANT_USDT_H

/* Raises the probes plain:placed, in three places, and plain:variable, whose arguments are variables. */
void plant_plain(long number);

#endif
