/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TRACE_JSONL_DECLARE_H
#define TRACE_JSONL_DECLARE_H

/* Streams of JSON lines that say what their events are. */

#include "base/text.h"
#include "event/catalog.h"

struct json_members;

/* The line that says what events of a type are. */
void trace_jsonl_put_declaration(struct text_buffer *text, const struct event_type *type);

/*
 * Takes such a line, of which declare is the first member. Returns 0; -EINVAL: it makes no sense; -EEXIST: the catalog
 * has a type of that name with other fields; -E2BIG, -ENOMEM.
 */
int jsonl_declare(struct event_catalog *catalog, const struct json_members *members);

#endif
