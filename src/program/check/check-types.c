// SPDX-License-Identifier: BSD-2-Clause
/* Checks that event types describe records as event/type.h lays them out, so that fields are where events have them. */

#include "program/check/check-priv.h"
#include "program/query.h"

#include "event/type.h"

#include <string.h>

static struct check_item field_item(uint32_t index)
{
	return (struct check_item){ PROGRAM_FIELDS, index };
}

static int check_header_fields(struct check *check)
{
	const struct program *program = check->program;

	for (uint32_t i = 0; i < EVENT_HEADER_FIELDS; i++) {
		const struct program_field *field = &program->fields[i];
		const struct event_field *wanted = &event_header_fields[i];

		if (i >= program->field_count)
			return check_fail(check, field_item(i), "the header fields are missing");
		int result = check_name(check, field_item(i), field->name);
		if (result)
			return result;
		if (strcmp(program_text(program, field->name), wanted->name) != 0 || field->value != wanted->value ||
		    field->offset != wanted->offset || field->bytes != wanted->bytes)
			return check_fail(check, field_item(i), "it must be the header field %s", wanted->name);
		result = check_meaning(check, field_item(i), field->meaning, check_kind_of(field->value));
		if (result)
			return result;
		check->claims[PROGRAM_FIELDS][i] = READS_HEADER;
	}
	return 0;
}

/* A body field that begins at offset. */
static int check_type_field(struct check *check, uint32_t index, uint32_t offset)
{
	const struct program_field *field = &check->program->fields[index];
	int result = check_name(check, field_item(index), field->name);

	if (result)
		return result;
	if (field->value < EVENT_U8 || field->value > EVENT_STRING)
		return check_fail(check, field_item(index), "its value type %u is unknown", field->value);
	if (field->offset != offset)
		return check_fail(check, field_item(index), "its offset in the record is %u, not %u", field->offset,
				  offset);
	if (field->value == EVENT_STRING) {
		if (!field->bytes || field->bytes % 8 || field->bytes > EVENT_RECORD_BYTES_MAX)
			return check_fail(check, field_item(index), "a text of %u bytes does not fit into a record",
					  field->bytes);
	} else if (field->bytes != 8) {
		return check_fail(check, field_item(index), "it takes %u bytes instead of 8", field->bytes);
	}
	return check_meaning(check, field_item(index), field->meaning, check_kind_of(field->value));
}

static int check_field_names(struct check *check, const struct program_type *type)
{
	const struct program *program = check->program;

	for (uint32_t i = 0; i < type->field_count; i++) {
		const char *name = program_text(program, program_fields(program, type)[i].name);

		for (uint32_t j = 0; j < i; j++) {
			if (!strcmp(name, program_text(program, program_fields(program, type)[j].name)))
				return check_fail(check, field_item(type->first_field + i),
						  "the type has another field called %s", name);
		}
	}
	return 0;
}

static int check_image_type(struct check *check, uint32_t index)
{
	const struct program_type *type = &check->program->types[index];
	struct check_item item = { PROGRAM_TYPES, index };
	struct check_range range = { PROGRAM_FIELDS, type->first_field, type->field_count };
	uint32_t offset = sizeof(struct event_header);
	int result = check_name(check, item, type->name);

	if (!result && type->sensor)
		result = check_label(check, item, type->sensor - 1); /* names of programs may hold anything */
	if (!result && type->field_count > EVENT_FIELDS_MAX)
		result = check_fail(check, item, "it has %u fields, more than an event may have", type->field_count);
	if (!result)
		result = check_claim(check, item, range);
	if (!result)
		result = check_work(check, item, 2 * type->field_count * type->field_count);
	for (uint32_t i = 0; i < type->field_count && !result; i++) {
		result = check_type_field(check, type->first_field + i, offset);
		offset += program_fields(check->program, type)[i].bytes;
	}
	if (!result)
		result = check_field_names(check, type);
	if (!result && (type->record_bytes != offset || offset > EVENT_RECORD_BYTES_MAX))
		result = check_fail(check, item, "its records have %u bytes, but its fields need %u",
				    type->record_bytes, offset);
	return result;
}

int check_types(struct check *check)
{
	int result = check_header_fields(check);

	if (!result && check->program->type_count > PROGRAM_TYPES_MAX)
		result = check_fail(check, (struct check_item){ PROGRAM_TYPES, PROGRAM_TYPES_MAX }, "too many types");
	for (uint32_t i = 0; i < check->program->type_count && !result; i++)
		result = check_image_type(check, i);
	for (uint32_t i = 0; i < check->program->field_count && !result; i++) {
		if (check->claims[PROGRAM_FIELDS][i] == PROGRAM_NONE)
			result = check_fail(check, field_item(i), "it belongs to no type");
	}
	return result ? result : check_unique(check, PROGRAM_TYPES);
}
