/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SESSION_RECORD_SELECTION_H
#define SESSION_RECORD_SELECTION_H

/* Which events a recording holds, and which of their fields. */

#include "base/diag.h"
#include "event/catalog.h"
#include "program/load.h"

#include <stdbool.h>

struct selected_event {
	const struct event_type *type;
	bool *recorded; /* per field */
};

/* Zero: empty. Types are borrowed from the catalog. */
struct selection {
	struct selected_event *events;
	size_t count, capacity;
	/* Sensors of applications, as sensor/pattern.h has them, whole: which fields they have is known when they are
	 * announced. */
	char **sensors;
	size_t sensor_count, sensor_capacity;
};

void selection_fini(struct selection *selection);

/*
 * Adds what text asks for: EVENT[:FIELD+FIELD...],... An event is a name, or a pattern as of shells for all of the
 * catalog that this kernel raises. Without fields all are recorded. An event that is there already gains fields. !EVENT
 * takes away, of what is there by then. sensor:NAME and sensor:PROGRAM:NAME are of applications, sensor:PATH all that a
 * program's file declares.
 * Returns 0, -EINVAL (the diag says what is wrong, with the nearest name), -ENOMEM.
 */
int selection_add(struct selection *selection, struct event_catalog *catalog, const char *text,
		  struct asterism_diag *diag);

enum { SELECTION_EXCLUDES = '!', SELECTION_ADDS = '+' };

/* Whether text asks for sensors of applications, with or without SELECTION_ADDS. Nothing is looked up for that. */
bool selection_names_sensors(const char *text);

/* Adds usual, one of the lists below, as far as this kernel raises it. Returns 0, -ENOMEM. */
int selection_add_usual(struct selection *selection, struct event_catalog *catalog, const char *usual,
			struct asterism_diag *diag);

/* Adds every event that the rules of program look at, with all fields. As selection_add. */
int selection_add_program(struct selection *selection, struct event_catalog *catalog, const struct program *program,
			  struct asterism_diag *diag);

/*
 * Adds to every event that is there by now who it is about: text names fields of event/about.h, with commas between
 * them. Returns 0, -EINVAL, -ENOMEM.
 */
int selection_add_about(struct selection *selection, struct event_catalog *catalog, const char *text,
			struct asterism_diag *diag);

/* What is recorded where nothing else is said (docs/recording.md tells which rules find what they need in it). */
extern const char selection_default[];

/* What reports look at, besides. */
extern const char selection_report[];

/* The same for traces with LTTng's names: what the kernel analyses of its viewers look at. */
extern const char selection_lttng[];

#endif
