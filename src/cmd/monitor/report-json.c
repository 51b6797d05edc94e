// SPDX-License-Identifier: BSD-2-Clause
/* Writes the lines of a monitor as JSON. Times are ns. */

#include "cmd/monitor/report.h"

#include "cmd/text/json-text.h"

#include <stdlib.h>

static json_int_t json_count(uint64_t value)
{
	return value > INT64_MAX ? (json_int_t)INT64_MAX : (json_int_t)value;
}

static void put_json_value(json_t *value, FILE *stream)
{
	char *text = json_text_dump(value, JSON_COMPACT);

	if (text)
		fprintf(stream, "%s\n", text);
	free(text);
	json_decref(value);
}

static void set_json_count(json_t *object, const char *name, uint64_t value)
{
	json_object_set_new(object, name, json_integer(json_count(value)));
}

static json_t *sensor_of(const struct admission_sensor *sensor)
{
	json_t *object = json_object();

	json_object_set_new(object, "sensor", json_text(sensor->name));
	json_object_set_new(object, "declared", json_boolean(sensor->is_declared));
	if (!sensor->is_declared)
		return object;
	set_json_count(object, "period_ns", sensor->stream.period);
	set_json_count(object, "burst", jcs_burst(&sensor->stream));
	set_json_count(object, "elements_per_period", sensor->elements);
	set_json_count(object, "latency_ns", sensor->latency_ns);
	set_json_count(object, "cost_ns", sensor->cost_ns);
	set_json_count(object, "waiting", sensor->waiting);
	return object;
}

static json_t *sensors_of(const struct monitor *monitor)
{
	const struct admission_sensor *sensors;
	json_t *array = json_array();
	size_t count;

	sensors = monitor_sensors(monitor, &count);
	for (size_t i = 0; i < count; i++)
		if (sensors[i].name)
			json_array_append_new(array, sensor_of(&sensors[i]));
	return array;
}

void report_promise_json(const struct monitor_report *report, FILE *stream)
{
	const struct monitor_promise *promise = &report->promise;
	json_t *line = json_object(), *object = json_object();

	json_object_set_new(object, "guaranteed", json_boolean(promise->is_guaranteed));
	json_object_set_new(object, "why_not", json_text(promise->no_guarantee));
	json_object_set_new(object, "policy", json_string(schedule_names[promise->policy]));
	set_json_count(object, "period_ns", promise->period_ns);
	set_json_count(object, "deadline_ns", promise->deadline_ns);
	set_json_count(object, "runtime_ns", promise->runtime_ns);
	set_json_count(object, "latency_ns", promise->latency_ns);
	set_json_count(object, "delta_ns", promise->visible_ns);
	set_json_count(object, "h_ns", promise->hold_ns);
	set_json_count(object, "omega_ns", promise->system_ns);
	set_json_count(object, "bound_ns", promise->bound_ns);
	if (promise->copies_bytes)
		set_json_count(object, "copies_bytes", promise->copies_bytes);
	json_object_set_new(object, "sensors", sensors_of(report->monitor));
	json_object_set_new(line, "promise", object);
	put_json_value(line, stream);
}

static json_t *causes_of(const struct watch *watch)
{
	json_t *object = json_object();

	for (int i = 0; i < WATCH_CAUSES; i++)
		set_json_count(object, watch_cause_names[i], atomic_load(&watch->causes[i]));
	return object;
}

static json_t *worst_of(const struct monitor_report *report)
{
	const struct watch *watch = monitor_watch(report->monitor);
	const struct admission_sensor *sensors;
	json_t *array = json_array();
	size_t count;

	sensors = monitor_sensors(report->monitor, &count);
	for (uint32_t i = 0; i < watch->worst_count; i++) {
		const struct watch_violation *worst = &watch->worst[i];
		json_t *object = json_object();

		json_object_set_new(object, "sensor", json_text(sensors[worst->sensor].name));
		set_json_count(object, "pid", worst->pid);
		set_json_count(object, "at_ns", worst->at_ns);
		set_json_count(object, "response_ns", worst->response_ns);
		json_object_set_new(object, "cause", json_string(watch_cause_names[worst->cause]));
		json_array_append_new(array, object);
	}
	return array;
}

