// SPDX-License-Identifier: BSD-2-Clause
/* Reads values of files, and reports those that are not as the program declares them. */

#include "desl/input/input-priv.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBER_BYTES = 64 };

int desl_provide_wrong(const struct desl_providing *providing, const char *at, const char *hint, const char *format,
		       ...)
{
	const struct diag_source *source = providing->source;
	const char *line = at;
	struct diag_location location = {
		.source = source,
		.offset = (uint64_t)(at - source->text),
		.line = providing->line,
		.length = 1,
	};
	char text[512];
	va_list args;

	while (line > source->text && line[-1] != '\n')
		line--;
	location.column = (uint32_t)(at - line) + 1;
	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	diag_add(providing->diag, ASTERISM_ERROR, &location, hint, "%s", text);
	return -EINVAL;
}

int desl_provide_unknown(const struct desl_providing *providing, const struct desl_field *field,
			 const char *const *names, size_t count)
{
	const char *nearest = diag_nearest(field->name.text, names, count);
	char hint[512];
	size_t length;

	if (nearest) {
		snprintf(hint, sizeof hint, "did you mean '%s'?", nearest);
	} else {
		length = (size_t)snprintf(hint, sizeof hint, "it has");
		for (size_t i = 0; i < count && length < sizeof hint - 1; i++)
			length +=
				(size_t)snprintf(hint + length, sizeof hint - length, "%s %s", i ? "," : "", names[i]);
	}
	diag_add(providing->diag, ASTERISM_ERROR, &field->name.location, hint, "%s has no field '%s'",
		 providing->source->file, field->name.text);
	return -EINVAL;
}

int desl_provide_failed(const struct desl_providing *providing, int result)
{
	if (result == -E2BIG)
		return diag_error(providing->diag, NULL, -EINVAL, "%s has more than %u records",
				  providing->source->file, DESL_ROWS_MAX);
	return result;
}

/* Digits alone are most numbers. */
static bool read_digits(const char *bytes, size_t length, double *number)
{
	uint64_t value = 0;

	for (size_t i = 0; i < length; i++) {
		if (length > 15 || bytes[i] < '0' || bytes[i] > '9')
			return false;
		value = value * 10 + (uint64_t)(bytes[i] - '0');
	}
	*number = (double)value;
	return length > 0;
}

int desl_provide_cell(struct desl_providing *providing, unsigned column, const char *bytes, size_t length,
		      union desl_cell *cell)
{
	enum desl_kind kind = providing->type->fields[column].kind;
	char copy[NUMBER_BYTES], *end;
	uint32_t number = 0;
	int result = 0;

	if (kind != DESL_NUMBER) {
		if (length)
			result = desl_text_add(&providing->program->texts, bytes, length, kind == DESL_LINE, &number);
		cell->text = number;
		return result == -E2BIG ? -ENOMEM : result;
	}
	cell->number = NAN;
	if (!length || read_digits(bytes, length, &cell->number))
		return 0;
	if (length >= sizeof copy)
		return -EINVAL;
	memcpy(copy, bytes, length);
	copy[length] = 0;
	cell->number = strtod(copy, &end);
	return *end || !isfinite(cell->number) ? -EINVAL : 0;
}
