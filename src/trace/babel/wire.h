/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TRACE_BABEL_WIRE_H
#define TRACE_BABEL_WIRE_H

/*
 * What passes between the process that reads a foreign trace and the one that wants its events, over one stream socket.
 * Every message is a head and so many bytes, a multiple of 8. Towards the reader of events: opened or failed; then for
 * each type, before its first event, type, which is answered by one byte (enum wire_answer); events, and losses and the
 * clock as they change; in the end end or failed.
 */

#include "event/source.h"

#include <stdint.h>

enum wire_kind {
	WIRE_OPENED = 1,
	WIRE_FAILED, /* struct wire_failure */
	WIRE_TYPE,   /* struct wire_type, its fields, then the names of the type and of each field, NUL-terminated */
	WIRE_EVENT,  /* a record; of unwanted types the header only */
	WIRE_STATE,  /* struct wire_state */
	WIRE_END,
};

enum wire_answer { WIRE_WANTED = 1 << 0, WIRE_NAMED = 1 << 1 };

struct wire_head {
	uint32_t kind, bytes;
};

struct wire_failure {
	int32_t code;
	char text[612];
};

struct wire_field {
	uint32_t value, bytes;
	uint64_t is_absent; /* the trace's events have no such field: it is 0 or empty */
};

/* Types are numbered from 0 in the order in which they come. */
struct wire_type {
	uint32_t record_bytes, field_count;
};

/* What a source says of itself, whenever it has changed. */
struct wire_state {
	uint64_t lost, until_ns, wall_ns;
	char host[(EVENT_HOST_BYTES + 7) / 8 * 8];
};

enum {
	WIRE_NAME_BYTES = 512, /* of one name at most, NUL included */
	WIRE_BYTES_MAX = (EVENT_FIELDS_MAX + 2) * (WIRE_NAME_BYTES + 16),
};

_Static_assert(sizeof(struct wire_head) == 8 && sizeof(struct wire_failure) % 8 == 0 && sizeof(struct wire_type) == 8,
	       "messages stay aligned");
_Static_assert((int)WIRE_BYTES_MAX >= (int)EVENT_RECORD_BYTES_MAX, "a record fits");

struct babel_request;

/* What the reading process does: opens the folders, and tells over fd what is in them; returns when it is to end. */
void babel_serve(int fd, const struct babel_request *request);

#endif
