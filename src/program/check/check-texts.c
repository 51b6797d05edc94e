// SPDX-License-Identifier: BSD-2-Clause
/* Checks which texts may serve as names and labels. Each is looked at once; references only ask for the outcome. */

#include "program/check/check-priv.h"

#include "base/alloc.h"
#include "base/text.h"
#include "event/type.h"
#include "meaning/meaning.h"
#include "program/query.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { CONTEXT_SLOTS = 4 }; /* cpu, pid, tid, comm */

/* What begins at a byte of STRINGS. Each is also all that stands above it. */
enum text_grade { NO_TEXT, ANY_TEXT, LABEL_TEXT, NAME_TEXT };

enum { NAME_BYTES_MAX = 255, CONSTANT_BYTES_MAX = 8191 };

static bool is_text_name(const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		if (text[i] <= ' ' || text[i] > '~' || text[i] == '"' || text[i] == '\\')
			return false;
	}
	return length > 0 && length <= NAME_BYTES_MAX;
}

/* U+0080..U+009F, which terminals may obey. */
static bool is_c1(const char *text)
{
	return text[0] == '\xc2' && (unsigned char)text[1] < 0xa0;
}

static bool is_label(const char *text)
{
	while (*text) {
		size_t length = text_character(text);
		bool control = ((unsigned char)*text < ' ' && *text != '\t' && *text != '\n') || *text == 0x7f;

		if (!length || control || is_c1(text))
			return false;
		text += length;
	}
	return true;
}

int check_texts(struct check *check)
{
	const char *strings = check->program->strings;
	uint32_t count = check->program->header->sections[PROGRAM_STRINGS].count;

	if (count && strings[count - 1])
		return check_fail(check, (struct check_item){ PROGRAM_STRINGS, count - 1 },
				  "the last text is not terminated");
	for (uint32_t i = 0; i < count; i += (uint32_t)strlen(strings + i) + 1) {
		if (is_text_name(strings + i, strlen(strings + i)))
			check->texts[i] = NAME_TEXT;
		else
			check->texts[i] = is_label(strings + i) ? LABEL_TEXT : ANY_TEXT;
	}
	return 0;
}

static int check_grade(struct check *check, struct check_item item, uint32_t text, enum text_grade grade)
{
	static const char *const wanted[] = {
		[ANY_TEXT] = "a text",
		[LABEL_TEXT] = "a printable text",
		[NAME_TEXT] = "a name",
	};
	bool inside = text < check->program->header->sections[PROGRAM_STRINGS].count;

	if (inside && check->texts[text] >= grade)
		return 0;
	return check_fail(check, item, "it refers to byte %u of the texts, where no %s begins", text,
			  wanted[grade] + 2);
}

int check_name(struct check *check, struct check_item item, uint32_t text)
{
	return check_grade(check, item, text, NAME_TEXT);
}

int check_label(struct check *check, struct check_item item, uint32_t text)
{
	return text == PROGRAM_NONE ? 0 : check_grade(check, item, text, LABEL_TEXT);
}

int check_meaning(struct check *check, struct check_item item, uint32_t meaning, enum program_kind kind)
{
	int result = meaning ? check_grade(check, item, meaning - 1, LABEL_TEXT) : 0;

	if (result || !meaning)
		return result;
	const struct meaning *row = meaning_find(program_text(check->program, meaning - 1));

	if (!row)
		return check_fail(check, item, "unknown meaning");
	if (kind == PROGRAM_BOOL || (kind == PROGRAM_STRING) != meaning_is_text(row))
		return check_fail(check, item,
				  meaning_is_text(row) ? "only strings have this meaning"
						       : "only numbers have a meaning");
	return 0;
}

int check_constant(struct check *check, struct check_item item, uint32_t text, uint32_t length)
{
	int result = check_grade(check, item, text, ANY_TEXT);

	if (result)
		return result;
	if (length > CONSTANT_BYTES_MAX)
		return check_fail(check, item, "a text constant of %u bytes is too long", length);
	result = check_work(check, item, length / 16);
	if (!result && strnlen(check->program->strings + text, (size_t)length + 1) != length)
		result = check_fail(check, item, "the text is not %u bytes long", length);
	return result;
}

/* One item of a section whose items begin with their name. */
struct named {
	const char *name;
	uint32_t index;
};

static int order_named(const void *a, const void *b)
{
	return strcmp(((const struct named *)a)->name, ((const struct named *)b)->name);
}

int check_unique(struct check *check, enum program_section_id section)
{
	const struct program_section *place = &check->program->header->sections[section];
	const char *items = (const char *)check->program->header + place->offset;
	struct named *named = alloc_zero(place->count, sizeof *named);
	int result = 0;

	if (!named)
		return -ENOMEM;
	for (uint32_t i = 0; i < place->count; i++) {
		uint32_t name;

		memcpy(&name, items + i * program_section_shapes[section].item_bytes, sizeof name);
		named[i] = (struct named){ program_text(check->program, name), i };
	}
	qsort(named, place->count, sizeof *named, order_named);
	for (uint32_t i = 1; i < place->count && !result; i++) {
		if (!strcmp(named[i - 1].name, named[i].name))
			result = check_fail(check, (struct check_item){ section, named[i].index },
					    "another one is also called %s", named[i].name);
	}
	alloc_free(named);
	return result;
}

int check_context_slots(struct check *check, struct check_item item, const struct program_rule *rule)
{
	if (rule->slot_count < CONTEXT_SLOTS || rule->context_slot > rule->slot_count - CONTEXT_SLOTS)
		return check_fail(check, item, "context slots %u to %u do not exist", rule->context_slot,
				  rule->context_slot + CONTEXT_SLOTS - 1);
	for (uint32_t i = 0; i < CONTEXT_SLOTS; i++) {
		const struct program_slot *slot = &program_slots(check->program, rule)[rule->context_slot + i];
		bool text = i == CONTEXT_SLOTS - 1;

		if (text ? slot->kind != PROGRAM_STRING || slot->bytes != EVENT_COMM_BYTES
			 : slot->kind != PROGRAM_I64 && slot->kind != PROGRAM_U64)
			return check_fail(check, item, "context slot %u is not of the right kind",
					  rule->context_slot + i);
	}
	return 0;
}
