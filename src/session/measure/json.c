// SPDX-License-Identifier: BSD-2-Clause
/* Writes measures and the news of heartbeats as JSON. Times are in ns, values in the units of the events. */

#include "session/measure/report.h"

#include "base/alloc.h"
#include "base/log-linear.h"
#include "base/real.h"
#include "session/measure/show-priv.h"

#include <inttypes.h>

static void put_measure_number(FILE *stream, const char *name, uint64_t number)
{
	fprintf(stream, ",\"%s\":%" PRIu64, name, number);
}

static void put_real_json(FILE *stream, const char *name, double real)
{
	fprintf(stream, ",\"%s\":", name);
	real_put(stream, real);
}

static void put_measure_value(FILE *stream, const char *name, const struct measures_item *item,
			      union monitor_value value)
{
	fprintf(stream, ",\"%s\":", name);
	measure_write(stream, measure_word(item), value);
}

static void put_measure_name(FILE *stream, const char *what, const struct measures_item *item)
{
	fprintf(stream, "{\"%s\":\"", what);
	measure_write_name(stream, item);
	putc('"', stream);
}

static void put_measure_key(FILE *stream, const struct measures_item *item, const void *key)
{
	if (!item->key)
		return;
	fputs(",\"by\":{\"", stream);
	text_write(stream, item->by, TEXT_JSON);
	fputs("\":", stream);
	measure_write_key(stream, item->key, key);
	putc('}', stream);
}

static void put_times(FILE *stream, const struct measure_sum *sum)
{
	put_measure_number(stream, "first_ns", sum->first_ns);
	put_measure_number(stream, "last_ns", sum->last_ns);
	if (sum->count - sum->late < 2)
		return;
	put_real_json(stream, "rate", measure_rate(sum));
	fprintf(stream, ",\"interval_ns\":{\"min\":%" PRIu64 ",\"mean\":", sum->interval_least_ns);
	real_put(stream, measure_interval_mean_ns(sum));
	put_measure_number(stream, "max", sum->interval_most_ns);
	putc('}', stream);
	put_measure_number(stream, "jitter_ns", sum->jitter16_ns >> 4);
	put_measure_number(stream, "jitter_max_ns", sum->jitter_most_ns);
}

static void put_range(FILE *stream, const struct measure_shape *shape, uint32_t bucket)
{
	if (shape->buckets == MEASURE_LINEAR) {
		real_put(stream, measure_linear_low(shape, bucket));
		putc(',', stream);
		real_put(stream, measure_linear_low(shape, bucket + 1));
		return;
	}
	struct log_linear_range range = log_linear_range(bucket);

	fprintf(stream, "%" PRIu64 ",%" PRIu64, range.low, range.high);
}

static void put_histogram_json(FILE *stream, const struct measures_item *item, const struct measure_sum *sum,
			       const uint64_t *counts)
{
	const char *separator = "";

	fprintf(stream, ",\"histogram\":{\"kind\":\"%s\",\"buckets\":[",
		item->shape.measure.buckets == MEASURE_LINEAR ? "linear" : "log");
	for (uint32_t i = 0; i < measure_bucket_count(item->measure); i++) {
		if (!counts[i])
			continue;
		fprintf(stream, "%s[", separator);
		put_range(stream, &item->shape.measure, i);
		fprintf(stream, ",%" PRIu64 "]", counts[i]);
		separator = ",";
	}
	putc(']', stream);
	put_measure_number(stream, "below", sum->below);
	put_measure_number(stream, "above", sum->above);
	putc('}', stream);
}

static void put_measure_row(FILE *stream, const struct measures_item *item, uint32_t row, uint64_t *counts)
{
	struct measure_sum sum;

	measure_read(item->measure, row, &sum, counts);
	put_measure_name(stream, "measure", item);
	put_measure_key(stream, item, monitor_keys_get(measure_keys(item->measure), row));
	put_measure_number(stream, "count", sum.count);
	put_measure_number(stream, "late", sum.late);
	if (sum.count)
		put_times(stream, &sum);
	if (item->value && sum.values) {
		put_measure_value(stream, "min", item, sum.least);
		put_real_json(stream, "mean", measure_mean(item->measure, &sum));
		put_measure_value(stream, "max", item, sum.most);
	}
	if (item->value && item->value->unit) {
		fputs(",\"unit\":\"", stream);
		text_write(stream, item->value->unit, TEXT_JSON);
		putc('"', stream);
	}
	if (measure_bucket_count(item->measure))
		put_histogram_json(stream, item, &sum, counts);
	fputs("}\n", stream);
}

static void put_measure_json(FILE *stream, const struct measures_item *item)
{
	uint32_t rows = item->measure ? monitor_keys_count(measure_keys(item->measure)) : 0;
	uint64_t *counts = rows ? alloc_zero(measure_bucket_count(item->measure) + (size_t)1, sizeof *counts) : NULL;

	for (uint32_t i = 0; counts && i < rows; i++)
		put_measure_row(stream, item, i, counts);
	alloc_free(counts);
	put_measure_name(stream, "measured", item);
	put_measure_number(stream, "keys", rows);
	put_measure_number(stream, "other", item->measure ? measure_other(item->measure) : 0);
	put_measure_number(stream, "lost", item->measure ? measure_lost(item->measure) : 0);
	fprintf(stream, ",\"complete\":%s}\n", rows && !counts ? "false" : "true");
}

static void put_heartbeat_json(FILE *stream, const struct measures_item *item)
{
	struct heartbeat_counts counts = { 0 };

	if (item->heartbeat)
		heartbeat_count(item->heartbeat, &counts);
	put_measure_name(stream, "heartbeat", item);
	put_measure_number(stream, "limit_ns", item->shape.heartbeat.limit_ns);
	put_measure_number(stream, "count", counts.elements);
	put_measure_number(stream, "missed", counts.missed);
	put_measure_number(stream, "missing", counts.missing);
	put_measure_number(stream, "other", counts.other);
	put_measure_number(stream, "untold", counts.untold);
	put_measure_number(stream, "lost", counts.lost);
	fputs("}\n", stream);
}

void measure_put_json(FILE *stream, const struct measures *measures)
{
	for (size_t i = 0; i < measures_count(measures); i++) {
		const struct measures_item *item = measures_get(measures, i);

		if (item->kind == &heartbeat_kind)
			put_heartbeat_json(stream, item);
		else
			put_measure_json(stream, item);
	}
}
