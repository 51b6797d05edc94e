// SPDX-License-Identifier: BSD-2-Clause
/* Writes what a monitor promises, and what it has not kept. */

#include "cmd/monitor/report.h"

#include "cli/print.h"

#include <inttypes.h>
#include <string.h>

enum { ROWS = 24, BAR = 40 };

#define TIME(ns) admission_time((char[ADMISSION_TIME_BYTES]){ 0 }, ns)

static void put_sensor(const struct admission_sensor *sensor)
{
	if (!sensor->is_declared) {
		cli_note("%s: no declared rate, so its events are evaluated as they come", sensor->name);
		return;
	}
	cli_note("%s: one per %s, bursts of %" PRIu64 "; R = %" PRIu64 " per period, l(R) = %s, C = %s, %" PRIu64
		 " may wait",
		 sensor->name, TIME(sensor->stream.period), jcs_burst(&sensor->stream), sensor->elements,
		 TIME(sensor->latency_ns), TIME(sensor->cost_ns), sensor->waiting);
}

static const char *reservation_of(const struct monitor_promise *promise)
{
	switch (promise->policy) {
	case SCHEDULE_DEADLINE:
		return "the kernel has admitted and enforces it (SCHED_DEADLINE)";
	case SCHEDULE_FIFO:
		return "before all ordinary threads (SCHED_FIFO)";
	default:
		return "not reserved";
	}
}

void report_promise(const struct monitor_report *report)
{
	const struct monitor_promise *promise = &report->promise;
	const struct admission_sensor *sensors;
	size_t count;

	if (report->is_quiet && promise->is_guaranteed)
		return;
	if (promise->is_guaranteed)
		cli_note("response <= l(R) %s + delta %s + h %s + omega %s = %s, for every element within its declared "
			 "rate",
			 TIME(promise->latency_ns), TIME(promise->visible_ns), TIME(promise->hold_ns),
			 TIME(promise->system_ns), TIME(promise->bound_ns));
	else
		cli_warning("no guarantee: %s", promise->no_guarantee);
	if (!promise->is_guaranteed && promise->bound_ns && !report->is_quiet)
		cli_note("responses are compared with l(R) %s + delta %s + h %s + omega %s = %s",
			 TIME(promise->latency_ns), TIME(promise->visible_ns), TIME(promise->hold_ns),
			 TIME(promise->system_ns), TIME(promise->bound_ns));
	if (report->is_quiet)
		return;
	if (promise->bound_ns)
		cli_note("%s in every %s, d = %s: %s; omega was measured with %" PRIu64 " wake-ups, not proven",
			 TIME(promise->runtime_ns), TIME(promise->period_ns), TIME(promise->deadline_ns),
			 reservation_of(promise), promise->woken);
	sensors = monitor_sensors(report->monitor, &count);
	for (size_t i = 0; i < count; i++)
		if (sensors[i].name && promise->bound_ns)
			put_sensor(&sensors[i]);
}

void report_status(const struct monitor_report *report)
{
	const struct watch *watch = monitor_watch(report->monitor);
	uint64_t elements = atomic_load(&watch->elements);

	cli_note("%" PRIu64 " events evaluated, %" PRIu64 " lost, response at most %s, on average %s%s%s; %" PRIu64
		 " late",
		 elements, atomic_load(&watch->lost), TIME(atomic_load(&watch->most_ns)),
		 TIME(elements ? atomic_load(&watch->sum_ns) / elements : 0),
		 report->promise.bound_ns ? ", bound " : "",
		 report->promise.bound_ns ? TIME(report->promise.bound_ns) : "", atomic_load(&watch->violations));
}

static void put_producers(const struct monitor_report *report)
{
	const struct watch *watch = monitor_watch(report->monitor);
	const struct admission_sensor *sensors;
	size_t count;

	sensors = monitor_sensors(report->monitor, &count);
	for (size_t i = 0; i < count; i++) {
		const struct watch_sensor *watched = &watch->options.sensors[i];
		uint64_t excess = atomic_load(&watched->excess), worst = atomic_load(&watched->worst_ns);

		if (excess)
			cli_warning("%s exceeded its declared rate: %" PRIu64 " of %" PRIu64
				    " events came earlier than one per %s with bursts of %" PRIu64,
				    sensors[i].name, excess, atomic_load(&watched->elements),
				    TIME(sensors[i].stream.period), jcs_burst(&sensors[i].stream));
		/* A first one, whose memory is not near the CPU, takes longer than those after it. */
		if (watch->causes[WATCH_OVER_COST] && watched->cost_ns && worst > watched->cost_ns)
			cli_note(
				"an evaluation of %s took up to %s, more than C = %s: it cost more, or was interrupted",
				sensors[i].name, TIME(worst), TIME(watched->cost_ns));
	}
}

