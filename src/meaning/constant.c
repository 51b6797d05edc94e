// SPDX-License-Identifier: BSD-2-Clause
/* Looks up the name of a number in a family. */

#include "meaning/family-priv.h"

#include "base/diag.h"

#include <stdio.h>
#include <string.h>

enum { NAMES_MAX = 640, KNOWN_MAX = 136, ERRORS_MAX = 4095 };

/* The C library's name for number with its prefix in name; false: it has none. */
static bool known_name(const struct meaning_family *family, int number, char name[MEANING_NAME_BYTES])
{
	const char *known = family->name ? family->name(number) : NULL;

	if (!known || number < 1 || number > family->last)
		return false;
	snprintf(name, MEANING_NAME_BYTES, "%s%s", family->prefix, known);
	return true;
}

bool meaning_constant(const struct meaning *meaning, const char *name, int64_t *number)
{
	const struct meaning_family *family = meaning ? meaning->family : NULL;
	char known[MEANING_NAME_BYTES];

	for (size_t i = 0; family && i < family->count; i++) {
		if (strcmp(family->rows[i].name, name) == 0) {
			*number = family->rows[i].value;
			return true;
		}
	}
	for (int i = 1; family && i <= family->last; i++) {
		if (known_name(family, i, known) && strcmp(known, name) == 0) {
			*number = i;
			return true;
		}
	}
	return family && family->find && family->find(name, number);
}

bool meaning_nearest_constant(const struct meaning *meaning, const char *wanted, char nearest[MEANING_NAME_BYTES])
{
	const struct meaning_family *family = meaning ? meaning->family : NULL;
	char known[KNOWN_MAX][MEANING_NAME_BYTES];
	const char *names[NAMES_MAX];
	size_t count = 0;

	if (!family)
		return false;
	for (int i = 1; i <= family->last && i < KNOWN_MAX; i++) {
		if (known_name(family, i, known[i]))
			names[count++] = known[i];
	}
	for (size_t i = 0, listed = family->list ? family->list(known, KNOWN_MAX) : 0; i < listed; i++)
		names[count++] = known[i];
	for (size_t i = 0; i < family->count && count < NAMES_MAX; i++)
		names[count++] = family->rows[i].name;
	const char *found = diag_nearest(wanted, names, count);

	if (found)
		snprintf(nearest, MEANING_NAME_BYTES, "%s", found);
	return found;
}

static bool takes_bits(const struct meaning_row *row, uint64_t rest, uint64_t whole)
{
	if (row->mask == 0)
		return (int64_t)whole == row->value;
	return (rest & row->mask) == (uint64_t)row->value && (row->value || !(whole & row->mask));
}

/* All names of which number is put together; the bits that are left over have none. Returns whether there is a name. */
static bool put_flags(struct text_buffer *text, const struct meaning_family *family, uint64_t number)
{
	uint64_t rest = number;
	const char *between = "";

	for (size_t i = 0; i < family->count; i++) {
		const struct meaning_row *row = &family->rows[i];

		if (!takes_bits(row, rest, number))
			continue;
		text_append(text, between);
		text_append(text, row->name);
		between = "|";
		rest &= ~row->mask;
		if (row->mask == 0)
			return true;
	}
	if (*between && rest)
		text_printf(text, "|0x%llx", (unsigned long long)rest);
	return *between;
}

/* The one name of number, after sign. */
static bool put_constant_name(struct text_buffer *text, const struct meaning_family *family, const char *sign,
			      int64_t number)
{
	char known[MEANING_NAME_BYTES];

	if (number > 0 && number <= family->last && known_name(family, (int)number, known)) {
		text_append(text, sign);
		text_append(text, known);
		return true;
	}
	for (size_t i = 0; i < family->count; i++) {
		if (family->rows[i].value == number) {
			text_append(text, sign);
			text_append(text, family->rows[i].name);
			return true;
		}
	}
	return false;
}

bool meaning_name(struct text_buffer *text, const struct meaning *meaning, struct meaning_number number)
{
	bool is_descriptor = meaning && meaning->form == MEANING_DESCRIPTOR;
	int64_t value = is_descriptor ? (int32_t)number.word : (int64_t)number.word;
	bool is_error = meaning && meaning->family == &meaning_errors;

	if (!meaning || !meaning->family)
		return false;
	if (meaning->form == MEANING_FLAGS)
		return put_flags(text, meaning->family, meaning_bits(number));
	if (is_error && value < 0)
		return value >= -ERRORS_MAX && put_constant_name(text, meaning->family, "-", -value);
	return (meaning->form == MEANING_NAME || is_descriptor) && put_constant_name(text, meaning->family, "", value);
}
