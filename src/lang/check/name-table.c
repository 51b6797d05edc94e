// SPDX-License-Identifier: BSD-2-Clause
/* Decides how names are looked up: open addressing, at most half full. */

#include "lang/check/names-priv.h"

#include "base/diag.h"

#include <string.h>

struct slot {
	const char *name; /* NULL: free */
	uint32_t number;
};

struct lang_names {
	size_t mask;
	size_t count, room;
	const char **texts; /* in the order they were added */
	struct slot slots[];
};

struct lang_names *lang_names_new(struct arena *arena, size_t count)
{
	size_t slots = 8;

	while (slots < 2 * count)
		slots *= 2;
	struct lang_names *names = arena_zero(arena, 1, sizeof *names + slots * sizeof *names->slots);

	if (!names)
		return NULL;
	names->mask = slots - 1;
	names->room = count;
	names->texts = arena_zero(arena, count, sizeof *names->texts);
	return names->texts ? names : NULL;
}

/* FNV-1a; the slot that holds name or the free one where it belongs. */
static size_t slot_of(const struct lang_names *names, const char *name)
{
	uint32_t hash = 2166136261u;

	for (const char *at = name; *at; at++)
		hash = (hash ^ (unsigned char)*at) * 16777619u;
	size_t slot = hash & names->mask;

	while (names->slots[slot].name && strcmp(names->slots[slot].name, name) != 0)
		slot = (slot + 1) & names->mask;
	return slot;
}

uint32_t lang_names_find(const struct lang_names *names, const char *name)
{
	const struct slot *slot = &names->slots[slot_of(names, name)];

	return slot->name ? slot->number : LANG_NO_NAME;
}

uint32_t lang_names_add(struct lang_names *names, const char *name, uint32_t number)
{
	struct slot *slot = &names->slots[slot_of(names, name)];

	if (slot->name)
		return slot->number;
	if (names->count == names->room)
		return LANG_NO_NAME;
	*slot = (struct slot){ .name = name, .number = number };
	names->texts[names->count++] = name;
	return LANG_NO_NAME;
}

const char *lang_names_nearest(const struct lang_names *names, const char *wanted)
{
	return diag_nearest(wanted, names->texts, names->count);
}
