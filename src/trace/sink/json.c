// SPDX-License-Identifier: BSD-2-Clause
/* Events as JSON lines, which trace/jsonl reads back: what was lost between them has no place there. */

#include "trace/sink/kinds.h"

#include "base/alloc.h"
#include "trace/sink/bytes.h"
#include "trace/sink/event-text.h"

#include <errno.h>

struct json {
	struct event_sink sink; /* first */
	struct trace_bytes bytes;
};

static int json_put(struct event_sink *sink, const struct event *event)
{
	struct json *json = (struct json *)sink;

	event_text_json(&json->bytes.text, event);
	return trace_bytes_put(&json->bytes);
}

static int json_flush(struct event_sink *sink)
{
	return trace_bytes_flush(&((struct json *)sink)->bytes);
}

static void json_free(struct event_sink *sink)
{
	trace_bytes_fini(&((struct json *)sink)->bytes);
	alloc_free(sink);
}

static int json_open(const struct event_sink_options *options, struct event_sink **made)
{
	struct json *json = alloc_zero(1, sizeof *json);

	if (!json)
		return -ENOMEM;
	json->sink.kind = &trace_sink_json;
	trace_bytes_init(&json->bytes, options);
	*made = &json->sink;
	return 0;
}

const struct event_sink_kind trace_sink_json = {
	.name = "json", .open = json_open, .put = json_put, .flush = json_flush, .free = json_free
};
