// SPDX-License-Identifier: BSD-2-Clause
/* Parses how catalogs name what raises events: tracepoints, and probes in user code. */

#include "base/alloc.h"
#include "event/scan-priv.h"

#include <errno.h>
#include <string.h>

static int scan_tracepoint(struct event_scan *scan, struct event_span *span)
{
	struct event_span system = event_scan_name(scan), name;

	*span = system;
	if (!system.length)
		return event_scan_expected(scan, "a tracepoint");
	if (scan->at == scan->end || *scan->at != ':')
		return event_scan_error(scan, system, NULL, "a tracepoint is written system:name");
	scan->at++;
	name = event_scan_name(scan);
	if (!name.length || name.start != system.start + system.length + 1)
		return event_scan_error(scan, system, NULL, "a tracepoint is written system:name");
	span->length += 1 + name.length;
	return 0;
}

/* Whether text has so many parts with colons between them, the last ones not empty, the first of any sort. */
static bool has_parts(const char *text, unsigned parts)
{
	const char *end = text + strlen(text);

	while (--parts) {
		const char *colon = memrchr(text, ':', (size_t)(end - text));

		if (!colon || colon + 1 == end)
			return false;
		end = colon;
	}
	return end > text;
}

struct probe_form {
	const char *system, *place;
	unsigned parts; /* of the place */
};

/* uprobe:"file:function" and what is like it: what comes back as system:name is uprobe:file:function. 1: there was one.
 */
static int scan_probe(struct event_scan *scan, struct event_span *span, const char **tracepoint)
{
	static const struct probe_form forms[] = {
		{ "uprobe", "file:function", 2 },
		{ "uretprobe", "file:function", 2 },
		{ "usdt", "file:provider:probe", 3 },
	};
	const struct probe_form *form = NULL;
	const char *start = scan->at, *place;

	*span = event_scan_name(scan);
	for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
		if (event_span_is(*span, forms[i].system))
			form = &forms[i];
	}
	if (!form || !event_scan_char(scan, ':')) {
		scan->at = start;
		return 0;
	}
	int taken = event_scan_text(scan, &place);

	if (taken < 0)
		return taken;
	if (!taken || !has_parts(place, form->parts))
		return event_scan_error(scan, *span, NULL, "a probe is written %s:\"%s\"", form->system, form->place);
	*tracepoint = arena_format(scan->arena, "%s:%s", form->system, place);
	return *tracepoint ? 1 : -ENOMEM;
}

int event_scan_source(struct event_scan *scan, struct event_span *span, const char **probe)
{
	int result;

	*probe = NULL;
	result = scan_probe(scan, span, probe);
	return result ? result : scan_tracepoint(scan, span);
}
