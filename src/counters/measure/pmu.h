/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef COUNTERS_MEASURE_PMU_H
#define COUNTERS_MEASURE_PMU_H

/* Events of a PMU by its name, as the kernel describes them in /sys/bus/event_source/devices. */

#include "counters/measure/meter.h"

enum { PMU_CONFIGS = 4, PMU_CPUS_MAX = 4096, PMU_ALIKE_MAX = 256 };

struct pmu_event {
	uint32_t type; /* of perf_event_attr, as are the configs */
	uint64_t configs[PMU_CONFIGS];
	double scale;       /* one count is so many of its unit */
	bool has_cpus;      /* it counts only where it is opened on these */
	bool is_of_machine; /* they stand for others: it knows no processes */
	uint64_t cpus[PMU_CPUS_MAX / 64];
};

/* The folder that ASTERISM_PMUS names, or else the kernel's. */
const char *pmu_folder(void);

/*
 * event is a name in the PMU's events, or has terms, "event=0x3c,umask=1". Returns 0, or -errno with a reason: -ENOENT
 * where there is no such PMU or event, -EINVAL where what is said of it makes no sense.
 */
int pmu_find(const char *folder, const char *pmu, const char *event, char reason[METER_REASON_BYTES],
	     struct pmu_event *found);

/*
 * The same of all PMUs whose name fits a pattern with `*`, which have to be of the machine and of one scale: so many in
 * found, in the order of their names, for the caller to free. Returns their count, or -errno with a reason.
 */
int pmu_find_alike(const char *folder, const char *pattern, const char *event, char reason[METER_REASON_BYTES],
		   struct pmu_event **found);

#endif