static void put_violations(const struct monitor_report *report)
{
	const struct watch *watch = monitor_watch(report->monitor);
	const struct admission_sensor *sensors;
	struct stolen stolen;
	size_t count;

	sensors = monitor_sensors(report->monitor, &count);
	if (!watch->violations)
		return;
	cli_warning("%" PRIu64 " of %" PRIu64 " events were evaluated later than %s", atomic_load(&watch->violations),
		    atomic_load(&watch->elements), TIME(report->promise.bound_ns));
	monitor_stolen(report->monitor, &stolen);
	cli_note("around these the monitor had to wait %s for a CPU, and the host gave %s of this machine's CPU time "
		 "to others",
		 TIME(stolen.wait_ns), TIME(stolen.steal_ns));
	for (int i = 0; i < WATCH_CAUSES; i++)
		if (watch->causes[i])
			cli_note("%" PRIu64 ": %s", atomic_load(&watch->causes[i]), watch_cause_texts[i]);
	for (uint32_t i = 0; i < watch->worst_count; i++) {
		const struct watch_violation *worst = &watch->worst[i];

		cli_note("%s of process %" PRIu32 " at %" PRIu64 ".%09" PRIu64 " s: %s, %s%s%s",
			 sensors[worst->sensor].name, worst->pid, worst->at_ns / 1000000000, worst->at_ns % 1000000000,
			 TIME(worst->response_ns), watch_cause_texts[worst->cause], worst->share_ns ? ", " : "",
			 worst->share_ns ? TIME(worst->share_ns) : "");
	}
}

static void put_odd(const struct monitor_report *report, const struct monitor_session_outcome *outcome)
{
	uint64_t unevaluated, most, overruns;
	bool is_demoted;

	overruns = monitor_overruns(report->monitor, &is_demoted);
	monitor_count_copies(report->monitor, &unevaluated, &most);
	if (outcome->is_cut)
		cli_warning("some events were not evaluated before the monitor ended");
	if (outcome->beside.rules)
		cli_note("%" PRIu32 " rule%s over events of the kernel, outside the guarantee: %" PRIu64
			 " of these, %" PRIu64 " lost",
			 outcome->beside.rules, outcome->beside.rules == 1 ? "" : "s", outcome->beside.events,
			 outcome->beside.lost);
	if (outcome->unqueued)
		cli_warning("%" PRIu64 " matches were not written: they came faster than the output accepts them",
			    outcome->unqueued);
	if (outcome->counts.held)
		cli_note("%" PRIu64
			 " time%s a writer was suspended between begin and commit, and was not waited for any longer",
			 outcome->counts.held, outcome->counts.held == 1 ? "" : "s");
	if (overruns && !is_demoted)
		cli_warning("evaluations used up the reserved time %" PRIu64 " time%s and were suspended", overruns,
			    overruns == 1 ? "" : "s");
	if (is_demoted)
		cli_warning("the monitor ran too long without a pause and lost its real-time scheduling: the guarantee "
			    "ended there");
	if (unevaluated)
		cli_warning("%" PRIu64
			    " events were copied in time but dropped: no room was left to hold them for evaluation",
			    unevaluated);
	if (most)
		cli_note("events were evaluated up to %s late; only their copies were guaranteed", TIME(most));
}

static void put_proof(const struct monitor_report *report)
{
	const struct watch *watch = monitor_watch(report->monitor);

	if (!report->is_proof || !report->promise.bound_ns)
		return;
	if (watch->violations || watch->lost)
		cli_warning("not proven: see above");
	else if (!report->promise.is_guaranteed)
		cli_note("no event was late, but nothing was guaranteed");
	else if (!watch->elements)
		cli_warning("not proven: there was no event");
	else
		cli_note("no event was late: the bound held for this load and this time; on a virtual machine that "
			 "proves nothing about the next minute");
}

void report_end(const struct monitor_report *report, const struct monitor_session_outcome *outcome)
{
	put_producers(report);
	put_violations(report);
	put_odd(report, outcome);
	if (!report->is_quiet)
		report_status(report);
	put_proof(report);
}

/* As cyclictest's: one row for some buckets, the bound where it lies. */
void report_histogram(const struct monitor_report *report, FILE *stream)
{
	const struct watch *watch = monitor_watch(report->monitor);
	uint64_t bound = report->promise.bound_ns, most = watch->most_ns > bound ? watch->most_ns : bound;
	uint64_t width = watch->options.bucket_ns, greatest = 0, rows[ROWS] = { 0 };
	uint64_t per_row = most / width / (ROWS - 1) + 1;
	bool is_marked = false;

	for (uint64_t i = 0; i < WATCH_BUCKETS; i++) {
		uint64_t row = i / per_row < ROWS ? i / per_row : ROWS - 1;

		rows[row] += watch->histogram[i];
		greatest = rows[row] > greatest ? rows[row] : greatest;
	}
	fprintf(stream, "# response up to, events\n");
	for (uint64_t row = 0; row < ROWS; row++) {
		uint64_t end = (row + 1) * per_row * width;
		int length = rows[row] ? 1 + (int)((double)rows[row] / (double)greatest * (BAR - 1)) : 0;

		if (bound && !is_marked && end > bound) {
			fprintf(stream, "%10s ----- bound; l(R) = %s\n", TIME(bound), TIME(report->promise.latency_ns));
			is_marked = true;
		}
		if (!rows[row] && end > most)
			continue;
		fprintf(stream, "%10s %10" PRIu64 " %.*s\n", row == ROWS - 1 && rows[row] ? "more" : TIME(end),
			rows[row], length, "########################################");
	}
	fprintf(stream, "# least %s, average %s, most %s, 99.9%% within %s\n",
		TIME(watch->elements ? watch->least_ns : 0),
		TIME(watch->elements ? watch->sum_ns / watch->elements : 0), TIME(watch->most_ns),
		TIME(watch_quantile(watch, 0.999)));
}
