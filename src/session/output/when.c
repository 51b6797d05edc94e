// SPDX-License-Identifier: BSD-2-Clause
/* Writes when and where a match was. */

#include "session/output/when.h"

#include "base/date.h"
#include "base/text.h"
#include "session/output/result-priv.h"

#include <inttypes.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>

enum { NS_PER_S = 1000000000 };

/*
 * Two readings of clocks that are a moment apart differ by that moment. Less than this is not followed, so that matches
 * are as far from each other by the wall clock as they are by their own.
 */
enum { CLOCK_SLACK_NS = 1000000 };

static uint64_t read_clock(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

static void read_own_host(char host[EVENT_HOST_BYTES])
{
	struct utsname system;

	if (uname(&system) == 0)
		snprintf(host, EVENT_HOST_BYTES, "%s", system.nodename);
}

void when_take_machine(struct event_machine *machine)
{
	uint64_t steady = read_clock(CLOCK_MONOTONIC), offset = read_clock(CLOCK_REALTIME) - steady;

	if (offset - machine->wall_ns + CLOCK_SLACK_NS > 2 * CLOCK_SLACK_NS)
		machine->wall_ns = offset;
	if (!*machine->host)
		read_own_host(machine->host);
}

static bool is_dated(const struct when *when)
{
	return when && when->form == WHEN_WALL && when->machine && when->machine->wall_ns;
}

static void put_seconds(FILE *stream, const char *sign, uint64_t ns)
{
	char seconds[32];

	snprintf(seconds, sizeof seconds, "%s%" PRIu64, sign, ns / NS_PER_S);
	fprintf(stream, "%6s.%09" PRIu64, seconds, ns % NS_PER_S);
}

static void put_date(FILE *stream, const struct event_machine *machine, uint64_t ts)
{
	char date[DATE_BYTES];

	date_print(ts + machine->wall_ns, false, date);
	fputs(date, stream);
}

static void put_difference(FILE *stream, uint64_t from, uint64_t to)
{
	put_seconds(stream, to < from ? "-" : "+", to < from ? from - to : to - from);
}

void when_put(FILE *stream, struct when *when, uint64_t ts)
{
	if (is_dated(when)) {
		put_date(stream, when->machine, ts);
		if (*when->machine->host) {
			fputs("  ", stream);
			text_write(stream, when->machine->host, TEXT_VALUE);
		}
	} else if (when && when->form == WHEN_DELTA) {
		put_difference(stream, when->last_ns ? when->last_ns : ts, ts);
	} else {
		put_seconds(stream, "", ts);
	}
	if (when)
		when->last_ns = ts;
}

void when_put_event(FILE *stream, const struct when *when, uint64_t ts)
{
	if (is_dated(when))
		put_date(stream, when->machine, ts);
	else if (when && when->form == WHEN_DELTA)
		put_difference(stream, when->last_ns, ts);
	else
		put_seconds(stream, "", ts);
}

void when_put_json(FILE *stream, const struct when *when, uint64_t ts)
{
	char date[DATE_BYTES];

	if (!when || !when->in_json)
		return;
	fputs(",\"time\":", stream);
	if (when->machine->wall_ns) {
		date_print(ts + when->machine->wall_ns, true, date);
		fprintf(stream, "\"%s\"", date);
	} else {
		fputs("null", stream);
	}
	if (!*when->machine->host)
		return;
	fputs(",\"host\":", stream);
	result_put_string(stream, when->machine->host);
}
