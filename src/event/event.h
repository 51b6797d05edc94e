/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef EVENT_EVENT_H
#define EVENT_EVENT_H

/* An event on its way from a source (event/source.h) to its consumers. */

#include "event/type.h"

struct event {
	struct event_header *record;   /* the reader may change it; valid until the next event is asked for */
	const struct event_type *type; /* what record->type stands for, of the catalog that the source was given */
	uint32_t bytes;                /* that the event takes in the input; 0: unknown */
	uint64_t completed_ns;         /* the event is late (event/type.h), and came at this time; 0: it is not */
};

#endif
