// SPDX-License-Identifier: BSD-2-Clause
/* Formats values of measures. */

#include "session/measure/show-priv.h"

#include "base/real.h"
#include "meaning/meaning.h"

#include <inttypes.h>
#include <string.h>

static const struct meaning *field_meaning(const struct event_field *field)
{
	return field ? field->meaning : &meaning_duration;
}

static void put_unit(struct text_buffer *text, const struct event_field *field)
{
	if (field && field->unit && !field->meaning) {
		text_append(text, " ");
		text_append_as(text, field->unit, TEXT_WORDS);
	}
}

void measure_show(struct text_buffer *text, const struct event_field *field, enum monitor_word word,
		  union monitor_value value)
{
	if (word == MONITOR_REAL) {
		measure_show_real(text, field, value.real);
		return;
	}
	meaning_show(text, field_meaning(field),
		     (struct meaning_number){ .word = value.u64, .is_signed = word == MONITOR_SIGNED });
	put_unit(text, field);
}

void measure_show_real(struct text_buffer *text, const struct event_field *field, double real)
{
	if (meaning_show_real(text, field_meaning(field), real))
		return;
	text_printf(text, "%.6g", real);
	put_unit(text, field);
}

void measure_show_key(struct text_buffer *text, const struct event_field *field, const void *key)
{
	union monitor_value value;

	if (field->value == EVENT_STRING) {
		text_append_as(text, key, TEXT_VALUE);
		return;
	}
	memcpy(&value, key, sizeof value);
	if (field->value == EVENT_F64)
		measure_show_real(text, field, value.real);
	else
		meaning_show(text, field->meaning,
			     (struct meaning_number){ value.u64, !event_value_is_unsigned64(field->value) });
}

void measure_write(FILE *stream, enum monitor_word word, union monitor_value value)
{
	if (word == MONITOR_REAL)
		real_put(stream, value.real);
	else if (word == MONITOR_SIGNED)
		fprintf(stream, "%" PRId64, value.i64);
	else
		fprintf(stream, "%" PRIu64, value.u64);
}

void measure_write_key(FILE *stream, const struct event_field *field, const void *key)
{
	union monitor_value value;

	if (field->value == EVENT_STRING) {
		putc('"', stream);
		text_write(stream, key, TEXT_JSON);
		putc('"', stream);
		return;
	}
	memcpy(&value, key, sizeof value);
	measure_write(stream,
		      field->value == EVENT_F64                 ? MONITOR_REAL
		      : event_value_is_unsigned64(field->value) ? MONITOR_UNSIGNED
								: MONITOR_SIGNED,
		      value);
}

enum monitor_word measure_word(const struct measures_item *item)
{
	enum monitor_word word = item->shape.measure.value.word;

	return word == MONITOR_NONE ? MONITOR_UNSIGNED : word;
}

double measure_rate(const struct measure_sum *sum)
{
	double mean_ns = measure_interval_mean_ns(sum);

	return mean_ns > 0 ? 1e9 / mean_ns : 0;
}

void measure_write_name(FILE *stream, const struct measures_item *item)
{
	text_write(stream, item->event, TEXT_JSON);
	if (item->field) {
		putc('.', stream);
		text_write(stream, item->field, TEXT_JSON);
	}
}
