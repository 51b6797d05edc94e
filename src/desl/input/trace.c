// SPDX-License-Identifier: BSD-2-Clause
/*
 * Reads records from a recording: its events of the type that the input is called like, with their own fields and those
 * of every event (ts, cpu, pid, tid, comm). They are decoded alone, and memory is theirs alone.
 */

#include "desl/input/input-priv.h"

#include "event/catalog.h"
#include "event/source.h"
#include "session/load/rules.h"
#include "trace/ctf/read.h"
#include "trace/open.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { TRACE_NUMBER_BYTES = 32, TRACE_NAMES_MAX = EVENT_FIELDS_MAX + EVENT_HEADER_FIELDS };

struct tracing {
	struct desl_providing *providing;
	struct event_catalog *catalog;
	struct event_source *source;
	const struct event_type *type; /* to which fields are bound; NULL: none came up yet */
	const struct event_field *fields[DESL_FIELDS_MAX];
};

static bool input_wants_type(void *context, const struct event_type *type)
{
	const struct tracing *tracing = context;

	return strcmp(type->name, tracing->providing->type->name.text) == 0;
}

static int bind_trace_field(struct tracing *tracing, const struct event_type *type, unsigned column)
{
	const struct desl_field *field = &tracing->providing->type->fields[column];
	const struct event_field *found = event_field_find(type, field->name.text);
	const char *names[TRACE_NAMES_MAX];
	size_t count = 0;

	tracing->fields[column] = found;
	if (found && field->kind == DESL_NUMBER && found->value == EVENT_STRING)
		return diag_error(tracing->providing->diag, &field->name.location, -EINVAL,
				  "the field '%s' of %s is a text: declare it as String or Line", field->name.text,
				  type->name);
	if (found)
		return 0;
	for (uint32_t i = 0; i < type->field_count; i++)
		names[count++] = type->fields[i].name;
	for (unsigned i = 0; i < EVENT_HEADER_FIELDS; i++)
		names[count++] = event_header_fields[i].name;
	return desl_provide_unknown(tracing->providing, field, names, count);
}

static int bind_trace_fields(struct tracing *tracing, const struct event_type *type)
{
	int result = 0;

	for (unsigned i = 0; i < tracing->providing->type->field_count && !result; i++)
		result = bind_trace_field(tracing, type, i);
	tracing->type = type;
	return result;
}

/* Numbers of the header have 4 bytes, all others 8. */
static double field_as_number(const struct event_field *field, const char *at, char text[TRACE_NUMBER_BYTES])
{
	uint64_t bits = 0;
	double real;

	memcpy(&bits, at, field->bytes < sizeof bits ? field->bytes : sizeof bits);
	if (field->value == EVENT_F64) {
		memcpy(&real, &bits, sizeof real);
		snprintf(text, TRACE_NUMBER_BYTES, "%.17g", real);
		return real;
	}
	if (field->value == EVENT_ADDR || (field->value >= EVENT_U8 && field->value <= EVENT_U64) ||
	    field->value == EVENT_BOOL || field->bytes < sizeof bits) {
		snprintf(text, TRACE_NUMBER_BYTES, field->value == EVENT_ADDR ? "0x%" PRIx64 : "%" PRIu64, bits);
		return (double)bits;
	}
	snprintf(text, TRACE_NUMBER_BYTES, "%" PRId64, (int64_t)bits);
	return (double)(int64_t)bits;
}

static int set_trace_cell(const struct tracing *tracing, unsigned column, const struct event_header *record)
{
	struct desl_type *type = tracing->providing->type;
	const struct event_field *field = tracing->fields[column];
	union desl_cell *cell = &type->table.cells[column][type->table.rows];
	const char *at = (const char *)record + field->offset;
	char text[TRACE_NUMBER_BYTES];
	double number;

	cell->text = 0;
	if (field->value == EVENT_STRING) {
		size_t length = strnlen(at, field->bytes);

		return length ? desl_provide_cell(tracing->providing, column, at, length, cell) : 0;
	}
	number = field_as_number(field, at, text);
	if (type->fields[column].kind != DESL_NUMBER)
		return desl_provide_cell(tracing->providing, column, text, strlen(text), cell);
	cell->number = number;
	return 0;
}

static int add_trace_record(struct tracing *tracing, const struct event *event)
{
	struct desl_table *table = &tracing->providing->type->table;
	int result = event->type == tracing->type ? 0 : bind_trace_fields(tracing, event->type);

	if (!result)
		result = desl_provide_failed(tracing->providing, desl_table_grow(table));
	for (unsigned i = 0; i < tracing->providing->type->field_count && !result; i++)
		result = set_trace_cell(tracing, i, event->record);
	table->rows += !result;
	return result;
}

/* A type that the recording has and that did not happen is no mistake; a name that it does not have is. */
static int judge_absence(struct tracing *tracing)
{
	const struct desl_providing *providing = tracing->providing;
	const struct event_type *type = event_catalog_find(tracing->catalog, providing->type->name.text);
	char hint[512];

	if (type)
		return bind_trace_fields(tracing, type);
	snprintf(hint, sizeof hint, "name the input after its events; asterism stat %s lists them",
		 providing->source->file);
	diag_add(providing->diag, ASTERISM_ERROR, &providing->type->name.location, hint, "%s has no events '%s'",
		 providing->source->file, providing->type->name.text);
	return -EINVAL;
}

static int read_events(struct tracing *tracing)
{
	const struct event_want want = {
		.wants = input_wants_type, .names = input_wants_type, .context = tracing, .drops = true
	};
	struct event event;
	int result;

	event_source_want(tracing->source, &want);
	while ((result = event_source_next(tracing->source, &event)) > 0) {
		result = input_wants_type(tracing, event.type) ? add_trace_record(tracing, &event) : 0;
		if (result)
			return result;
	}
	if (!result && !tracing->type)
		result = judge_absence(tracing);
	if (!result && tracing->source->lost)
		diag_add(tracing->providing->diag, ASTERISM_WARNING, NULL,
			 "the true counts may be higher; see 'asterism help record' on losing fewer events",
			 "%s lacks %" PRIu64 " events, which were lost when it was recorded",
			 tracing->providing->source->file, tracing->source->lost);
	return result;
}

int desl_provide_trace(struct desl_providing *providing)
{
	struct tracing tracing = { .providing = providing };
	const char *path = providing->source->file;
	int result;

	if (trace_ctf_is_own(path)) {
		tracing.catalog = event_catalog_new();
		result = tracing.catalog ? 0 : -ENOMEM;
	} else {
		result = session_catalog_new(providing->diag, &tracing.catalog);
	}
	if (!result)
		result = trace_open(path, tracing.catalog, providing->diag, &tracing.source);
	if (!result)
		result = read_events(&tracing);
	event_source_free(tracing.source);
	event_catalog_free(tracing.catalog);
	return result;
}
