/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TRACE_CTF_LTTNG_MAP_H
#define TRACE_CTF_LTTNG_MAP_H

/*
 * LTTng's names for the events and fields of the Linux catalog (catalogs/lttng.map), in both directions: for reading
 * its traces, and for writing traces that tools made for LTTng understand. Read-only once read, so threads may share
 * it.
 */

#include "base/diag.h"

#include <stdbool.h>
#include <stddef.h>

struct lttng_field {
	const char *field; /* the catalog's; may be a header field; NULL: the catalog does not have it */
	const char *name;  /* LTTng's */
};

struct lttng_event {
	const char *type;                 /* the catalog's; may have a `*`; NULL: the catalog does not have it */
	const char *name;                 /* LTTng's; then has a `*`, too. Alone here: the row is for any such event */
	const struct lttng_field *fields; /* in LTTng's order */
	size_t field_count;
	bool and_others; /* fields that are not named here are called the same in both */
};

struct lttng_map;

/*
 * Reads the installed map (where the catalogs are). Returns 0, -EINVAL (it is not there, or wrong: the diag says
 * where), -ENOMEM.
 */
int lttng_map_read(struct asterism_diag *diag, struct lttng_map **map);

/* The same from text; file is what messages call it. */
int lttng_map_parse(const char *file, const char *text, size_t length, struct asterism_diag *diag,
		    struct lttng_map **map);
void lttng_map_free(struct lttng_map *map);

/*
 * The event that LTTng calls name, or NULL. Stores what the catalog calls it in type, of size bytes: empty where the
 * catalog does not have it.
 */
const struct lttng_event *lttng_map_find(const struct lttng_map *map, const char *name, char *type, size_t size);

/*
 * The row for any such event (a type without a `*` for names with one) that the event LTTng calls name belongs to, or
 * NULL. In it a field's name `*` is the number of what the star stands for, and a numeral the place of an argument.
 */
const struct lttng_event *lttng_map_find_any(const struct lttng_map *map, const char *name);

/* The event of the catalog's type, or NULL; of several the first. Stores what LTTng calls it in name. */
const struct lttng_event *lttng_map_find_type(const struct lttng_map *map, const char *type, char *name, size_t size);

/* Events in the order of the file; NULL past the end. */
const struct lttng_event *lttng_map_get(const struct lttng_map *map, size_t index);

/* The LTTng context fields that stand for a header field (pid, tid, comm, cpu), the preferred first; NULL ends. */
const char *lttng_map_context(const struct lttng_map *map, const char *header_field, size_t index);

/* Likewise the fields of any event that do where no context says it. */
const char *lttng_map_payload(const struct lttng_map *map, const char *header_field, size_t index);

#endif
