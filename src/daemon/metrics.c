// SPDX-License-Identifier: BSD-2-Clause
/* The table of metrics. docs/daemon.md says what they mean. */

#include "daemon/metrics.h"

#include "base/clock.h"
#include "daemon/log.h"
#include "expose/exposition.h"
#include "sensor/directory.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

static const struct rule_metric {
	const char *name, *type, *help;
	size_t offset; /* in struct asterism_rule_info */
} rule_metrics[] = {
	{ "asterism_matches_total", "counter", "Matches found.", offsetof(struct asterism_rule_info, matches) },
	{ "asterism_runs_opened_total", "counter", "Runs (partial matches) started.",
	  offsetof(struct asterism_rule_info, runs_opened) },
	{ "asterism_runs_live_max", "gauge", "Highest number of runs open at the same time.",
	  offsetof(struct asterism_rule_info, runs_live_max) },
	{ "asterism_pool_exhausted_total", "counter", "Runs refused because the pool of the rule was full.",
	  offsetof(struct asterism_rule_info, pool_exhausted) },
	{ "asterism_replaced_total", "counter", "Runs replaced by newer ones because the pool was full.",
	  offsetof(struct asterism_rule_info, replaced) },
	{ "asterism_lost_total", "counter", "Events and runs lost for the rule.",
	  offsetof(struct asterism_rule_info, lost) },
	{ "asterism_unread_total", "counter",
	  "Events that the rule did not see completely: a string could not be read, or was truncated.",
	  offsetof(struct asterism_rule_info, unread) },
	{ "asterism_calls_32bit_total", "counter",
	  "32-bit system calls, which raise no events, while the rule looked for system calls.",
	  offsetof(struct asterism_rule_info, calls_32bit) },
	{ "asterism_io_uring_total", "counter",
	  "io_uring operations, which raise no events, that replace system calls the rule looks for.",
	  offsetof(struct asterism_rule_info, io_uring) },
	{ "asterism_excepted_total", "counter", "Matches suppressed by an exception of the rule.",
	  offsetof(struct asterism_rule_info, excepted) },
	{ "asterism_divisions_by_zero_total", "counter", "Conditions that were false because they divided by zero.",
	  offsetof(struct asterism_rule_info, divisions_by_zero) },
};

static void put_rule_labels(struct text_buffer *text, const struct unit *unit, const char *rule)
{
	text_append(text, "{");
	exposition_label(text, "unit", unit->name);
	text_append(text, ",");
	exposition_label(text, "rule", rule);
	text_append(text, "} ");
}

static void put_rule_metric(struct daemon *daemon, const struct rule_metric *metric, struct text_buffer *text)
{
	exposition_head(text, metric->name, metric->type, metric->help);
	for (const struct unit *unit = daemon->units.first; unit; unit = unit->next) {
		for (size_t i = 0; unit->rules && i < asterism_rules_count(unit->rules); i++) {
			struct asterism_rule_info info = { .size = sizeof info };
			uint64_t value;

			if (asterism_rules_info(unit->rules, i, &info))
				continue;
			memcpy(&value, (const char *)&info + metric->offset, sizeof value);
			text_append(text, metric->name);
			put_rule_labels(text, unit, info.name);
			text_printf(text, "%" PRIu64 "\n", value);
		}
	}
}

static const struct own_metric {
	const char *name, *help;
	size_t offset; /* in struct unit_rule */
} own_metrics[] = {
	{ "asterism_matches_refused_total",
	  "Matches counted but not written: above --rate of their rule, or above --cpu-max.",
	  offsetof(struct unit_rule, refused) },
	{ "asterism_matches_below_severity_total",
	  "Matches counted but not written: the rule's severity is below --min-severity.",
	  offsetof(struct unit_rule, below_severity) },
};

static void put_own_metric(const struct daemon *daemon, struct text_buffer *text, const struct own_metric *metric)
{
	exposition_head(text, metric->name, "counter", metric->help);
	for (const struct unit *unit = daemon->units.first; unit; unit = unit->next) {
		for (size_t i = 0; unit->rules && i < asterism_rules_count(unit->rules); i++) {
			struct asterism_rule_info info = { .size = sizeof info };
			uint64_t value;

			if (asterism_rules_info(unit->rules, i, &info))
				continue;
			memcpy(&value, (const char *)&unit->counts[i] + metric->offset, sizeof value);
			text_append(text, metric->name);
			put_rule_labels(text, unit, info.name);
			text_printf(text, "%" PRIu64 "\n", value);
		}
	}
}

