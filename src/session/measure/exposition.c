// SPDX-License-Identifier: BSD-2-Clause
/*
 * Writes measures as metrics. Values stay in the units of their events, those of intervals are ns; what is always a
 * time is in seconds.
 */

#include "session/measure/report.h"

#include "base/alloc.h"
#include "base/log-linear.h"
#include "expose/exposition.h"
#include "session/measure/show-priv.h"

#include <inttypes.h>
#include <math.h>
#include <stddef.h>

/* A row of a measure, read once for each metric. */
struct sample {
	const struct measures_item *item;
	uint32_t row;
	struct measure_sum sum;
};

/* measure="EVENT.FIELD",by="FIELD",key="VALUE" */
static void put_labels(struct text_buffer *text, const struct measures_item *item, const void *key)
{
	struct text_buffer name = { 0 }, shown = { 0 };

	text_printf(&name, "%s%s%s", item->event, item->field ? "." : "", item->field ? item->field : "");
	exposition_label(text, item->kind == &heartbeat_kind ? "heartbeat" : "measure", name.bytes ? name.bytes : "");
	text_fini(&name);
	if (!key || !item->key)
		return;
	text_append(text, ",");
	exposition_label(text, "by", item->by);
	text_append(text, ",");
	if (item->key->value != EVENT_STRING)
		measure_show_key(&shown, item->key, key);
	exposition_label(text, "key", item->key->value == EVENT_STRING ? key : shown.bytes ? shown.bytes : "");
	text_fini(&shown);
}

static double real_of(const struct sample *sample, union monitor_value value)
{
	enum monitor_word word = measure_word(sample->item);

	return word == MONITOR_REAL ? value.real : word == MONITOR_SIGNED ? (double)value.i64 : (double)value.u64;
}

static double events_of(const struct sample *sample)
{
	return (double)sample->sum.count;
}

static double rate_of(const struct sample *sample)
{
	return measure_rate(&sample->sum);
}

static double jitter_of(const struct sample *sample)
{
	return (double)sample->sum.jitter16_ns / 16e9;
}

static double jitter_most_of(const struct sample *sample)
{
	return (double)sample->sum.jitter_most_ns / 1e9;
}

static double interval_least_of(const struct sample *sample)
{
	return (double)sample->sum.interval_least_ns / 1e9;
}

static double interval_most_of(const struct sample *sample)
{
	return (double)sample->sum.interval_most_ns / 1e9;
}

static double least_of(const struct sample *sample)
{
	return real_of(sample, sample->sum.least);
}

static double mean_of(const struct sample *sample)
{
	return measure_mean(sample->item->measure, &sample->sum);
}

static double most_of(const struct sample *sample)
{
	return real_of(sample, sample->sum.most);
}

static const struct metric {
	const char *name, *type, *help;
	double (*value)(const struct sample *sample);
	bool of_fields; /* there is none where intervals are measured */
} metrics[] = {
	{ "asterism_measure_events_total", "counter", "Events.", events_of, false },
	{ "asterism_measure_rate", "gauge", "Events per second since the first event.", rate_of, false },
	{ "asterism_measure_interval_min_seconds", "gauge", "Shortest time between events.", interval_least_of, false },
	{ "asterism_measure_interval_max_seconds", "gauge", "Longest time between events.", interval_most_of, false },
	{ "asterism_measure_jitter_seconds", "gauge", "Interarrival jitter (RFC 3550) of intervals.", jitter_of,
	  false },
	{ "asterism_measure_jitter_max_seconds", "gauge", "Largest difference of consecutive intervals.",
	  jitter_most_of, false },
	{ "asterism_measure_min", "gauge", "Smallest value of the field.", least_of, true },
	{ "asterism_measure_mean", "gauge", "Mean value of the field.", mean_of, true },
	{ "asterism_measure_max", "gauge", "Largest value of the field.", most_of, true },
};

static uint32_t rows_of(const struct measures_item *item)
{
	return item->kind == &measure_kind && item->measure ? monitor_keys_count(measure_keys(item->measure)) : 0;
}

static void put_metric(struct text_buffer *text, const struct measures *measures, const struct metric *metric)
{
	exposition_head(text, metric->name, metric->type, metric->help);
	for (size_t i = 0; i < measures_count(measures); i++) {
		struct sample sample = { .item = measures_get(measures, i) };

		for (; sample.row < rows_of(sample.item); sample.row++) {
			if (metric->of_fields && !sample.item->value)
				continue;
			measure_read(sample.item->measure, sample.row, &sample.sum, NULL);
			text_printf(text, "%s{", metric->name);
			put_labels(text, sample.item, monitor_keys_get(measure_keys(sample.item->measure), sample.row));
			text_printf(text, "} %.15g\n", metric->value(&sample));
		}
	}
}

