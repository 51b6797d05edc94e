/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef EXPOSE_EXPOSITION_H
#define EXPOSE_EXPOSITION_H

/* Pieces of Prometheus' text format, 0.0.4. */

#include "base/text.h"

/* name="value". */
void exposition_label(struct text_buffer *text, const char *name, const char *value);

/* What stands before the samples of a metric; type: counter, gauge, histogram. */
void exposition_head(struct text_buffer *text, const char *name, const char *type, const char *help);

/* A metric of one sample, with its head. */
void exposition_number(struct text_buffer *text, const char *name, const char *type, const char *help, double value);

#endif
