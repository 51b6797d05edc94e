// SPDX-License-Identifier: BSD-2-Clause
/* Decides the numbers of event types: in the order in which the input first uses them. */

#include "trace/jsonl/jsonl-priv.h"

#include "base/alloc.h"
#include "trace/ctf/metadata.h"

#include <errno.h>
#include <string.h>

enum { FIRST_PLACES = 64, NAME_BYTES = 256 };

static size_t hash_name(const char *name, size_t length)
{
	uint64_t hash = 0xcbf29ce484222325; /* FNV-1a */

	for (size_t i = 0; i < length; i++)
		hash = (hash ^ (unsigned char)name[i]) * 0x100000001b3;
	return (size_t)(hash ^ hash >> 32);
}

static struct jsonl_type *place_of(const struct jsonl_types *types, const char *name, size_t length)
{
	size_t mask = types->place_count - 1, at = hash_name(name, length) & mask;

	for (;; at = (at + 1) & mask) {
		struct jsonl_type *place = &types->places[at];

		if (!place->type || (strncmp(place->type->name, name, length) == 0 && place->type->name[length] == 0))
			return place;
	}
}

static int make_places(struct jsonl_types *types)
{
	struct jsonl_types larger = { .place_count = types->place_count ? types->place_count * 2 : FIRST_PLACES };

	if (2 * (types->count + 1) <= types->place_count)
		return 0;
	larger.places = alloc_zero(larger.place_count, sizeof *larger.places);
	if (!larger.places)
		return -ENOMEM;
	for (size_t i = 0; i < types->place_count; i++) {
		const struct event_type *type = types->places[i].type;

		if (type)
			*place_of(&larger, type->name, strlen(type->name)) = types->places[i];
	}
	larger.count = types->count;
	alloc_free(types->places);
	*types = larger;
	return 0;
}

/* The type called name; the mark of a match is one that only traces bring along. */
static int find_type(struct event_catalog *catalog, const char *name, const struct event_type **type)
{
	*type = event_catalog_find(catalog, name);
	if (*type || strcmp(name, ctf_match_event.name) != 0)
		return 0;
	return ctf_event_declare(&ctf_match_event, catalog, type);
}

int jsonl_types_find(struct jsonl_types *types, struct event_catalog *catalog, const struct json_piece *name,
		     struct jsonl_type *found)
{
	char text[NAME_BYTES];
	int64_t length;
	struct jsonl_type *place;
	const struct event_type *type = NULL;

	if (types->count && !name->has_escape) {
		place = place_of(types, name->text, name->length);
		if (place->type) {
			*found = *place;
			return 1;
		}
	}
	length = json_read_string(name, text, sizeof text);
	if (length > 0 && length < NAME_BYTES && find_type(catalog, text, &type))
		return -ENOMEM;
	if (!type)
		return 0;
	if (make_places(types))
		return -ENOMEM;
	/* The catalog may know the type by another name than it was asked for. */
	place = place_of(types, type->name, strlen(type->name));
	if (!place->type)
		*place = (struct jsonl_type){ type, (uint32_t)types->count++ };
	*found = *place;
	return 1;
}

void jsonl_types_fini(struct jsonl_types *types)
{
	alloc_free(types->places);
}
