/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TRACE_BABEL_CLASS_H
#define TRACE_BABEL_CLASS_H

/*
 * What the events of one CTF event class become: the type, and for each field of the record where its value stands.
 * Worked out once per class, so that decoding an event is a walk over a list.
 */

#include "event/catalog.h"
#include "trace/ctf/lttng-map.h"

#include <babeltrace2/babeltrace.h>

/* Where a value stands. */
enum babel_scope {
	BABEL_PAYLOAD,
	BABEL_SPECIFIC,
	BABEL_COMMON,
	BABEL_PACKET,
	BABEL_SCOPE_COUNT,
	BABEL_CONSTANT = BABEL_SCOPE_COUNT /* index is the value */
};

struct babel_value {
	enum babel_scope scope;
	uint64_t index; /* in the scope's structure */
	enum event_value value;
	uint32_t offset, bytes; /* in the record */
};

/* What an event of the class tells about who runs (babel/who.h): members of the payload. */
enum babel_who_kind {
	BABEL_WHO_NOTHING,
	BABEL_WHO_SWITCH, /* tid: the thread that comes; other: its name */
	BABEL_WHO_THREAD, /* tid: a thread; other: its process */
};

struct babel_who_plan {
	enum babel_who_kind kind;
	bool has_cpu, lacks_tid, lacks_pid, lacks_comm;
	uint64_t cpu; /* member of the packet context */
	uint64_t tid, other;
};

struct babel_class {
	const bt_event_class *class; /* NULL: none; kept alive by the iterator's stream classes */
	const struct event_type *type;
	uint32_t number;
	bool wanted;
	bool reports;     /* is no event, but tells who raised those that follow; type and values are not set */
	bool is_reported; /* see babel/reported.h */
	struct babel_value *values;
	size_t value_count, value_capacity;
	struct babel_who_plan who;
	struct babel_class *any; /* what it is as well: any system call; or NULL */
};

/*
 * Fills in type and values of the class, for which class->class is set. Adds a type to the catalog where none is known
 * it. Returns 0, -ENOMEM, -EINVAL (a type of its name is there and cannot be had under another one).
 */
int babel_class_init(struct babel_class *class, const struct lttng_map *map, struct event_catalog *catalog);

/* Whether some value goes to the field at offset. */
bool babel_class_has(const struct babel_class *class, size_t offset);

/*
 * Where the event is one of many that are alike (a system call), makes class->any, which says so: its type has the
 * event's number. Leaves it NULL otherwise. Returns 0, -ENOMEM.
 */
int babel_class_init_any(struct babel_class *class, const struct lttng_map *map, struct event_catalog *catalog);
void babel_class_fini(struct babel_class *class);

/* Decodes event into the record, all but ts, seq and type; the record is zeroed before. */
void babel_class_decode(const struct babel_class *class, const bt_event *event, char *record);

/* The value of a member of one of the event's structures. Returns whether it is there and of the kind. */
bool babel_class_integer(const bt_event *event, enum babel_scope scope, uint64_t index, uint64_t *value);
bool babel_class_text(const bt_event *event, enum babel_scope scope, uint64_t index, char *text, size_t size);

#endif
