/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SESSION_MEASURE_SHOW_PRIV_H
#define SESSION_MEASURE_SHOW_PRIV_H

/* Single values of measures. */

#include "base/text.h"
#include "session/measure/measures.h"

/* What a value is one of: a field, or where it is NULL an interval, in ns. As people read it. */
void measure_show(struct text_buffer *text, const struct event_field *field, enum monitor_word word,
		  union monitor_value value);
/* The same of a mean, or of the bound of a bucket. */
void measure_show_real(struct text_buffer *text, const struct event_field *field, double real);

/* A key. */
void measure_show_key(struct text_buffer *text, const struct event_field *field, const void *key);

/* The same for programs: numbers, quoted texts. */
void measure_write(FILE *stream, enum monitor_word word, union monitor_value value);
void measure_write_key(FILE *stream, const struct event_field *field, const void *key);

/* Of what the measure's values are: MONITOR_UNSIGNED for intervals. */
enum monitor_word measure_word(const struct measures_item *item);

/* Events per second, from the first to the last; 0: unknown. */
double measure_rate(const struct measure_sum *sum);

/* How the measure is called: "event.field". */
void measure_write_name(FILE *stream, const struct measures_item *item);

#endif
