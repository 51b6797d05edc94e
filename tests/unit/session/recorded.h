/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TESTS_UNIT_SESSION_RECORDED_H
#define TESTS_UNIT_SESSION_RECORDED_H

/* A recording in memory: what it was to hold, and its events. */

#include "event/catalog.h"
#include "event/source.h"

enum { RECORDED_MAX = 32 };

struct recorded {
	struct event_source source; /* first */
	struct event_catalog *catalog;
	const char *held; /* "TYPE TYPE:FIELD+FIELD", as record's -e has it */
	struct {
		union {
			struct event_header header;
			char bytes[512];
		} record;
		const struct event_type *type;
		uint64_t lost_before;
	} events[RECORDED_MAX];
	size_t count, next;
};

void recorded_init(struct recorded *recorded, struct event_catalog *catalog, const char *held);

/* Adds an event of type by thread tid; its fields, in their order, are what words say. */
void recorded_add(struct recorded *recorded, const char *type, uint32_t tid, const uint64_t *words);

#endif
