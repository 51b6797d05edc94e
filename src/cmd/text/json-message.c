// SPDX-License-Identifier: BSD-2-Clause
/* Writes messages as JSON. */

#include "cmd/text/json-message.h"

#include "cmd/text/json-text.h"

#include <stdbool.h>

static json_t *integer_or_null(bool is_known, uint32_t value)
{
	return is_known ? json_integer(value) : json_null();
}

void json_message_put(const struct asterism_message *message)
{
	static const char *const severities[] = {
		[ASTERISM_NOTE] = "note",
		[ASTERISM_WARNING] = "warning",
		[ASTERISM_ERROR] = "error",
	};
	bool has_place = message->file && message->line;

	json_text_put(json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:o}", "severity", severities[message->severity],
				"file", json_text(message->file), "line", integer_or_null(has_place, message->line),
				"column", integer_or_null(has_place, message->column), "end",
				integer_or_null(has_place, message->column + message->length), "message",
				json_text(message->text), "help", json_text(message->hint)));
}
