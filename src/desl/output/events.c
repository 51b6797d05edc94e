// SPDX-License-Identifier: BSD-2-Clause
/*
 * Turns records into events, for rules to look for: a record of a wanted type is an event of that name, its fields
 * those of the event, and of them ts, cpu, pid, tid and comm those of every event. Events come by time; a record
 * without one comes after all that have one, in its order.
 */

#include "desl/output/output.h"

#include "desl/run-priv.h"

#include "base/alloc.h"
#include "base/real.h"
#include "base/text.h"
#include "event/type.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* From here on a Number is not every whole number. */
#define EXACT_MAX 9007199254740992.0

struct raised {
	uint64_t time;
	const struct desl_type *type;
	size_t row;
};

struct raising {
	const struct desl_program *program;
	struct asterism_diag *diag;
	struct raised *items;
	size_t count, capacity, left_out;
};

/* The field of every event that the field of a type is; NULL: it is its own. */
static const struct event_field *header_field(const char *name)
{
	for (unsigned i = 0; i < EVENT_HEADER_FIELDS; i++) {
		if (strcmp(name, event_header_fields[i].name) == 0)
			return &event_header_fields[i];
	}
	return NULL;
}

static int check_event_field(const struct desl_type *type, const struct desl_field *field, struct asterism_diag *diag)
{
	const struct event_field *header = header_field(field->name.text);

	if (field->kind == DESL_LIST)
		diag_add(diag, ASTERISM_ERROR, &field->name.location, "derive a type without it from this one",
			 "the field '%s' of '%s' is a List, which events do not have", field->name.text,
			 type->name.text);
	else if (header && header->value == EVENT_STRING && field->kind == DESL_NUMBER)
		diag_add(diag, ASTERISM_ERROR, &field->name.location, "rename it, or make it a String",
			 "the field '%s' of every event is a text, and this is a Number", field->name.text);
	else
		return 0;
	return -EINVAL;
}

static int check_event_fields(const struct desl_program *program, struct asterism_diag *diag)
{
	int result = 0;

	for (const struct desl_type *type = program->types; type; type = type->next) {
		for (unsigned i = 0; type->is_wanted && i < type->field_count && !result; i++)
			result = check_event_field(type, &type->fields[i], diag);
	}
	return result;
}

int desl_write_catalog(const struct desl_program *program, FILE *stream, struct asterism_diag *diag)
{
	int result = check_event_fields(program, diag);

	for (const struct desl_type *type = program->types; type && !result; type = type->next) {
		const char *before = " ";

		if (!type->is_wanted)
			continue;
		fprintf(stream, "EVENT %s {", type->name.text);
		for (unsigned i = 0; i < type->field_count; i++) {
			if (header_field(type->fields[i].name.text))
				continue;
			fprintf(stream, "%s%s: %s", before, type->fields[i].name.text,
				type->fields[i].kind == DESL_NUMBER ? "f64" : "string");
			before = ", ";
		}
		fputs(" }\n", stream);
	}
	return result ? result : ferror(stream) ? -EIO : 0;
}

/* A number of the header: a whole one up to most. A Line that is one will do. */
static int read_header(const struct raising *raising, const struct desl_field *field, union desl_cell cell,
		       uint64_t most, uint64_t *number)
{
	const struct desl_text *text = field->kind == DESL_NUMBER ? NULL : &raising->program->texts.texts[cell.text];
	char shown[32];

	if (text ? text->is_address && text->address <= most
		 : cell.number >= 0 && cell.number < EXACT_MAX && floor(cell.number) <= (double)most) {
		*number = text ? text->address : (uint64_t)cell.number;
		return 0;
	}
	snprintf(shown, sizeof shown, "%.17g", cell.number);
	diag_add(raising->diag, ASTERISM_ERROR, &field->name.location, "rename the field if it means something else",
		 "the %s of an event must be a whole number up to %" PRIu64 ", not '%s'", field->name.text, most,
		 text ? text->bytes : shown);
	return -EINVAL;
}

/* Whether nothing is absent that an event has to have. */
static bool is_whole_event(const struct desl_type *type, size_t row)
{
	for (unsigned i = 0; i < type->field_count; i++) {
		if (type->fields[i].kind == DESL_NUMBER && !header_field(type->fields[i].name.text) &&
		    desl_is_absent(DESL_NUMBER, type->table.cells[i][row]))
			return false;
	}
	return true;
}