static const struct unit_metric {
	const char *name, *type, *help;
	double scale;
	size_t offset; /* in struct asterism_rules_stats */
} unit_metrics[] = {
	{ "asterism_unit_events_total", "counter", "Events in scope seen by the unit's programs.", 1,
	  offsetof(struct asterism_rules_stats, events) },
	{ "asterism_unit_programs", "gauge", "BPF programs loaded in the kernel.", 1,
	  offsetof(struct asterism_rules_stats, programs) },
	{ "asterism_unit_kernel_seconds_total", "counter",
	  "Time spent in the unit's BPF programs, all rules together; 0 without --measure.", 1e-9,
	  offsetof(struct asterism_rules_stats, kernel_ns) },
	{ "asterism_unit_kernel_runs_total", "counter", "Executions of the unit's BPF programs; 0 without --measure.",
	  1, offsetof(struct asterism_rules_stats, kernel_runs) },
	{ "asterism_unit_asks_lost_total", "counter",
	  "Verdict requests that got the default answer because no client took them.", 1,
	  offsetof(struct asterism_rules_stats, requests_lost) },
};

static void put_unit_metric(struct daemon *daemon, const struct unit_metric *metric, struct text_buffer *text)
{
	exposition_head(text, metric->name, metric->type, metric->help);
	for (const struct unit *unit = daemon->units.first; unit; unit = unit->next) {
		struct asterism_rules_stats stats = { .size = sizeof stats };
		uint64_t value;

		if (!unit->rules || asterism_rules_stats(unit->rules, &stats))
			continue;
		memcpy(&value, (const char *)&stats + metric->offset, sizeof value);
		text_printf(text, "%s{", metric->name);
		exposition_label(text, "unit", unit->name);
		text_printf(text, "} %.15g\n", (double)value * metric->scale);
	}
}

static void put_active(struct daemon *daemon, struct text_buffer *text)
{
	exposition_head(text, "asterism_unit_active", "gauge", "1 if the unit is active, else 0.");
	for (const struct unit *unit = daemon->units.first; unit; unit = unit->next) {
		text_append(text, "asterism_unit_active{");
		exposition_label(text, "unit", unit->name);
		text_printf(text, "} %d\n", unit_is_active(unit));
	}
}

static void put_bucket(struct text_buffer *text, const struct unit *unit, const struct asterism_tally *tally,
		       const char *bound, uint64_t value)
{
	text_append(text, "asterism_values_bucket{");
	exposition_label(text, "unit", unit->name);
	text_append(text, ",");
	exposition_label(text, "name", tally->name);
	text_printf(text, ",le=\"%s\"} %" PRIu64 "\n", bound, value);
}

/* Up to the last bucket that holds something. The sum of the values is not known, so there is none. */
static void put_metric_histogram(struct text_buffer *text, const struct unit *unit, const struct asterism_tally *tally)
{
	uint64_t sum = 0;
	char bound[32];

	for (int k = 0; k < 63 && sum < tally->count; k++) {
		sum += tally->buckets[k];
		snprintf(bound, sizeof bound, "%" PRIu64, (UINT64_C(1) << k) - 1);
		put_bucket(text, unit, tally, bound, sum);
	}
	put_bucket(text, unit, tally, "+Inf", tally->count);
	text_append(text, "asterism_values_count{");
	exposition_label(text, "unit", unit->name);
	text_append(text, ",");
	exposition_label(text, "name", tally->name);
	text_printf(text, "} %" PRIu64 "\n", tally->count);
}

static void put_tallies(struct daemon *daemon, struct text_buffer *text, bool histograms)
{
	for (const struct unit *unit = daemon->units.first; unit; unit = unit->next) {
		int count = unit->rules ? asterism_rules_tallies(unit->rules) : 0;

		for (int i = 0; i < count; i++) {
			struct asterism_tally tally = { .size = sizeof tally };

			if (asterism_rules_tally(unit->rules, (size_t)i, &tally) || !tally.is_histogram == histograms)
				continue;
			if (histograms) {
				put_metric_histogram(text, unit, &tally);
				continue;
			}
			text_append(text, "asterism_count_total{");
			exposition_label(text, "unit", unit->name);
			text_append(text, ",");
			exposition_label(text, "name", tally.name);
			text_printf(text, "} %" PRIu64 "\n", tally.count);
		}
	}
}

static void put_recordings(const struct daemon *daemon, struct text_buffer *text)
{
	const struct recordings *recordings = &daemon->recordings;
	uint64_t events = recordings->events, lost = recordings->lost, bytes;
	size_t traces;

	for (size_t i = 0; i < RECORDINGS_MAX; i++) {
		struct asterism_recording_stats stats = { .size = sizeof stats };

		if (!recordings->items[i].engine || asterism_recording_stats(recordings->items[i].engine, &stats))
			continue;
		events += stats.events;
		lost += recordings_lost(&stats);
	}
	recordings_usage(recordings, &bytes, &traces);
	exposition_number(text, "asterism_recordings", "gauge", "Recordings currently running.",
			  (double)recordings_count(recordings, false, 0));
	exposition_number(text, "asterism_recordings_begun_total", "counter", "Recordings started.",
			  (double)recordings->begun);
	exposition_number(text, "asterism_recorded_events_total", "counter",
			  "Events recorded, including those of flight recordings that may never be written.",
			  (double)events);
	exposition_number(text, "asterism_recorded_lost_total", "counter", "Events lost by recordings.", (double)lost);
	exposition_number(text, "asterism_recordings_bytes", "gauge",
			  "Bytes of all traces in the directory of --recordings.", (double)bytes);
}

