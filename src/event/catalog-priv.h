/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef EVENT_CATALOG_PRIV_H
#define EVENT_CATALOG_PRIV_H

#include "base/alloc.h"
#include "event/catalog.h"

struct event_catalog {
	struct arena *arena; /* every type and text */
	struct event_type **types;
	size_t type_count, type_capacity;
	uint32_t *slots;   /* hash table by name: index of the type + 1, 0 = free */
	size_t slot_count; /* a power of two */
};

/* The type that the catalog already has under this name, or NULL; never asks the kernel. */
const struct event_type *event_catalog_known(const struct event_catalog *catalog, const char *name);

#endif
