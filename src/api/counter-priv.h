/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef API_COUNTER_PRIV_H
#define API_COUNTER_PRIV_H

/* What a set of counters is. */

#include "api/export.h"
#include "counters/counters.h"
#include "counters/measure/tally.h"

struct counter_item {
	uint32_t type;
	struct tally *tally;
	size_t first; /* of its operands among all */
};

struct asterism_counter_set {
	struct asterism_diag *diag;
	struct counters *counters;
	struct tally_way *ways; /* by type */
	struct meter_scope scope;
	struct meter_threads threads;
	struct counter_item *items;
	size_t count, operand_count;
	struct tally_count *counts, *zeroes; /* of all operands: as read last, and at the beginning */
	uint64_t opened_ns;
};

#endif
