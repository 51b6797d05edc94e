/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef MONITOR_ADMISSION_H
#define MONITOR_ADMISSION_H

/*
 * Whether a monitor can promise what is asked of it: for each sensor that a rate is declared of, how many elements per
 * period (R) give the wanted latency, how many wait meanwhile, and what of a CPU all need together. What it
 * refuses it refuses with the figures, and with what would do.
 */

#include "base/diag.h"
#include "monitor/jcs.h"

struct admission_sensor {
	const char *name;
	struct jcs stream;
	bool is_declared;
	uint64_t cost_ns; /* of an evaluation, at most */

	/* Found: */
	uint64_t elements;   /* R */
	uint64_t latency_ns; /* l(R) */
	uint64_t waiting;    /* elements that may wait at once: in the rings of the sensor, worst case */
};

struct admission {
	struct jcs_monitor monitor;
	uint64_t wanted_ns;  /* latency; 0: the shortest that there is */
	uint64_t wake_ns;    /* what a turn costs without any element */
	bool is_best_effort; /* nothing is reserved, so what does not fit is no reason to refuse */
	uint64_t copy_ns;    /* not 0: elements are only copied, at this cost each */
	struct admission_sensor *sensors;
	size_t count;

	/* Found: */
	uint64_t latency_ns; /* of all declared sensors: the longest */
	uint64_t runtime_ns; /* per period */
	size_t declared;
};

/*
 * Returns 0; -EINVAL: the figures are none; -ERANGE: no R does for the latency; -E2BIG: the evaluations do not fit into
 * the deadline. diag says why. Without a declared sensor there is nothing to promise, and all is 0.
 */
int admission_decide(struct admission *admission, struct asterism_diag *diag);

/* Elements of so many units, their words included, that a ring of this shape holds for a reader that is that late. */
uint64_t admission_ring_holds(uint32_t sub_units, uint32_t sub_count, uint32_t element_units);

/* "1.5 ms", as short as is exact to three digits. Returns text. */
enum { ADMISSION_TIME_BYTES = 24 };
const char *admission_time(char text[ADMISSION_TIME_BYTES], uint64_t ns);

#endif
