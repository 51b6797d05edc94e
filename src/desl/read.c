// SPDX-License-Identifier: BSD-2-Clause
/* Reads a program step by step, and checks it as a whole. */

#include "desl/check-priv.h"

#include "base/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool check_input(struct desl_reading *reading)
{
	const struct desl_type *type = reading->type;

	if (!type->file.text) {
		lang_error(reading->report, &type->name.location, "add: File f = \"path\";",
			   "the input '%s' has no file", type->name.text);
		return false;
	}
	for (unsigned i = 0; i < type->field_count; i++) {
		if (type->fields[i].kind != DESL_LIST)
			continue;
		lang_error(reading->report, &type->fields[i].name.location,
			   "fields of files are Number, String or Line", "files cannot have a List");
		return false;
	}
	if (type->field_count)
		return true;
	lang_error(reading->report, &type->name.location, "add: Line name;", "the input '%s' has no field",
		   type->name.text);
	return false;
}

static void check_outputs(struct desl_reading *reading)
{
	for (struct desl_expr *name = reading->program->outputs; name; name = name->next) {
		struct desl_type *type = desl_find_type(reading->program, name->name.text);
		const char *names[256], *nearest;
		size_t count = 0;

		if (type) {
			type->is_wanted = true;
			continue;
		}
		for (type = reading->program->types; type && count < 256; type = type->next)
			names[count++] = type->name.text;
		nearest = diag_nearest(name->name.text, names, count);
		lang_error(reading->report, &name->location,
			   nearest ? lang_hint(reading->report, "did you mean '%s'?", nearest) : NULL,
			   "unknown event type '%s'", name->name.text);
	}
	for (struct desl_type *type = reading->program->types; type; type = type->next) {
		if (type->advices && !type->is_wanted && !reading->report->error_count)
			lang_warn(reading->report, &type->advices->text.location,
				  lang_hint(reading->report, "add '%s' to the output", type->name.text),
				  "'%s' is not in the output: its advice is not shown", type->name.text);
	}
	if (!reading->program->outputs && !reading->report->error_count)
		lang_error(reading->report, &reading->token.location, "add: output { name; }",
			   "the output names no event type");
}

void desl_check(struct desl_reading *reading)
{
	for (struct desl_type *type = reading->program->types; type; type = type->next) {
		reading->type = type;
		if (type->is_broken)
			continue;
		if (type->is_input)
			type->is_checked = check_input(reading);
		else if (!type->field_count)
			lang_error(reading->report, &type->name.location, NULL, "'%s' has no field", type->name.text);
		else
			type->is_checked = desl_resolve(reading) && desl_resolve_advice(reading) &&
					   desl_check_kinds(reading) && desl_check_constraint(reading) &&
					   desl_check_groups(reading);
		if (type->is_checked && !type->is_input)
			desl_check_printed(reading);
	}
	check_outputs(reading);
}

static int compare_edits(const void *left, const void *right)
{
	const struct desl_edit *a = left, *b = right;

	return a->offset < b->offset ? -1 : a->offset > b->offset;
}

char *desl_apply_edits(struct desl_reading *reading)
{
	const struct diag_source *source = reading->program->source;
	struct text_buffer text = { 0 };
	uint64_t at = 0;
	char *taken;

	qsort(reading->edits, reading->edit_count, sizeof *reading->edits, compare_edits);
	for (unsigned i = 0; i < reading->edit_count; i++) {
		const struct desl_edit *edit = &reading->edits[i];

		if (edit->offset < at)
			continue;
		text_append_bytes(&text, source->text + at, edit->offset - at);
		text_append(&text, edit->text);
		at = edit->offset + edit->length;
	}
	text_append_bytes(&text, source->text + at, source->length - at);
	return text_take(&text, &taken) ? NULL : taken;
}

void desl_free(struct desl_program *program)
{
	if (!program)
		return;
	for (struct desl_type *type = program->types; type; type = type->next)
		desl_table_fini(&type->table);
	desl_texts_fini(&program->texts);
	arena_free(program->arena);
}

static struct desl_program *new_program(const struct diag_source *source)
{
	struct arena *arena = arena_new();
	struct desl_program *program = arena ? arena_zero(arena, 1, sizeof *program) : NULL;

	if (!program) {
		arena_free(arena);
		return NULL;
	}
	program->arena = arena;
	program->source = source;
	if (!desl_texts_init(&program->texts))
		return program;
	desl_free(program);
	return NULL;
}

int desl_read(const struct diag_source *source, bool is_strict, struct asterism_diag *diag,
	      struct desl_program **program, char **corrected)
{
	struct desl_program *made = new_program(source);
	struct lang_report report = { .arena = made ? made->arena : NULL, .diag = diag };
	struct desl_reading reading = { .report = &report, .program = made, .is_strict = is_strict };
	int result;

	*corrected = NULL;
	if (!made)
		return diag_no_memory(diag);
	reading.last_type = &made->types;
	if (lang_text_check(source, "a program in DESL is UTF-8 text", &report)) {
		lang_lex_init(&reading.lexer, source, made->arena, &report);
		reading.lexer.is_desl = true;
		lang_lex_next(&reading.lexer, &reading.token);
		lang_lex_next(&reading.lexer, &reading.ahead);
		desl_parse(&reading);
		desl_check(&reading);
	}
	if (reading.is_corrected)
		*corrected = desl_apply_edits(&reading);
	result = lang_report_flush(&report);
	if (result)
		desl_free(made);
	else
		*program = made;
	return result;
}
