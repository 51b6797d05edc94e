// SPDX-License-Identifier: BSD-2-Clause
/*
 * Reads the fields of a struct of C, and computes where the compiler puts them and how they are read from the
 * application.
 */

#include "event/c-header-priv.h"

#include <string.h>

enum { ARRAY_MAX = 65535, NUMBERS_MAX = 16, CHARS_MAX = 4095, BYTES_MAX = 65535 };

/* Where the struct is: what the call that hands it over is given. */
#define DATA "syscall_arg(4)"

static void leave_field_out(struct c_parser *parser, struct event_span span, const char *why)
{
	event_scan_warn(&parser->scan, span, "'%.*s' is left out: %s",
			(int)(span.length < C_NAME_BYTES_MAX ? span.length : C_NAME_BYTES_MAX), span.start, why);
}

/* Fields are called as in C, but for those that every event has under that name. */
static const char *name_field(struct c_parser *parser, struct event_span span, int index)
{
	const char *own = "";

	for (uint32_t i = 0; i < EVENT_HEADER_FIELDS; i++)
		if (event_span_is(span, event_header_fields[i].name))
			own = "own_";
	if (index < 0)
		return arena_format(parser->scan.arena, "%s%.*s", own, (int)span.length, span.start);
	return arena_format(parser->scan.arena, "%s%.*s_%d", own, (int)span.length, span.start, index);
}

int c_header_fields_add(struct c_parser *parser, struct event_span span, const struct event_field_spec *field,
			const char *path)
{
	if (!field->name || !path)
		return c_no_memory(parser);
	for (uint32_t i = 0; i < parser->field_count; i++)
		if (strcmp(parser->fields[i].name, field->name) == 0)
			return event_scan_error(&parser->scan, span, NULL, "the field '%s' is already declared",
						field->name);
	if (parser->field_count == EVENT_FIELDS_MAX)
		return event_scan_error(&parser->scan, span, NULL, "an event has at most %d fields", EVENT_FIELDS_MAX);
	parser->fields[parser->field_count] = *field;
	parser->paths[parser->field_count++] = path;
	return 0;
}

static int add_number_of_type(struct c_parser *parser, struct event_span span, const struct c_type *type, int index)
{
	bool is_signed = type->value >= EVENT_I8 && type->value <= EVENT_I64;
	uint64_t offset = parser->bytes + (index > 0 ? (uint64_t)index * type->bytes : 0);

	return c_header_fields_add(
		parser, span,
		&(struct event_field_spec){ .name = name_field(parser, span, index), .value = type->value },
		arena_format(parser->scan.arena, "%s(" DATA " + %u, %u)", is_signed ? "user_int" : "user_uint",
			     (unsigned)offset, (unsigned)type->bytes));
}

/* length 0: the text behind the struct. */
static int add_header_string(struct c_parser *parser, struct event_span span, uint64_t length)
{
	const char *path = length ? arena_format(parser->scan.arena, "user_chars(" DATA " + %u, %u)",
						 (unsigned)parser->bytes, (unsigned)length)
				  : arena_format(parser->scan.arena, "ustr(" DATA " + %u)", (unsigned)parser->bytes);

	return c_header_fields_add(
		parser, span,
		&(struct event_field_spec){ .name = name_field(parser, span, -1),
					    .value = EVENT_STRING,
					    .bytes = length ? (uint32_t)length + 1 : EVENT_STRING_BYTES },
		path);
}

static int add_array(struct c_parser *parser, struct event_span span, const struct c_type *type, uint64_t length)
{
	int result = 0;

	if (type->is_char && length <= CHARS_MAX)
		return add_header_string(parser, span, length);
	if (length > NUMBERS_MAX || length == 0)
		leave_field_out(parser, span, length ? "it is a long array" : "its length is unknown");
	for (uint64_t i = 0; length <= NUMBERS_MAX && i < length && !result; i++)
		result = add_number_of_type(parser, span, type, (int)i);
	return result;
}

/* Takes [LENGTH], of which the last one of a struct may be without a length. */
static int take_length(struct c_parser *parser, uint64_t *length)
{
	const struct c_define *define;

	*length = 0;
	if (c_take(parser, "]"))
		return 0;
	define = parser->at->kind == C_NAME ? c_header_tokens_define(&parser->tokens, parser->at->span) : NULL;
	if (parser->at->kind != C_NUMBER && !(define && define->is_number))
		return c_expected(parser, "the length of the array as a number");
	*length = define ? define->number : parser->at->number;
	if (*length == 0 || *length > ARRAY_MAX)
		return event_scan_error(&parser->scan, parser->at->span, NULL, "an array has 1 to %d elements",
					ARRAY_MAX);
	parser->at++;
	return c_take(parser, "]") ? 0 : c_expected(parser, "']'");
}

/* One name with what belongs to it, in what is so far of the struct. */
static int take_declarator(struct c_parser *parser, struct c_type type)
{
	bool is_array, is_pointer = false;
	uint64_t length = 1;
	int result = 0;

	while (c_is(parser->at, "*") || c_is(parser->at, "const") || c_is(parser->at, "volatile")) {
		is_pointer |= c_is(parser->at, "*");
		parser->at++;
	}
	if (is_pointer)
		type = (struct c_type){ EVENT_ADDR, 8, false, false };
	const struct c_token *name = parser->at;

	if (name->kind != C_NAME || !type.value)
		return event_scan_error(&parser->scan, name->span, "fields are numbers, pointers, and arrays of char",
					"this is not a field");
	parser->at++;
	is_array = c_take(parser, "[");
	if (is_array)
		result = take_length(parser, &length);
	if (result)
		return result;
	if (!c_is(parser->at, ",") && !c_is(parser->at, ";"))
		return c_expected(parser, "',' or ';'");
	if (is_array && !length && (!c_is(parser->at, ";") || !c_is(&parser->at[1], "}")))
		return event_scan_error(&parser->scan, name->span, NULL, "only the last array may be without a length");
	parser->bytes = (parser->bytes + type.bytes - 1) / type.bytes * type.bytes;
	if (type.bytes > parser->align)
		parser->align = type.bytes;
	if (type.is_float)
		leave_field_out(parser, name->span, "a float has 4 bytes; use a double");
	else
		result = is_array ? add_array(parser, name->span, &type, length)
				  : add_number_of_type(parser, name->span, &type, -1);
	parser->bytes += type.bytes * length;
	if (!result && parser->bytes > BYTES_MAX)
		result = event_scan_error(&parser->scan, name->span, NULL, "an event has at most %d bytes", BYTES_MAX);
	return result;
}

/* From behind { to behind }. */
int c_header_fields_take(struct c_parser *parser)
{
	parser->bytes = parser->field_count = 0;
	parser->align = 1;
	while (!c_take(parser, "}")) {
		const struct c_token *start = parser->at;
		struct c_type type;
		int result;

		if (c_header_types_take(&parser->types, &parser->at, &type) <= 0)
			return event_scan_error(
				&parser->scan, start->span, "fields are numbers, pointers, and arrays of char",
				"a field cannot have the type '%.*s'",
				(int)(start->span.length < C_NAME_BYTES_MAX ? start->span.length : C_NAME_BYTES_MAX),
				start->span.start);
		do {
			if ((result = take_declarator(parser, type)))
				return result;
		} while (c_take(parser, ","));
		if (!c_take(parser, ";"))
			return c_expected(parser, "';'");
	}
	parser->bytes = (parser->bytes + parser->align - 1) / parser->align * parser->align;
	return 0;
}
