/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TRACE_SINK_BYTES_H
#define TRACE_SINK_BYTES_H

/* Bytes on their way to a descriptor. The first failure sticks, and nothing is written after it. */

#include "base/text.h"
#include "event/sink.h"

struct trace_bytes {
	struct text_buffer text; /* where they are put */
	int fd;
	bool at_once;
	const volatile sig_atomic_t *stop;
	int failed; /* 0 or -errno */
};

void trace_bytes_init(struct trace_bytes *bytes, const struct event_sink_options *options);
void trace_bytes_fini(struct trace_bytes *bytes);

/* An event is complete. Both return 0 or -errno. */
int trace_bytes_put(struct trace_bytes *bytes);
int trace_bytes_flush(struct trace_bytes *bytes);

#endif
