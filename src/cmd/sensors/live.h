/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CMD_SENSORS_LIVE_H
#define CMD_SENSORS_LIVE_H

/* The sensors that a directory knows, at one moment. */

#include "event/catalog.h"
#include "ring/elements.h"
#include "sensor/observer.h"
#include "sensor/stream/clock.h"

/* A process with them. */
struct live_sensors_process {
	struct sensor_process told;
	struct sensor_mapping *area; /* NULL: fault says why */
	int fault;
	char *refusal; /* the directory's reason; NULL: it was not refused */
	uint64_t events, dropped, unfinished;
	bool is_damaged;        /* events or dropped cannot be: the process has overwritten them */
	uint64_t events_before; /* when it was looked at first */
	double rate;            /* events per second between both looks */
};

struct live_type {
	size_t process;
	uint32_t id, units, readers;
	bool is_absent; /* the process cannot raise it any more; what it wrote may be there */
	char *text;
	struct event_catalog *catalog; /* of this one type */
	const struct event_type *type;
};

struct live_sensors {
	struct live_sensors_process *processes;
	struct live_type *types; /* those of a process one after the other */
	size_t process_count, type_count, process_capacity, type_capacity;
	struct stream_clock clock; /* as far as the directory has it */
};

/*
 * Asks the directory at path (NULL: wherever one is) for what pattern means, and looks at how much was written, twice.
 * Returns 0 or -errno and a message; live_sensors_fini either way.
 */
int live_sensors_read(const char *path, const char *pattern, struct asterism_diag *diag, struct live_sensors *live);
void live_sensors_fini(struct live_sensors *live);

#endif
