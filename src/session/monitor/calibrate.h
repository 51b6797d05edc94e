/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SESSION_MONITOR_CALIBRATE_H
#define SESSION_MONITOR_CALIBRATE_H

/* What an element costs, found by evaluating made-up ones in contexts whose results nobody sees. */

#include "monitor/evaluation.h"
#include "sensor/stream/process.h"

#include <stddef.h>

struct calibrate_row {
	const struct monitor_evaluation_kind *kind;
	void *context;
	int64_t sensor; /* as of monitor_evaluations_add */
};

struct calibrate_cost {
	uint64_t ns;
	const char *culprit; /* -ENOTSUP: whose row has no twin */
};

/*
 * Twice what an element that is wanted took in nearly all cases, all rows that it concerns together, with what bringing
 * it here takes. Returns 0, -ENOTSUP, -ENOMEM.
 */
int calibrate_cost(const struct calibrate_row *rows, size_t count, const struct stream_want *want,
		   struct calibrate_cost *cost);

#endif
