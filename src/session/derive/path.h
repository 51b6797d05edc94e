/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SESSION_DERIVE_PATH_H
#define SESSION_DERIVE_PATH_H

/*
 * The paths of a catalog, evaluated over recorded events instead of a kernel: a path can be where everything that it
 * reads was recorded, which is so where a recorded field was obtained by the same path.
 */

#include "event/path.h"
#include "event/type.h"

/* A recorded type with one source: what its fields are, in the notation of catalogs. */
struct derive_base {
	const struct event_type *type;
	const struct event_hook *source;
	struct event_path_conditions when; /* holds for every event of it */
	struct event_path **paths;         /* per field; NULL: not recorded */
};

enum { DERIVE_ARGS = 6 };

/* What a path may speak of. */
struct derive_scope {
	struct arena *arena;
	const struct derive_base *base;
	const struct derive_base *entry; /* the beginning of the call that base is the end of; NULL: none */
};

/* What an event tells, and where base is the end of a call, its beginning. */
struct derive_event {
	const char *record;
	const uint64_t *args; /* NULL: not known */
};

struct derive_node;

/* Returns 0; -ENOENT: the recorded events do not tell; -ENOMEM. A string's path gives a node for derive_text alone. */
int derive_path_compile(const struct derive_scope *scope, const struct event_path *path,
			const struct event_field *field, struct derive_node **made);

/* Likewise for an integer that is part of a condition. */
int derive_integer_compile(const struct derive_scope *scope, const struct event_path *path, struct derive_node **made);

/* The recorded field of base that has all 64 bits of what path says, or NULL. */
const struct event_field *derive_field_of(const struct derive_base *base, const struct event_path *path);

/* Whether a comparison of path is written the same as one that holds for every event of base. */
bool derive_is_given(const struct derive_base *base, const struct event_path_condition *condition);

/* The value of an integer. False: it depends on arguments that are not known. */
bool derive_value(const struct derive_node *node, const struct derive_event *event, uint64_t *value);

/* The bytes of a string in the record of the event; NULL: it is empty. */
const char *derive_text(const struct derive_node *node, const struct derive_event *event);

#endif
