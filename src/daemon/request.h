/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef DAEMON_REQUEST_H
#define DAEMON_REQUEST_H

/* A request as the control protocol has it (docs/formats/control.md), read from a line of JSON. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum request_op {
	REQUEST_PING,
	REQUEST_LOAD,
	REQUEST_UNLOAD,
	REQUEST_QUERY,
	REQUEST_ACTIVATE,
	REQUEST_DEACTIVATE,
	REQUEST_NEXT,
	REQUEST_CONTINUE,
	REQUEST_ABORT,
	REQUEST_RELOAD,
	REQUEST_RECORD_START,
	REQUEST_RECORD_STOP,
	REQUEST_RECORD_MASK,
	REQUEST_RECORD_FLUSH,
	REQUEST_RECORD_SNAPSHOT,
	REQUEST_RECORD_STATUS,
	REQUEST_OPS,
};

enum { REQUEST_UNIT_BYTES = 129, REQUEST_WHY_BYTES = 160, REQUEST_TIMEOUT_MS_MAX = 3600 * 1000 };

struct request {
	enum request_op op;
	char unit[REQUEST_UNIT_BYTES]; /* or recording; "": none was named */
	size_t length;                 /* of the body */
	bool activate;                 /* LOAD: at once */
	uint64_t ticket;               /* CONTINUE, ABORT */
	uint32_t timeout_ms;           /* NEXT */
	bool flight;                   /* RECORD_START, with what follows; 0: as is usual */
	uint64_t max_bytes, ring_bytes, last_ns;
};

/*
 * Reads a request. Returns 0; -EINVAL (it is none), -ENOSYS (there is no such operation), with a sentence for the
 * client that sent it in why.
 */
int request_read(const char *line, size_t length, struct request *request, char why[REQUEST_WHY_BYTES]);

/* Whether a body follows requests of this operation. */
bool request_has_body(enum request_op op);

/* Whether name can be that of a unit which a client loads: letters, digits, - and _; files of a directory have a dot.
 */
bool request_is_unit_name(const char *name);

#endif