static int raise_row(struct raising *raising, const struct desl_type *type, int ts, size_t row)
{
	struct raised *raised;
	int result = 0;

	if (!is_whole_event(type, row)) {
		raising->left_out++;
		return 0;
	}
	if (alloc_grow(&raising->items, &raising->capacity, raising->count, sizeof *raising->items))
		return -ENOMEM;
	raised = &raising->items[raising->count++];
	*raised = (struct raised){ .time = UINT64_MAX, .type = type, .row = row };
	if (ts >= 0 && !desl_is_absent(type->fields[ts].kind, type->table.cells[ts][row]))
		result = read_header(raising, &type->fields[ts], type->table.cells[ts][row], INT64_MAX, &raised->time);
	return result;
}

/* Of equal times, the order in which they were made. */
static int by_row_time(const void *left, const void *right)
{
	const struct raised *a = left, *b = right;

	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	if (a->type != b->type)
		return a->type->name.location.offset < b->type->name.location.offset ? -1 : 1;
	return a->row < b->row ? -1 : a->row > b->row;
}

static void order_events(struct raising *raising)
{
	uint64_t last = 0;

	if (raising->count)
		qsort(raising->items, raising->count, sizeof *raising->items, by_row_time);
	for (size_t i = 0; i < raising->count; i++) {
		if (raising->items[i].time == UINT64_MAX)
			raising->items[i].time = last + 1;
		last = raising->items[i].time;
	}
}

static int put_field(const struct raising *raising, const struct raised *raised, unsigned column, FILE *stream)
{
	const struct desl_field *field = &raised->type->fields[column];
	const struct event_field *header = header_field(field->name.text);
	union desl_cell cell = raised->type->table.cells[column][raised->row];
	uint64_t number = 0;
	int result = 0;

	if (header == &event_header_fields[0])
		return 0;
	if (header && header->value != EVENT_STRING && !desl_is_absent(field->kind, cell))
		result = read_header(raising, field, cell, UINT32_MAX, &number);
	fprintf(stream, ",\"%s\":", field->name.text);
	if (header && header->value != EVENT_STRING) {
		fprintf(stream, "%" PRIu64, number);
	} else if (field->kind == DESL_NUMBER) {
		real_put(stream, cell.number);
	} else {
		fputc('"', stream);
		text_write(stream, raising->program->texts.texts[cell.text].bytes, TEXT_JSON);
		fputc('"', stream);
	}
	return result;
}

static int put_raised_events(const struct raising *raising, FILE *stream)
{
	int result = 0;

	for (size_t i = 0; i < raising->count && !result; i++) {
		const struct raised *raised = &raising->items[i];

		fprintf(stream, "{\"event\":\"%s\",\"ts\":%" PRIu64, raised->type->name.text, raised->time);
		for (unsigned j = 0; j < raised->type->field_count && !result; j++)
			result = put_field(raising, raised, j, stream);
		fputs("}\n", stream);
	}
	return result ? result : ferror(stream) ? -EIO : 0;
}

int desl_write_events(const struct desl_program *program, FILE *stream, struct asterism_diag *diag)
{
	struct raising raising = { .program = program, .diag = diag };
	int result = check_event_fields(program, diag);

	for (const struct desl_type *type = program->types; type && !result; type = type->next) {
		int ts = desl_find_field(type, event_header_fields[0].name);

		for (size_t row = 0; type->is_wanted && row < type->table.rows && !result; row++)
			result = raise_row(&raising, type, ts, row);
	}
	if (!result) {
		order_events(&raising);
		result = put_raised_events(&raising, stream);
	}
	if (!result && raising.left_out)
		diag_add(diag, ASTERISM_WARNING, NULL, "leave them out in the constraint, so that it is seen there",
			 raising.left_out == 1 ? "%zu record is not an event: one of its values is absent"
					       : "%zu records are not events: one of their values is absent",
			 raising.left_out);
	alloc_free(raising.items);
	return result == -ENOMEM ? diag_no_memory(diag) : result;
}
