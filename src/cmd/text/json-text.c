// SPDX-License-Identifier: BSD-2-Clause
/* Gives texts from outside to jansson, and writes its JSON to a terminal. */

#include "cmd/text/json-text.h"

#include "base/alloc.h"
#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>

json_t *json_text(const char *text)
{
	struct text_buffer whole = { 0 };
	json_t *value = NULL;
	char *taken;

	if (!text)
		return json_null();
	while (*text) {
		size_t length = text_character(text);

		text_append_bytes(&whole, length ? text : "\xef\xbf\xbd", length ? length : 3);
		text += length ? length : 1;
	}
	if (text_take(&whole, &taken) == 0) {
		value = json_string(taken);
		alloc_free(taken);
	}
	return value;
}

char *json_text_dump(const json_t *value, size_t flags)
{
	char *text = json_dumps(value, flags), *shown = NULL;
	size_t length;
	FILE *stream = text ? open_memstream(&shown, &length) : NULL;

	if (stream)
		text_write(stream, text, TEXT_JSON_WHOLE);
	free(text);
	if (stream && fclose(stream) == 0)
		return shown;
	free(shown);
	return NULL;
}

void json_text_put(json_t *value)
{
	char *text = json_text_dump(value, JSON_COMPACT | JSON_REAL_PRECISION(6));

	puts(text ? text : "null");
	free(text);
	json_decref(value);
}
