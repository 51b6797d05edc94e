/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SESSION_DERIVE_PLAN_H
#define SESSION_DERIVE_PLAN_H

/* Which types follow from the recorded ones, and how. */

#include "event/catalog.h"
#include "event/source.h"
#include "session/derive/path.h"

struct derive_condition {
	struct derive_node *node;
	enum source_op compare;
	uint64_t value;
};

/* One way in which events of a type follow from those of a base. */
struct derivation {
	const struct event_type *type;
	const struct derive_base *base;
	struct derive_condition *when;
	uint32_t when_count;
	struct derive_node **fields; /* per field; NULL: not wanted */
	uint32_t number;             /* that the source gives the type; UINT32_MAX: none yet */
};

struct derive_plan {
	struct arena *arena;
	struct derive_base *bases;
	size_t base_count, base_capacity;
	struct derivation *items;
	size_t count, capacity;
	/* Of the call's number, where base is the beginning of calls and where it is their end. */
	struct event_path *entry_number, *exit_number;
};

/* The recorded types of inner. derive_plan_fini either way. Returns 0, -ENOMEM. */
int derive_plan_init(struct derive_plan *plan, struct event_source *inner, const struct event_catalog *catalog);
void derive_plan_fini(struct derive_plan *plan);

/* Plans every type that want names and that was not recorded. Returns 0, -ENOMEM. */
int derive_plan_make(struct derive_plan *plan, const struct event_catalog *catalog, const struct event_want *want);

/* Whether events of type follow, and with them the field; EVENT_NO_FIELD: the events alone. */
bool derive_plan_holds(struct derive_plan *plan, const struct event_type *type, uint32_t field);

/* Whether events of base are the beginnings, the ends, of system calls. */
bool derive_is_entry(const struct derive_base *base);
bool derive_is_exit(const struct derive_base *base);

#endif
