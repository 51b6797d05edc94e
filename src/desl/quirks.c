// SPDX-License-Identifier: BSD-2-Clause
/*
 * The mistakes of the programs that the thesis prints, and the repair of each: a row of the table. What has no repair
 * leaves edits for a corrected program, as all repairs do.
 */

#include "desl/reading-priv.h"

#include "lang/syntax/limits.h"

#include <string.h>

static void edit_word(struct desl_reading *reading, const struct desl_word *word, const char *text)
{
	desl_edit(reading, word->location.offset, word->location.length, text);
}

static uint64_t quirk_place(const struct desl_reading *reading)
{
	return reading->token.location.offset;
}

static bool recognise_always(struct desl_reading *reading, struct desl_expr *about)
{
	(void)reading;
	(void)about;
	return true;
}

static bool recognise_end(struct desl_reading *reading, struct desl_expr *about)
{
	(void)about;
	return desl_at(reading, LANG_TOKEN_SEMICOLON) || desl_at(reading, LANG_TOKEN_RBRACE);
}

static void repair_file(struct desl_reading *reading, struct desl_expr *about)
{
	(void)about;
	desl_edit(reading, quirk_place(reading), 0, " f ");
}

static void repair_nested(struct desl_reading *reading, struct desl_expr *about)
{
	(void)about;
	desl_edit(reading, quirk_place(reading), 0, "} ");
}

static void repair_extra(struct desl_reading *reading, struct desl_expr *about)
{
	(void)about;
	desl_drop(reading);
}

static void repair_open(struct desl_reading *reading, struct desl_expr *about)
{
	(void)about;
	desl_edit(reading, reading->end, 0, ")");
}

static void repair_semicolon(struct desl_reading *reading, struct desl_expr *about)
{
	(void)about;
	desl_edit(reading, reading->end, 0, ";");
}

static void repair_nothing(struct desl_reading *reading, struct desl_expr *about)
{
	(void)reading;
	(void)about;
}

/* A field of the type itself that is that of a source. */
static bool recognise_group(struct desl_reading *reading, struct desl_expr *about)
{
	return !about->qualifier.text && desl_find_field(reading->type, about->name.text) >= 0;
}

static void repair_group(struct desl_reading *reading, struct desl_expr *about)
{
	const struct desl_field *field = &reading->type->fields[desl_find_field(reading->type, about->name.text)];
	const struct desl_expr *filter = field->filter;

	if (filter && filter->name.text && filter->qualifier.text)
		edit_word(reading, &about->name,
			  arena_format(reading->program->arena, "%s.%s", filter->qualifier.text, filter->name.text));
}

/* Whether name has all the parts of wanted that underscores separate. */
static bool has_parts(const char *name, const char *wanted)
{
	char part[LANG_WORD_BYTES_MAX + 1];

	while (*wanted) {
		size_t length = strcspn(wanted, "_");

		if (length >= sizeof part)
			return false;
		memcpy(part, wanted, length);
		part[length] = 0;
		if (!strstr(name, part))
			return false;
		wanted += length + (wanted[length] == '_');
	}
	return true;
}

/* The first type before this one that has all parts of the name, one of more than a letter. */
static const struct desl_type *find_meant(const struct desl_reading *reading, const char *wanted)
{
	for (const struct desl_type *type = reading->program->types; type && type != reading->type; type = type->next) {
		if (strlen(wanted) > 2 && has_parts(type->name.text, wanted))
			return type;
	}
	return NULL;
}

static bool recognise_type(struct desl_reading *reading, struct desl_expr *about)
{
	return find_meant(reading, about->qualifier.text) != NULL;
}

static void repair_type(struct desl_reading *reading, struct desl_expr *about)
{
	about->qualifier.text = find_meant(reading, about->qualifier.text)->name.text;
	edit_word(reading, &about->qualifier, about->qualifier.text);
}

static const struct desl_type *type_named(const struct desl_reading *reading, const char *name)
{
	for (unsigned i = 0; i < reading->type->source_count; i++) {
		if (strcmp(reading->type->sources[i].name.text, name) == 0)
			return reading->type->sources[i].type;
	}
	return desl_find_type(reading->program, name);
}

/* The only field of the type that is a Line, which no field is nearly called like. */
static int find_line(const struct desl_reading *reading, const struct desl_expr *about)
{
	const struct desl_type *type = about->qualifier.text ? type_named(reading, about->qualifier.text) : NULL;
	const char *names[DESL_FIELDS_MAX];
	int found = -1;

	for (unsigned i = 0; type && i < type->field_count; i++) {
		names[i] = type->fields[i].name.text;
		if (type->fields[i].kind != DESL_LINE)
			continue;
		if (found >= 0)
			return -1;
		found = (int)i;
	}
	return found < 0 || diag_nearest(about->name.text, names, type->field_count) ? -1 : found;
}

