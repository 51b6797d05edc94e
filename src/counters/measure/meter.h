/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef COUNTERS_MEASURE_METER_H
#define COUNTERS_MEASURE_METER_H

/*
 * A meter is a source that is open: what it has grown by since it was read last. Sources of perf count the whole
 * machine, or a process and all that it begins; files count the machine. Meters of perf may share a group, which the
 * kernel counts together or not at all.
 */

#include "counters/counters.h"
#include "counters/measure/threads.h"

#include <sys/types.h>

enum { METER_REASON_BYTES = 128 };

struct meter;

/* A file of values that stands for all sources: lines "SOURCE = VALUE VALUE@SHARE ...", a value for each reading. */
struct meter_fake;

struct meter_scope {
	pid_t pid; /* whose; -1: the machine's */
	const struct meter_threads
		*threads;        /* of a process that runs, which counts from now on; NULL: from its exec on */
	struct meter *group;     /* that it joins; NULL: none */
	struct meter_fake *fake; /* NULL: real ones */
	bool is_gauge;
};

struct meter_reading {
	double value;                  /* grown by; of a gauge what it is; NAN: it did not count */
	double running;                /* share of the time in which it counted; value is scaled */
	double enabled_ns, running_ns; /* the time, of all threads or CPUs; 0: its source has no time of its own */
};

/* Returns 0, or -errno with a reason. */
int meter_fake_open(const char *file, struct asterism_diag *diag, struct meter_fake **fake);

/* The one that ASTERISM_COUNTERS names; NULL: there is none. */
int meter_fake_of_environment(struct asterism_diag *diag, struct meter_fake **fake);
void meter_fake_free(struct meter_fake *fake);

/* Returns 0, or -errno with a reason: -EACCES where it needs a privilege, -EINVAL where the group is too large. */
int meter_open(const struct counter_source *source, const struct meter_scope *scope, char reason[METER_REASON_BYTES],
	       struct meter **meter);
void meter_free(struct meter *meter);

/* Whether it counts user code alone, as no more is permitted; whether it counts the machine. */
bool meter_is_of_user(const struct meter *meter);
bool meter_is_of_machine(const struct meter *meter);

/* Whether it shares no group: its PMU counts on some CPUs alone, or it is a file. */
bool meter_is_alone(const struct meter *meter);

/* Returns 0, or -errno with a reason. */
int meter_take(struct meter *meter, char reason[METER_REASON_BYTES], struct meter_reading *reading);

#endif
