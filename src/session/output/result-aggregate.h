/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SESSION_OUTPUT_RESULT_AGGREGATE_H
#define SESSION_OUTPUT_RESULT_AGGREGATE_H

/* Aggregates, written: as JSON, a line for each key, or as a table for people. Errors show in ferror(stream) alone. */

#include "program/aggregate/aggregate.h"

#include <stdio.h>

void result_write_aggregate_json(FILE *stream, const struct aggregate_report *report);

/* The keys below each other, then the histograms of each. */
void result_write_aggregate_text(FILE *stream, const struct aggregate_report *report);

#endif
