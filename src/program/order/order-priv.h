/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PROGRAM_ORDER_ORDER_PRIV_H
#define PROGRAM_ORDER_ORDER_PRIV_H

#include "program/order/order.h"

/* At least 1. */
uint32_t order_cost(const struct program *program, uint32_t node);

/* Adds up what is measured of the condition. */
void order_measure(const struct program_asking *asking, struct program_ranked *ranked);

#endif
