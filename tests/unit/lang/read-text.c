// SPDX-License-Identifier: BSD-2-Clause

#include "read-text.h"

#include "base/alloc.h"
#include "print-ast.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

static const char declarations[] = "EVENT A { x: i64, s: string, r: f64, t: bool, u: u64, z: u8, w: time, p: addr }"
				   "EVENT B { x: i64, s: string } EVENT C { c: i32 }";

void read_inputs(struct reading *reading, const struct lang_input *inputs, size_t count)
{
	*reading = (struct reading){ .catalog = event_catalog_new(), .diag = asterism_diag_new() };
	assert_non_null(reading->catalog);
	assert_non_null(reading->diag);
	reading->result = lang_read(inputs, count, reading->catalog, reading->diag, &reading->program);
	if (reading->result == 0)
		reading->unit = lang_program_unit(reading->program);
	else
		assert_null(reading->program);
}

void read_text(struct reading *reading, const char *text)
{
	/* Exactly the bytes of the text, so that a checker of memory sees whoever reads one more. */
	char *bytes = alloc_zero(strlen(text), 1);
	struct lang_input inputs[] = {
		{ .file = "declarations.rule", .text = declarations, .length = strlen(declarations) },
		{ .file = "t.rule", .text = bytes, .length = strlen(text) },
	};

	assert_non_null(bytes);
	memcpy(bytes, text, strlen(text));
	read_inputs(reading, inputs, 2);
	reading->bytes = bytes;
}

void reading_fini(struct reading *reading)
{
	lang_program_free(reading->program);
	event_catalog_free(reading->catalog);
	asterism_diag_free(reading->diag);
	alloc_free(reading->bytes);
}

char *show_messages(const struct asterism_diag *diag)
{
	static const char *const severities[] = {
		[ASTERISM_NOTE] = "note",
		[ASTERISM_WARNING] = "warning",
		[ASTERISM_ERROR] = "error",
	};
	const struct asterism_message *message;
	struct text_buffer text = { 0 };
	char *shown;

	for (size_t i = 0; (message = asterism_diag_get(diag, i)); i++) {
		if (message->line)
			text_printf(&text, "%u:%u+%u: ", message->line, message->column, message->length);
		text_printf(&text, "%s: %s\n", severities[message->severity], message->text);
		if (message->hint)
			text_printf(&text, "\t%s\n", message->hint);
	}
	text_append(&text, "");
	assert_int_equal(text_take(&text, &shown), 0);
	return shown;
}

char *show_rule(const char *text)
{
	struct text_buffer printed = { 0 };
	struct reading reading;
	char *shown;

	read_text(&reading, text);
	if (reading.result) {
		shown = show_messages(reading.diag);
	} else {
		print_rule(&printed, &reading.unit->rules[0]);
		assert_int_equal(text_take(&printed, &shown), 0);
	}
	reading_fini(&reading);
	return shown;
}

void expect_rule(const char *text, const char *expected)
{
	char *shown = show_rule(text);

	assert_string_equal(shown, expected);
	alloc_free(shown);
}

void expect_messages(const char *text, const char *expected)
{
	struct reading reading;

	read_text(&reading, text);
	char *shown = show_messages(reading.diag);

	assert_string_equal(shown, expected);
	alloc_free(shown);
	reading_fini(&reading);
}
