// SPDX-License-Identifier: BSD-2-Clause
/* Finds the writer for a format. */

#include "trace/sink/sink.h"

#include "trace/sink/kinds.h"

#include <string.h>

static const struct event_sink_kind *const kinds[] = { &trace_sink_text, &trace_sink_json };

int trace_sink_open(const char *name, const struct event_sink_options *options, struct event_sink **made)
{
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		if (strcmp(kinds[i]->name, name) == 0)
			return kinds[i]->open(options, made);
	}
	return -ENOENT;
}
