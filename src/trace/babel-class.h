/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TRACE_BABEL_CLASS_H
#define TRACE_BABEL_CLASS_H

/*
 * What the events of one CTF event class become: the type, and for each field of the record where its value stands.
 * Worked out once per class, so that decoding an event is a walk over a list.
 */

#include "event/catalog.h"
#include "trace/lttng-map.h"

#include <babeltrace2/babeltrace.h>

/* Where a value stands. */
enum babel_scope { BABEL_PAYLOAD, BABEL_SPECIFIC, BABEL_COMMON, BABEL_PACKET, BABEL_SCOPE_COUNT };

struct babel_value {
	enum babel_scope scope;
	uint64_t index; /* in the scope's structure */
	enum event_value value;
	uint32_t offset, bytes; /* in the record */
};

struct babel_class {
	const bt_event_class *class; /* NULL: none; kept alive by the iterator's stream classes */
	const struct event_type *type;
	uint32_t number;
	bool wanted;
	bool tells_who;   /* is no event, but tells who raised those that follow; type and values are not set */
	bool who_is_told; /* see babel-who.h */
	struct babel_value *values;
	size_t value_count, value_capacity;
};

/*
 * Fills in type and values of the class, for which class->class is set. Adds a type to the catalog where nobody knows
 * it. Returns 0, -ENOMEM, -EINVAL (a type of its name is there and cannot be had under another one).
 */
int babel_class_init(struct babel_class *class, const struct lttng_map *map, struct event_catalog *catalog);
void babel_class_fini(struct babel_class *class);

/* Decodes event into the record, all but ts, seq and type; the record is zeroed before. */
void babel_class_decode(const struct babel_class *class, const bt_event *event, char *record);

#endif
