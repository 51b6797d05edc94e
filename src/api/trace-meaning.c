// SPDX-License-Identifier: BSD-2-Clause
/*
 * Finds what the numbers of a trace stand for, which our traces do not say: what the catalogs here say of the same
 * field of the same type. They are read when that is asked for the first time.
 */

#include "api/trace-priv.h"

#include "event/catalog.h"
#include "meaning/meaning.h"
#include "session/load/rules.h"

#include <errno.h>
#include <string.h>

/* Names are compared with what catalogs hold alone: tracepoints of this machine are not the trace's. */
static const struct event_type *find_known(struct asterism_trace *trace, const char *name)
{
	const struct event_type *type;

	for (size_t i = 0; (type = event_catalog_get(trace->lender, i)); i++) {
		if (strcmp(type->name, name) == 0)
			return type;
	}
	return NULL;
}

static int read_known(struct asterism_trace *trace, uint32_t number)
{
	if (!trace->lender) {
		int result = session_catalog_new(NULL, &trace->lender);

		if (result)
			return result;
	}
	while (trace->lent_count <= number) {
		if (alloc_grow(&trace->lent, &trace->lent_capacity, trace->lent_count, sizeof *trace->lent))
			return -ENOMEM;
		trace->lent[trace->lent_count++] = (struct trace_lent){ 0 };
	}
	if (!trace->lent[number].is_known) {
		trace->lent[number] = (struct trace_lent){ find_known(trace, trace->event.type->name), true };
	}
	return 0;
}

int trace_meaning(struct asterism_trace *trace, const struct event_field *field, const struct meaning **meaning)
{
	const struct event_field *known = NULL;
	uint32_t number = trace->event.record->type;
	int result;

	*meaning = field->meaning;
	if (field->meaning || field->value == EVENT_STRING || field->value == EVENT_F64)
		return 0;
	result = read_known(trace, number);
	if (result)
		return result;
	if (trace->lent[number].type)
		known = event_field_find(trace->lent[number].type, field->name);
	if (known && known->meaning && known->value == field->value)
		*meaning = known->meaning;
	return 0;
}
