// SPDX-License-Identifier: BSD-2-Clause
/* Writes bytes, and gives up where a descriptor takes none. */

#include "trace/sink/bytes.h"

#include <errno.h>
#include <unistd.h>

enum { PIECE_BYTES = 1 << 16 };

void trace_bytes_init(struct trace_bytes *bytes, const struct event_sink_options *options)
{
	*bytes = (struct trace_bytes){ .fd = options->fd, .at_once = options->at_once, .stop = options->stop };
}

void trace_bytes_fini(struct trace_bytes *bytes)
{
	text_fini(&bytes->text);
}

int trace_bytes_put(struct trace_bytes *bytes)
{
	if (bytes->at_once || bytes->text.failure || bytes->text.length >= PIECE_BYTES)
		return trace_bytes_flush(bytes);
	return bytes->failed;
}

int trace_bytes_flush(struct trace_bytes *bytes)
{
	size_t done = 0;

	if (!bytes->failed)
		bytes->failed = bytes->text.failure;
	while (done < bytes->text.length && !bytes->failed) {
		ssize_t wrote = write(bytes->fd, bytes->text.bytes + done, bytes->text.length - done);

		if (wrote >= 0)
			done += (size_t)wrote;
		else if (errno != EINTR)
			bytes->failed = -errno;
		else if (bytes->stop && *bytes->stop)
			bytes->failed = -EPIPE; /* who stops us does not wait for a reader */
	}
	bytes->text.length = 0;
	return bytes->failed;
}
