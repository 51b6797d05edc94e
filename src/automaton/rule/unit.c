// SPDX-License-Identifier: BSD-2-Clause
/* Numbers the event types of an image. */

#include "automaton/rule/rule-priv.h"

#include "meaning/meaning.h"

#include <errno.h>

enum program_kind unit_kind(enum event_value value)
{
	switch (value) {
	case EVENT_F64:
		return PROGRAM_F64;
	case EVENT_BOOL:
		return PROGRAM_BOOL;
	case EVENT_STRING:
		return PROGRAM_STRING;
	default:
		return event_value_is_unsigned64(value) ? PROGRAM_U64 : PROGRAM_I64;
	}
}

uint32_t unit_meaning(struct unit_build *unit, const struct meaning *meaning)
{
	return meaning ? program_build_text(unit->out, meaning->text) + 1 : 0;
}

static void add_fields(struct unit_build *unit, const struct event_field *fields, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		struct program_field row = {
			.name = program_build_text(unit->out, fields[i].name),
			.value = fields[i].value,
			.offset = fields[i].offset,
			.bytes = fields[i].bytes,
			.meaning = unit_meaning(unit, fields[i].meaning),
		};

		program_build_add(unit->out, PROGRAM_FIELDS, &row, 1);
	}
}

uint32_t unit_type(struct unit_build *unit, const struct event_type *type)
{
	struct program_type row;

	for (size_t i = 0; i < unit->type_count; i++) {
		if (unit->types[i].type == type)
			return (uint32_t)i;
	}
	if (program_build_count(unit->out, PROGRAM_FIELDS) == 0)
		add_fields(unit, event_header_fields, EVENT_HEADER_FIELDS);
	if (alloc_grow(&unit->types, &unit->type_capacity, unit->type_count, sizeof *unit->types)) {
		diag_no_memory(unit->diag);
		return 0;
	}
	row = (struct program_type){
		.name = program_build_text(unit->out, type->name),
		.first_field = program_build_count(unit->out, PROGRAM_FIELDS),
		.field_count = type->field_count,
		.record_bytes = type->record_bytes,
		.sensor = type->sensor ? 1 + program_build_text(unit->out, type->sensor) : 0,
	};
	unit->types[unit->type_count] = (struct type_row){ .type = type, .first_field = row.first_field };
	add_fields(unit, type->fields, type->field_count);
	program_build_add(unit->out, PROGRAM_TYPES, &row, 1);
	return (uint32_t)unit->type_count++;
}

uint32_t unit_field(struct unit_build *unit, const struct event_type *type, const struct event_field *field)
{
	uint32_t index = unit_type(unit, type);

	if (event_field_is_header(field))
		return (uint32_t)(field - event_header_fields);
	return index < unit->type_count ? unit->types[index].first_field + (uint32_t)(field - type->fields) : 0;
}
