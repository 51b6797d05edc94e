// SPDX-License-Identifier: BSD-2-Clause
/* A table of names. */

#include "lang/check/names-priv.h"

#include "base/diag.h"
#include "base/hash-table.h"
#include "base/hash.h"

#include <string.h>

struct lang_names {
	struct hash_table by_text;
	size_t count, room;
	const char **texts; /* in the order they were added */
	uint32_t numbers[];
};

struct lang_names *lang_names_new(struct arena *arena, size_t count)
{
	struct lang_names *names = arena_zero(arena, 1, sizeof *names + count * sizeof *names->numbers);

	if (!names || hash_table_reserve(&names->by_text, arena, count))
		return NULL;
	names->room = count;
	names->texts = arena_zero(arena, count, sizeof *names->texts);
	return names->texts ? names : NULL;
}

uint32_t lang_names_find(const struct lang_names *names, const char *name)
{
	uint64_t hash = hash_text(name);
	uint32_t index;

	for (size_t step = 0; (index = hash_table_next(&names->by_text, hash, &step)) != HASH_NONE;) {
		if (strcmp(names->texts[index], name) == 0)
			return names->numbers[index];
	}
	return LANG_NO_NAME;
}

uint32_t lang_names_add(struct lang_names *names, const char *name, uint32_t number)
{
	uint32_t known = lang_names_find(names, name);

	if (known != LANG_NO_NAME || names->count == names->room)
		return known;
	hash_table_add(&names->by_text, hash_text(name), (uint32_t)names->count);
	names->texts[names->count] = name;
	names->numbers[names->count++] = number;
	return LANG_NO_NAME;
}

const char *lang_names_nearest(const struct lang_names *names, const char *wanted)
{
	return diag_nearest(wanted, names->texts, names->count);
}
