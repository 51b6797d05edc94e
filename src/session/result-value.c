// SPDX-License-Identifier: BSD-2-Clause
/* Decides how single values look. */

#include "session/result-priv.h"

#include "base/real.h"
#include "base/text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char *escape_of(unsigned char c)
{
	switch (c) {
	case '"':
		return "\\\"";
	case '\\':
		return "\\\\";
	case '\n':
		return "\\n";
	case '\t':
		return "\\t";
	case '\r':
		return "\\r";
	case '\b':
		return "\\b";
	case '\f':
		return "\\f";
	default:
		return NULL;
	}
}

void result_put_string(FILE *stream, const char *text)
{
	putc('"', stream);
	while (*text) {
		unsigned char first = (unsigned char)*text;
		const char *escape = escape_of(first);
		size_t length = text_character(text);

		if (escape)
			fputs(escape, stream);
		else if (first < 0x20 || first == 0x7f)
			fprintf(stream, "\\u%04x", first);
		else if (length)
			fwrite(text, 1, length, stream);
		else
			fputs("\xef\xbf\xbd", stream);
		text += length ? length : 1;
	}
	putc('"', stream);
}

void result_put_value(FILE *stream, const struct program_value *value)
{
	switch (value->kind) {
	case PROGRAM_I64:
		fprintf(stream, "%" PRId64, value->i64);
		break;
	case PROGRAM_U64:
		fprintf(stream, "%" PRIu64, value->u64);
		break;
	case PROGRAM_F64:
		real_put(stream, value->f64);
		break;
	case PROGRAM_BOOL:
		fputs(value->boolean ? "true" : "false", stream);
		break;
	case PROGRAM_STRING:
		result_put_string(stream, value->text);
		break;
	}
}

void result_read_field(const struct program_field *field, const void *record, struct program_value *value)
{
	const char *at = (const char *)record + field->offset;
	uint32_t half;

	switch ((enum event_value)field->value) {
	case EVENT_STRING:
		value->kind = PROGRAM_STRING;
		value->text = at;
		return;
	case EVENT_U64:
	case EVENT_ADDR:
		value->kind = PROGRAM_U64;
		break;
	case EVENT_F64:
		value->kind = PROGRAM_F64;
		break;
	case EVENT_BOOL:
		value->kind = PROGRAM_BOOL;
		break;
	default:
		value->kind = PROGRAM_I64;
		break;
	}
	if (field->bytes == sizeof half) {
		memcpy(&half, at, sizeof half);
		value->u64 = half;
		return;
	}
	memcpy(&value->u64, at, sizeof value->u64);
	if (value->kind == PROGRAM_BOOL)
		value->boolean = value->u64 != 0;
}

void result_put_node(FILE *stream, const struct program *program, const struct program_match *match, uint32_t node)
{
	const struct program_operand operand = {
		.program = program,
		.rule = &program->rules[match->rule],
		.slots = match->slots,
	};
	struct program_value value;

	if (program_eval(&operand, node, &value))
		fputs("null", stream);
	else
		result_put_value(stream, &value);
}

int result_put_plain(FILE *stream, const char *text)
{
	int width = 0;

	while (*text) {
		unsigned char first = (unsigned char)*text;
		size_t length = text_character(text);

		if (length == 0 || first < 0x20 || first == 0x7f) {
			width += fprintf(stream, "\\%03o", first);
		} else {
			fwrite(text, 1, length, stream);
			width++;
		}
		text += length ? length : 1;
	}
	return width;
}
