/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SESSION_DERIVE_CALLS_H
#define SESSION_DERIVE_CALLS_H

/* The system calls that threads are in: with which arguments each has begun. */

#include "session/derive/path.h"

struct derive_call {
	uint32_t tid; /* 0: a free place */
	uint32_t age; /* of the table when it began */
	uint64_t number;
	uint64_t args[DERIVE_ARGS];
};

/* Zero: empty. */
struct derive_calls {
	struct derive_call *places;
	size_t place_count, used;
	uint32_t age;
};

void derive_calls_fini(struct derive_calls *calls);

/* A call begins. Returns 0, -ENOMEM. */
int derive_calls_begin(struct derive_calls *calls, const struct derive_call *call);

/* The call of the thread that now ends has this number: its arguments, valid until the next call of these; NULL: not
 * known. */
const uint64_t *derive_calls_end(struct derive_calls *calls, uint32_t tid, uint64_t number);

/* Events are missing: whatever is known may be of earlier calls. */
void derive_calls_forget(struct derive_calls *calls);

#endif