/* The greatest value of a bucket; of whole numbers in linear ones, where the next begins with the bound. */
static double bound_of(const struct measures_item *item, uint32_t bucket)
{
	const struct measure_shape *shape = &item->shape.measure;
	double bound;

	if (shape->buckets == MEASURE_LOG)
		return (double)log_linear_range(bucket).high;
	bound = measure_linear_low(shape, bucket + 1);
	return measure_word(item) == MONITOR_REAL ? bound : ceil(bound) - 1;
}

/* Up to its bound. */
static void begin_bucket(struct text_buffer *text, const struct measures_item *item, const void *key)
{
	text_append(text, "asterism_measure_values_bucket{");
	put_labels(text, item, key);
	text_append(text, ",le=\"");
}

static void put_exposed_histogram(struct text_buffer *text, const struct measures_item *item, uint32_t row,
				  uint64_t *counts)
{
	const void *key = monitor_keys_get(measure_keys(item->measure), row);
	struct measure_sum sum;
	uint64_t total;

	measure_read(item->measure, row, &sum, counts);
	total = sum.below;
	for (uint32_t i = 0; i < measure_bucket_count(item->measure); i++) {
		total += counts[i];
		if (!counts[i])
			continue;
		begin_bucket(text, item, key);
		text_printf(text, "%.15g\"} %" PRIu64 "\n", bound_of(item, i), total);
	}
	total += sum.above;
	begin_bucket(text, item, key);
	text_printf(text, "+Inf\"} %" PRIu64 "\n", total);
	text_append(text, "asterism_measure_values_sum{");
	put_labels(text, item, key);
	text_printf(text, "} %.15g\n", measure_mean(item->measure, &sum) * (double)sum.values);
	text_append(text, "asterism_measure_values_count{");
	put_labels(text, item, key);
	text_printf(text, "} %" PRIu64 "\n", total);
}

static void put_histograms(struct text_buffer *text, const struct measures *measures)
{
	exposition_head(text, "asterism_measure_values", "histogram",
			"Values of the field; without a field, intervals in ns.");
	for (size_t i = 0; i < measures_count(measures); i++) {
		const struct measures_item *item = measures_get(measures, i);
		uint32_t buckets = rows_of(item) ? measure_bucket_count(item->measure) : 0;
		uint64_t *counts = alloc_zero(buckets + (size_t)1, sizeof *counts);

		for (uint32_t row = 0; counts && buckets && row < rows_of(item); row++)
			put_exposed_histogram(text, item, row, counts);
		alloc_free(counts);
	}
}

static const struct rest {
	const char *name, *type, *help;
	bool of_heartbeats;
	size_t offset; /* in struct heartbeat_counts */
	uint64_t (*count)(const struct measure *measure);
} rests[] = {
	{ "asterism_measure_other_total", "counter", "Events with a key beyond the limit of keys.", false, 0,
	  measure_other },
	{ "asterism_measure_lost_total", "counter", "Lost events of any type.", false, 0, measure_lost },
	{ "asterism_heartbeat_events_total", "counter", "Heartbeats received.", true,
	  offsetof(struct heartbeat_counts, elements), NULL },
	{ "asterism_heartbeat_missed_total", "counter", "Number of times a heartbeat was missing.", true,
	  offsetof(struct heartbeat_counts, missed), NULL },
	{ "asterism_heartbeat_missing", "gauge", "Heartbeats missing now.", true,
	  offsetof(struct heartbeat_counts, missing), NULL },
	{ "asterism_heartbeat_other_total", "counter", "Heartbeats with a key beyond the limit of keys.", true,
	  offsetof(struct heartbeat_counts, other), NULL },
};

static void put_exposed_rest(struct text_buffer *text, const struct measures *measures, const struct rest *rest)
{
	exposition_head(text, rest->name, rest->type, rest->help);
	for (size_t i = 0; i < measures_count(measures); i++) {
		const struct measures_item *item = measures_get(measures, i);
		struct heartbeat_counts counts;
		uint64_t count;

		if (!item->context || (item->kind == &heartbeat_kind) != rest->of_heartbeats)
			continue;
		if (rest->of_heartbeats) {
			heartbeat_count(item->heartbeat, &counts);
			count = *(const uint64_t *)(const void *)((const char *)&counts + rest->offset);
		} else {
			count = rest->count(item->measure);
		}
		text_printf(text, "%s{", rest->name);
		put_labels(text, item, NULL);
		if (item->by) {
			text_append(text, ",");
			exposition_label(text, "by", item->by);
		}
		text_printf(text, "} %" PRIu64 "\n", count);
	}
}

void measure_put_metrics(struct text_buffer *text, const struct measures *measures)
{
	for (size_t i = 0; i < sizeof metrics / sizeof *metrics; i++)
		put_metric(text, measures, &metrics[i]);
	put_histograms(text, measures);
	for (size_t i = 0; i < sizeof rests / sizeof *rests; i++)
		put_exposed_rest(text, measures, &rests[i]);
}