static json_t *producers_of(const struct monitor_report *report)
{
	const struct watch *watch = monitor_watch(report->monitor);
	const struct admission_sensor *sensors;
	json_t *object = json_object();
	size_t count;

	sensors = monitor_sensors(report->monitor, &count);
	for (size_t i = 0; i < count; i++) {
		const struct watch_sensor *watched = &watch->options.sensors[i];
		json_t *sensor;

		if (!sensors[i].name)
			continue;
		sensor = json_object();
		set_json_count(sensor, "elements", atomic_load(&watched->elements));
		set_json_count(sensor, "over_rate", atomic_load(&watched->excess));
		set_json_count(sensor, "most_cost_ns", atomic_load(&watched->worst_ns));
		json_object_set_new(object, sensors[i].name, sensor);
	}
	return object;
}

/* What is beside the promise. */
static json_t *beside_of(const struct beside_counts *counts)
{
	json_t *object = json_object();

	set_json_count(object, "rules", counts->rules);
	set_json_count(object, "events", counts->events);
	set_json_count(object, "lost", counts->lost);
	return object;
}

/* Pairs of the upper end of a bucket and the elements in it, those without any left out. */
static json_t *histogram_of(const struct watch *watch)
{
	json_t *array = json_array();

	for (uint32_t i = 0; i < WATCH_BUCKETS; i++) {
		json_t *pair;

		if (!watch->histogram[i])
			continue;
		pair = json_array();
		json_array_append_new(pair, json_integer(json_count((i + 1) * watch->options.bucket_ns)));
		json_array_append_new(pair, json_integer(json_count(atomic_load(&watch->histogram[i]))));
		json_array_append_new(array, pair);
	}
	return array;
}

void report_end_json(const struct monitor_report *report, const struct monitor_session_outcome *outcome, FILE *stream)
{
	const struct watch *watch = monitor_watch(report->monitor);
	json_t *line = json_object(), *object = json_object();
	uint64_t unevaluated, copies_most;
	struct stolen stolen;
	bool is_demoted;

	monitor_stolen(report->monitor, &stolen);
	monitor_count_copies(report->monitor, &unevaluated, &copies_most);
	set_json_count(object, "elements", atomic_load(&watch->elements));
	set_json_count(object, "lost", atomic_load(&watch->lost));
	set_json_count(object, "response_max_ns", atomic_load(&watch->most_ns));
	set_json_count(object, "response_mean_ns", watch->elements ? watch->sum_ns / watch->elements : 0);
	set_json_count(object, "bound_ns", report->promise.bound_ns);
	set_json_count(object, "violations", atomic_load(&watch->violations));
	json_object_set_new(object, "causes", causes_of(watch));
	json_object_set_new(object, "worst", worst_of(report));
	json_object_set_new(object, "sensors", producers_of(report));
	set_json_count(object, "stolen_ns", stolen.steal_ns);
	set_json_count(object, "waited_ns", stolen.wait_ns);
	set_json_count(object, "turns", atomic_load(&watch->turns));
	set_json_count(object, "latest_wake_ns", atomic_load(&watch->latest_ns));
	set_json_count(object, "unread_processes", outcome->counts.unread);
	set_json_count(object, "held", outcome->counts.held);
	set_json_count(object, "overruns", monitor_overruns(report->monitor, &is_demoted));
	set_json_count(object, "unevaluated_copies", unevaluated);
	set_json_count(object, "unqueued_matches", outcome->unqueued);
	json_object_set_new(object, "beside", beside_of(&outcome->beside));
	json_object_set_new(object, "histogram", histogram_of(watch));
	json_object_set_new(line, "monitor", object);
	put_json_value(line, stream);
}