static bool recognise_field(struct desl_reading *reading, struct desl_expr *about)
{
	return find_line(reading, about) >= 0;
}

static void repair_field(struct desl_reading *reading, struct desl_expr *about)
{
	const struct desl_type *type = type_named(reading, about->qualifier.text);

	about->name.text = type->fields[find_line(reading, about)].name.text;
	edit_word(reading, &about->name, about->name.text);
}

static const struct {
	const char *warning, *hint; /* %s in the warning: what it is about */
	bool (*recognise)(struct desl_reading *reading, struct desl_expr *about);
	void (*repair)(struct desl_reading *reading, struct desl_expr *about); /* NULL: there is none */
} quirks[DESL_QUIRKS] = {
	[DESL_QUIRK_FILE] = { "the file has no name", "write: File f = \"path\";", recognise_always, repair_file },
	[DESL_QUIRK_NESTED] = { "'}' is missing before the section '%s'", "sections cannot be nested", recognise_always,
				repair_nested },
	[DESL_QUIRK_ELLIPSIS] = { "a lone ':' has no meaning", "leave it out", recognise_always, repair_extra },
	[DESL_QUIRK_OPEN_CALL] = { "')' is missing before '%s'", NULL, recognise_end, repair_open },
	[DESL_QUIRK_CLOSED_CALL] = { "one ')' too many", NULL, recognise_always, repair_extra },
	[DESL_QUIRK_KIND] = { "the field '%s' has no type: it gets the type of its filter",
			      "write Number, String, Line or List before it", recognise_always, repair_nothing },
	[DESL_QUIRK_SEMICOLON] = { "';' is missing before '%s'", NULL, recognise_always, repair_semicolon },
	[DESL_QUIRK_GROUP] = { "'%s' does not name a type: the field of the type itself is used",
			       "write: group by name.field;", recognise_group, repair_group },
	[DESL_QUIRK_TYPE_NAME] = { "no event type '%s' is declared before this", NULL, recognise_type, repair_type },
	[DESL_QUIRK_FIELD_NAME] = { "its event type has no field '%s'", NULL, recognise_field, repair_field },
	[DESL_QUIRK_BINDING] = { "'%s' is bound to what is called, but its cost is added to that of the caller",
				 "the corrected program follows", recognise_always, NULL },
	[DESL_QUIRK_EQUALITY] = { "'%s' is bound to the caller alone: each record meets the shares of all that it "
				  "calls",
				  "the corrected program follows", recognise_always, NULL },
};

/* What the warning is about: a word, or the token. */
static const char *quirk_name(struct desl_reading *reading, enum desl_quirk quirk, const struct desl_expr *about,
			      struct diag_location *location)
{
	*location = about ? about->location : reading->token.location;
	if (!about)
		return location->length ? arena_text(reading->program->arena, lang_token_bytes(&reading->token),
						     location->length)
					: "the end";
	if (quirk == DESL_QUIRK_FIELD_NAME || !about->qualifier.text) {
		*location = about->name.location;
		return about->name.text;
	}
	*location = about->qualifier.location;
	return about->qualifier.text;
}

bool desl_repair(struct desl_reading *reading, enum desl_quirk quirk, struct desl_expr *about)
{
	struct diag_location location;
	const char *name, *hint = quirks[quirk].hint;
	char text[512];

	if (!quirks[quirk].recognise(reading, about))
		return false;
	name = quirk_name(reading, quirk, about, &location);
	if (!name) {
		lang_no_memory(reading->report);
		return false;
	}
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	snprintf(text, sizeof text, quirks[quirk].warning, name);
#pragma GCC diagnostic pop
	if (quirks[quirk].repair)
		quirks[quirk].repair(reading, about);
	else
		reading->is_corrected = true;
	if (quirk == DESL_QUIRK_TYPE_NAME)
		hint = lang_hint(reading->report, "taken for '%s'", about->qualifier.text);
	if (quirk == DESL_QUIRK_FIELD_NAME)
		hint = lang_hint(reading->report, "'%s', its only Line, is used instead", about->name.text);
	if (reading->is_strict || !quirks[quirk].repair)
		lang_error(reading->report, &location, hint, "%s", text);
	else
		lang_warn(reading->report, &location, hint, "%s", text);
	return true;
}
