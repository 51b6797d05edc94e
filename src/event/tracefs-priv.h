/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef EVENT_TRACEFS_PRIV_H
#define EVENT_TRACEFS_PRIV_H

/* Tracepoints that no catalog describes, by what the kernel itself says of their records. */

#include "event/catalog-priv.h"

/* The fields of a tracepoint and how they are obtained. */
struct event_format {
	struct event_field_spec fields[EVENT_FIELDS_MAX];
	const char *paths[EVENT_FIELDS_MAX];
	uint32_t count;
	uint32_t bytes; /* of the record */
};

/*
 * Reads the text of a format file. What cannot be a field (odd sizes, dynamic arrays of other than characters, too much
 * of it) is left out. Texts go to arena. Returns 0; -EINVAL (no format file at all), -ENOMEM.
 */
int event_format_read(struct arena *arena, const char *text, size_t length, struct event_format *format);

/*
 * The type for a name as event_catalog_find takes it, added from tracefs, or NULL. Names of tracepoints that the
 * catalog has under their own name find those.
 */
const struct event_type *event_tracefs_find(struct event_catalog *catalog, const char *name);

#endif
