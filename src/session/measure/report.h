/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SESSION_MEASURE_REPORT_H
#define SESSION_MEASURE_REPORT_H

/*
 * What measures and heartbeats have come to, for people and for programs. All of it may be asked for by one thread
 * while another one measures.
 */

#include "base/text.h"
#include "session/measure/measures.h"

#include <stdio.h>

/* A table for each measure and each heartbeat. */
void measure_put_text(FILE *stream, const struct measures *measures);

/* A JSON object on a line for each key of each measure, and for each heartbeat. */
void measure_put_json(FILE *stream, const struct measures *measures);

/* The text format of Prometheus. */
void measure_put_metrics(struct text_buffer *text, const struct measures *measures);

/*
 * What heartbeats have to tell since this was last asked, a line each. wall_ns: as in event_machine; 0: times are
 * those of the events. Returns how many.
 */
size_t measure_put_news(FILE *stream, const struct measures *measures, uint64_t wall_ns, bool as_json);

#endif
