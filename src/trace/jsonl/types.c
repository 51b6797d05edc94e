// SPDX-License-Identifier: BSD-2-Clause
/* Numbers event types in the order in which the input first uses them. */

#include "trace/jsonl/jsonl-priv.h"

#include "base/alloc.h"
#include "base/hash.h"
#include "event/installed.h"
#include "trace/ctf/metadata.h"

#include <errno.h>
#include <string.h>

enum { TYPE_NAME_BYTES = 256 };

/* The number of the type called name, or HASH_NONE. */
static uint32_t type_number(const struct jsonl_types *types, const char *name, size_t length, uint64_t hash)
{
	uint32_t number;

	for (size_t step = 0; (number = hash_table_next(&types->by_name, hash, &step)) != HASH_NONE;) {
		const char *known = types->items[number]->name;

		if (strncmp(known, name, length) == 0 && known[length] == 0)
			break;
	}
	return number;
}

static int add_known_type(struct jsonl_types *types, const struct event_type *type, uint64_t hash)
{
	if (hash_table_reserve(&types->by_name, NULL, types->count + 1) ||
	    alloc_grow(&types->items, &types->capacity, types->count, sizeof(const struct event_type *)))
		return -ENOMEM;
	hash_table_add(&types->by_name, hash, (uint32_t)types->count);
	types->items[types->count++] = type;
	return 0;
}

/*
 * A type that is in none of the catalogs at hand: recordings have types of shipped catalogs that rules have to name.
 * What is in none of these either is looked for once: they are all read for it.
 */
static int find_shipped_type(struct jsonl_types *types, struct event_catalog *catalog, const char *name,
			     const struct event_type **type)
{
	uint64_t hash = hash_text(name);
	size_t step = 0;
	const char *shipped;

	if (hash_table_next(&types->unknown, hash, &step) != HASH_NONE)
		return 0;
	shipped = event_installed_with(name);
	if (shipped && event_catalog_read(catalog, NULL, shipped, NULL) == -ENOMEM)
		return -ENOMEM;
	*type = shipped ? event_catalog_find(catalog, name) : NULL;
	if (*type)
		return 0;
	if (hash_table_reserve(&types->unknown, NULL, ++types->unknown_count))
		return -ENOMEM;
	hash_table_add(&types->unknown, hash, 0);
	return 0;
}

/* The type called name; the mark of a match is one that only traces bring along. */
static int find_jsonl_type(struct jsonl_types *types, struct event_catalog *catalog, const char *name,
			   const struct event_type **type)
{
	*type = event_catalog_find(catalog, name);
	if (*type)
		return 0;
	return strcmp(name, ctf_match_event.name) == 0 ? ctf_event_declare(&ctf_match_event, catalog, type)
						       : find_shipped_type(types, catalog, name, type);
}

int jsonl_types_find(struct jsonl_types *types, struct event_catalog *catalog, const struct json_piece *name,
		     struct jsonl_type *found)
{
	char text[TYPE_NAME_BYTES];
	int64_t length;
	const struct event_type *type = NULL;
	uint32_t number;
	uint64_t hash;

	if (!name->has_escape) {
		number = type_number(types, name->text, name->length, hash_bytes(HASH_START, name->text, name->length));
		if (number != HASH_NONE) {
			*found = (struct jsonl_type){ types->items[number], number };
			return 1;
		}
	}
	length = json_read_string(name, text, sizeof text);
	if (length > 0 && length < TYPE_NAME_BYTES && find_jsonl_type(types, catalog, text, &type))
		return -ENOMEM;
	if (!type)
		return 0;
	/* The catalog may know the type by another name than it was asked for. */
	hash = hash_text(type->name);
	number = type_number(types, type->name, strlen(type->name), hash);
	if (number == HASH_NONE) {
		number = (uint32_t)types->count;
		if (add_known_type(types, type, hash))
			return -ENOMEM;
	}
	*found = (struct jsonl_type){ type, number };
	return 1;
}

void jsonl_types_fini(struct jsonl_types *types)
{
	hash_table_fini(&types->by_name);
	hash_table_fini(&types->unknown);
	alloc_free(types->items);
}