static void put_sensor_metrics(const struct sensor_directory *sensors, struct text_buffer *text)
{
	struct sensor_directory_stats stats;

	sensor_directory_stats(sensors, &stats);
	exposition_number(text, "asterism_sensor_processes", "gauge", "Applications with sensors currently registered.",
			  (double)stats.processes);
	exposition_number(text, "asterism_sensor_registered_total", "counter",
			  "Applications with sensors registered so far.", (double)stats.registered);
	exposition_number(text, "asterism_sensor_refused_total", "counter",
			  "Applications refused because of their user's quota.", (double)stats.refused);
	exposition_number(text, "asterism_sensor_lacking_total", "counter",
			  "Sensor registry clients disconnected for lack of descriptors or memory.",
			  (double)stats.lacking);
	exposition_number(text, "asterism_sensor_malformed_total", "counter",
			  "Sensor registry clients disconnected because they sent invalid messages.",
			  (double)stats.malformed);
	exposition_number(text, "asterism_sensor_slow_total", "counter",
			  "Sensor registry clients disconnected because they did not read their messages.",
			  (double)stats.slow);
}

static void put_daemon(struct daemon *daemon, struct text_buffer *text)
{
	exposition_number(text, "asterism_units", "gauge", "Units of rules.", (double)daemon->units.count);
	exposition_number(text, "asterism_clients", "gauge", "Clients of the control socket.",
			  (double)daemon->clients.count);
	exposition_number(text, "asterism_clients_refused_total", "counter",
			  "Clients refused because too many were connected.", (double)daemon->clients.refused);
	exposition_number(text, "asterism_results_dropped_total", "counter",
			  "Results dropped because clients did not fetch them in time.",
			  (double)daemon->clients.dropped);
	exposition_number(text, "asterism_output_lines_total", "counter", "Lines written to the output.",
			  (double)daemon->output.lines_written);
	exposition_number(text, "asterism_output_dropped_total", "counter",
			  "Lines lost because the output did not accept them.", (double)daemon->output.lines_dropped);
	exposition_number(text, "asterism_loads_total", "counter", "Units loaded by clients so far.",
			  (double)daemon->loads);
	exposition_number(text, "asterism_reloads_total", "counter", "Reloads of the rules directory.",
			  (double)daemon->reloads);
	exposition_number(text, "asterism_resident_bytes", "gauge", "Resident memory of the daemon.",
			  (double)budget_resident_bytes());
	exposition_number(text, "asterism_kernel_bytes", "gauge", "Kernel memory of BPF maps and programs.",
			  (double)budget_kernel_bytes());
	exposition_number(text, "asterism_cpu_seconds_total", "counter",
			  "CPU time of the daemon, without its BPF programs.", (double)budget_cpu_ns() * 1e-9);
	exposition_number(text, "asterism_uptime_seconds", "gauge", "Time since the daemon started.",
			  (double)(clock_now_ns() - daemon->started_ns) * 1e-9);
}

static void metrics_write(void *context, struct text_buffer *text)
{
	struct daemon *daemon = context;

	for (size_t i = 0; i < sizeof rule_metrics / sizeof *rule_metrics; i++)
		put_rule_metric(daemon, &rule_metrics[i], text);
	for (size_t i = 0; i < sizeof own_metrics / sizeof *own_metrics; i++)
		put_own_metric(daemon, text, &own_metrics[i]);
	put_active(daemon, text);
	for (size_t i = 0; i < sizeof unit_metrics / sizeof *unit_metrics; i++)
		put_unit_metric(daemon, &unit_metrics[i], text);
	exposition_head(text, "asterism_count_total", "counter", "Counters of rules (CALL Count).");
	put_tallies(daemon, text, false);
	exposition_head(text, "asterism_values", "histogram", "Histograms of rules (CALL Histogram).");
	put_tallies(daemon, text, true);
	put_recordings(daemon, text);
	if (daemon->sensors)
		put_sensor_metrics(daemon->sensors, text);
	put_daemon(daemon, text);
}

int metrics_open(struct daemon *daemon, const char *address, struct expose_server **made)
{
	const struct expose_options options = { address, metrics_write, daemon };
	struct asterism_diag *diag = asterism_diag_new();
	int result = diag ? expose_server_open(&options, diag, made) : -ENOMEM;
	const struct asterism_message *message = diag ? asterism_diag_get(diag, 0) : NULL;

	if (result)
		log_line(LOG_LEVEL_ERROR, "%s", message ? message->text : "out of memory");
	asterism_diag_free(diag);
	return result;
}
