// SPDX-License-Identifier: BSD-2-Clause
/* Events as lines for people: the time of each as they want it, and what was lost before it in a line of its own. */

#include "trace/sink/kinds.h"

#include "base/alloc.h"
#include "trace/sink/bytes.h"
#include "trace/sink/event-text.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <time.h>

enum { TIME_BYTES = 64, NS_PER_S = 1000000000 };

struct lines {
	struct event_sink sink; /* first */
	struct trace_bytes bytes;
	enum event_sink_time time;
	bool ordinals;
	uint64_t reported; /* of what was lost */
	uint64_t second;   /* whose date this is */
	char date[32];
};

/* number, right in a column of width; returns behind it. */
static char *put_digits(char *at, uint64_t number, size_t width, char fill)
{
	char digits[20];
	size_t first = sizeof digits;

	do {
		digits[--first] = (char)('0' + number % 10);
		number /= 10;
	} while (number);
	for (size_t count = sizeof digits - first; count < width; count++)
		*at++ = fill;
	memcpy(at, digits + first, sizeof digits - first);
	return at + (sizeof digits - first);
}

/* The date of the second, which is the last one's for most events. */
static const char *date_of(struct lines *lines, uint64_t second)
{
	time_t seconds = (time_t)second;
	struct tm date;

	if (second != lines->second || !*lines->date) {
		lines->second = second;
		if (!gmtime_r(&seconds, &date) ||
		    !strftime(lines->date, sizeof lines->date, "%Y-%m-%d %H:%M:%S", &date))
			strcpy(lines->date, "?");
	}
	return lines->date;
}

/* Seconds since the start or the date, with all their digits. Inputs without wall-clock time count from the start. */
static void write_time(struct lines *lines, uint64_t ts, char time[TIME_BYTES])
{
	uint64_t shown = ts - lines->sink.start_ns;
	char *at = time;

	if (lines->time == EVENT_TIME_CLOCK) {
		*put_digits(at, ts, 0, ' ') = 0;
		return;
	}
	if (lines->time == EVENT_TIME_WALL && lines->sink.wall_ns) {
		shown = ts + lines->sink.wall_ns;
		at = stpcpy(at, date_of(lines, shown / NS_PER_S));
	} else {
		at = put_digits(at, shown / NS_PER_S, 5, ' ');
	}
	*at++ = '.';
	*put_digits(at, shown % NS_PER_S, 9, '0') = 0;
}

static int text_put(struct event_sink *sink, const struct event *event)
{
	struct lines *lines = (struct lines *)sink;
	struct text_buffer *text = &lines->bytes.text;
	uint64_t lost = sink->lost - lines->reported;
	char time[TIME_BYTES];

	if (lost)
		text_printf(text, "--- %" PRIu64 " event%s lost from here on ---\n", lost,
			    lost == 1 ? " was" : "s were");
	lines->reported = sink->lost;
	if (lines->ordinals)
		text_printf(text, "%10" PRIu64 " ", event->record->seq);
	write_time(lines, event->record->ts, time);
	event_text_line(text, event, time);
	return trace_bytes_put(&lines->bytes);
}

static int text_flush(struct event_sink *sink)
{
	return trace_bytes_flush(&((struct lines *)sink)->bytes);
}

static void text_free(struct event_sink *sink)
{
	trace_bytes_fini(&((struct lines *)sink)->bytes);
	alloc_free(sink);
}

static int text_open(const struct event_sink_options *options, struct event_sink **made)
{
	struct lines *lines = alloc_zero(1, sizeof *lines);

	if (!lines)
		return -ENOMEM;
	lines->sink.kind = &trace_sink_text;
	lines->time = options->time;
	lines->ordinals = options->ordinals;
	trace_bytes_init(&lines->bytes, options);
	*made = &lines->sink;
	return 0;
}

const struct event_sink_kind trace_sink_text = {
	.name = "text", .open = text_open, .put = text_put, .flush = text_flush, .free = text_free
};
