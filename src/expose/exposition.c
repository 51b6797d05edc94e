// SPDX-License-Identifier: BSD-2-Clause
/* Writes metrics. */

#include "expose/exposition.h"

/* A label's value. The format knows three escapes; the others of TEXT_WORDS stand there as texts. */
void exposition_label(struct text_buffer *text, const char *name, const char *value)
{
	struct text_piece piece;

	text_printf(text, "%s=\"", name);
	for (; *value && !text->failure; value += piece.taken) {
		text_escape(value, TEXT_WORDS, &piece);
		for (size_t i = 0; i < piece.length; i++) {
			if (*value != '\n' && (piece.bytes[i] == '\\' || piece.bytes[i] == '"'))
				text_append(text, "\\");
			text_append_bytes(text, &piece.bytes[i], 1);
		}
	}
	text_append(text, "\"");
}

void exposition_head(struct text_buffer *text, const char *name, const char *type, const char *help)
{
	text_printf(text, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

void exposition_number(struct text_buffer *text, const char *name, const char *type, const char *help, double value)
{
	exposition_head(text, name, type, help);
	text_printf(text, "%s %.15g\n", name, value);
}
