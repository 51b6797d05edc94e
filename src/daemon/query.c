// SPDX-License-Identifier: BSD-2-Clause
/* Answers what clients ask about the daemon and its units. */

#include "base/alloc.h"
#include "base/clock.h"
#include "daemon/daemon.h"
#include "sensor/directory.h"

#include <inttypes.h>
#include <string.h>

/* Between two looks numbers may have grown by digits. */
enum { WHY_SPARE_BYTES = 4096 };

static const char *place_name(enum asterism_place place)
{
	switch (place) {
	case ASTERISM_PLACE_KERNEL:
		return "kernel";
	case ASTERISM_PLACE_USER:
		return "user";
	default:
		return "nowhere";
	}
}

/* What has become of its runs, where that is counted. */
static void report_why(const struct unit *unit, size_t index, struct text_buffer *reply)
{
	int length = asterism_rules_why(unit->rules, index, NULL, 0);
	size_t size = length > 0 ? (size_t)length + WHY_SPARE_BYTES : 0;
	char *text = size ? alloc_zero(size, 1) : NULL;

	if (text) {
		length = asterism_rules_why(unit->rules, index, text, size);
		if (length > 0 && (size_t)length < size)
			text_printf(reply, ",\"why\":%s", text);
	}
	alloc_free(text);
}

static void report_rule(const struct unit *unit, size_t index, bool tells_why, struct text_buffer *reply)
{
	struct asterism_rule_info info = { .size = sizeof info };

	if (asterism_rules_info(unit->rules, index, &info))
		return;
	text_append(reply, index ? ",{\"rule\":" : "{\"rule\":");
	text_json(reply, info.name);
	text_printf(reply, ",\"place\":\"%s\",\"reason\":", place_name(info.place));
	text_json(reply, info.reason);
	text_printf(reply,
		    ",\"matches\":%" PRIu64 ",\"handed\":%" PRIu64 ",\"refused\":%" PRIu64
		    ",\"below_severity\":%" PRIu64 ",\"runs_opened\":%" PRIu64 ",\"runs_live_max\":%" PRIu64
		    ",\"pool_exhausted\":%" PRIu64 ",\"replaced\":%" PRIu64 ",\"lost\":%" PRIu64 ",\"unread\":%" PRIu64
		    ",\"calls_32bit\":%" PRIu64 ",\"io_uring\":%" PRIu64 ",\"excepted\":%" PRIu64,
		    info.matches, unit->counts[index].handed, unit->counts[index].refused,
		    unit->counts[index].below_severity, info.runs_opened, info.runs_live_max, info.pool_exhausted,
		    info.replaced, info.lost, info.unread, info.calls_32bit, info.io_uring, info.excepted);
	if (tells_why)
		report_why(unit, index, reply);
	text_append(reply, "}");
}

static void report_tallies(const struct unit *unit, struct text_buffer *reply)
{
	struct asterism_tally tally = { .size = sizeof tally };
	int count = asterism_rules_tallies(unit->rules);

	text_append(reply, "],\"tallies\":[");
	for (int i = 0; i < count; i++) {
		if (asterism_rules_tally(unit->rules, (size_t)i, &tally))
			continue;
		text_append(reply, i ? ",{\"name\":" : "{\"name\":");
		text_json(reply, tally.name);
		text_printf(reply, ",\"kind\":\"%s\",\"count\":%" PRIu64, tally.is_histogram ? "histogram" : "counter",
			    tally.count);
		if (tally.is_histogram) {
			text_append(reply, ",\"buckets\":[");
			for (int k = 0; k < 64; k++)
				text_printf(reply, k ? ",%" PRIu64 : "%" PRIu64, tally.buckets[k]);
			text_append(reply, "]");
		}
		text_append(reply, "}");
	}
}

/* What is wrong with a file quotes from it, and the file may be for root's eyes only. */
static void report_error(const struct unit *unit, uid_t user, struct text_buffer *reply)
{
	text_append(reply, ",\"error\":");
	if (!unit->error[0])
		text_append(reply, "null");
	else
		text_json(reply, unit->is_file && user ? "only root may see the error; it is in the log of asterismd"
						       : unit->error);
}

static void report_unit(const struct unit *unit, uid_t user, bool tells_why, struct text_buffer *reply)
{
	struct asterism_rules_stats stats = { .size = sizeof stats };

	text_append(reply, "{\"unit\":");
	text_json(reply, unit->name);
	text_printf(reply, ",\"state\":\"%s\",\"from\":\"%s\",\"owner\":%u",
		    !unit->rules           ? "wrong"
		    : unit_is_active(unit) ? "active"
					   : "loaded",
		    unit->is_file ? "directory" : "client", (unsigned)unit->owner);
	report_error(unit, user, reply);
	if (unit->rules && asterism_rules_stats(unit->rules, &stats) == 0)
		text_printf(reply,
			    ",\"events\":%" PRIu64 ",\"lost\":%" PRIu64 ",\"programs\":%" PRIu64
			    ",\"kernel_ns\":%" PRIu64,
			    stats.events, stats.lost, stats.programs, stats.kernel_ns);
	text_append(reply, ",\"rules\":[");
	for (size_t i = 0; unit->rules && i < asterism_rules_count(unit->rules); i++)
		report_rule(unit, i, tells_why, reply);
	if (unit->rules)
		report_tallies(unit, reply);
	text_append(reply, "]}");
}

static void report_sensors(const struct sensor_directory *sensors, struct text_buffer *reply)
{
	struct sensor_directory_stats stats;

	sensor_directory_stats(sensors, &stats);
	text_printf(reply,
		    ",\"sensors\":{\"processes\":%" PRIu64 ",\"observers\":%" PRIu64 ",\"registered\":%" PRIu64
		    ",\"refused\":%" PRIu64 ",\"malformed\":%" PRIu64 ",\"slow\":%" PRIu64 ",\"lacking\":%" PRIu64
		    ",\"lack\":",
		    stats.processes, stats.observers, stats.registered, stats.refused, stats.malformed, stats.slow,
		    stats.lacking);
	if (stats.lack)
		text_json(reply, strerror(-stats.lack));
	else
		text_append(reply, "null");
	text_printf(reply, ",\"bytes\":%" PRIu64 "}", stats.bytes);
}

void daemon_report_units(struct daemon *daemon, const struct unit *only, struct client *client)
{
	struct text_buffer *reply = &client->reply;
	bool is_first = true;

	text_append(reply, "{\"ok\":true,\"units\":[");
	for (const struct unit *unit = daemon->units.first; unit; unit = unit->next) {
		if (only && unit != only)
			continue;
		if (!is_first)
			text_append(reply, ",");
		is_first = false;
		report_unit(unit, client->user, only != NULL, reply);
	}
	text_printf(reply,
		    "],\"daemon\":{\"uptime_ns\":%" PRIu64 ",\"rss_bytes\":%" PRIu64 ",\"kernel_bytes\":%" PRIu64
		    ",\"cpu_ns\":%" PRIu64 ",\"clients\":%zu,\"lines_written\":%" PRIu64 ",\"lines_dropped\":%" PRIu64
		    ",\"results_dropped\":%" PRIu64,
		    clock_now_ns() - daemon->started_ns, budget_resident_bytes(), budget_kernel_bytes(),
		    budget_cpu_ns(), daemon->clients.count, daemon->output.lines_written, daemon->output.lines_dropped,
		    daemon->clients.dropped);
	if (daemon->sensors)
		report_sensors(daemon->sensors, reply);
	text_append(reply, "}}\n");
}
