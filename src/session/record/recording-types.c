// SPDX-License-Identifier: BSD-2-Clause
/* Numbers announced types; those that are the same are one. A trace has room for a bounded number of them. */

#include "session/record/recording-types.h"

#include "base/alloc.h"
#include "base/hash.h"
#include "event/catalog.h"

#include <errno.h>
#include <string.h>

enum { TYPES_MAX = 4096 };

struct recording_types {
	struct recording_type **items;
	size_t count, capacity;
	bool is_full; /* which has been told */
};

struct recording_types *recording_types_new(void)
{
	return alloc_zero(1, sizeof(struct recording_types));
}

static void free_type(struct recording_type *type)
{
	if (!type)
		return;
	event_catalog_free(type->catalog);
	alloc_free(type->program);
	alloc_free(type->path);
	alloc_free(type->text);
	alloc_free(type);
}

void recording_types_free(struct recording_types *types)
{
	if (!types)
		return;
	for (size_t i = 0; i < types->count; i++)
		free_type(types->items[i]);
	alloc_free(types->items);
	alloc_free(types);
}

struct recording_type *recording_types_get(const struct recording_types *types, uint32_t number)
{
	return types->items[number];
}

static uint64_t announced_hash(const struct stream_announced *announced)
{
	return hash_text(announced->text) ^ hash_text(announced->path) * 3 ^ hash_text(announced->program) * 5;
}

static bool is_same_announced(const struct recording_type *type, const struct stream_announced *announced,
			      uint64_t hash)
{
	return type->hash == hash && strcmp(type->program, announced->program) == 0 &&
	       strcmp(type->path, announced->path) == 0 && strcmp(type->text, announced->text) == 0;
}

/* A type of its own, in a catalog of its own: the announced one is there for the moment only. */
static int make_recording_type(const struct stream_announced *announced, struct recording_type **made)
{
	const struct event_catalog_access nothing = { .files = EVENT_FILES_NONE, .is_foreign = true };
	struct recording_type *type = alloc_zero(1, sizeof *type);

	*made = type;
	if (!type)
		return -ENOMEM;
	type->program = alloc_text(announced->program);
	type->path = alloc_text(announced->path);
	type->text = alloc_text(announced->text);
	type->catalog = event_catalog_new();
	if (!type->program || !type->path || !type->text || !type->catalog)
		return -ENOMEM;
	event_catalog_restrict(type->catalog, &nothing);
	int result = event_catalog_parse(type->catalog, "sensor", type->text, strlen(type->text), NULL);

	type->type = event_catalog_get(type->catalog, 0);
	if (result || !type->type)
		return result ? result : -EBADMSG;
	event_packed_init(&type->layout, type->type, NULL);
	type->hash = announced_hash(announced);
	return 0;
}

static int refuse_announced(struct recording_types *types, const struct stream_announced *announced,
			    struct asterism_diag *diag)
{
	if (!types->is_full)
		diag_add(diag, ASTERISM_WARNING, NULL, "name fewer sensors, or record fewer programs",
			 "not recording %s of %s and any further sensors: the limit of %d sensor types is reached",
			 announced->type->name, announced->program, TYPES_MAX);
	types->is_full = true;
	return 1;
}

int recording_types_add(struct recording_types *types, const struct stream_announced *announced,
			struct asterism_diag *diag, const struct event_type **type, uint32_t *number)
{
	uint64_t hash = announced_hash(announced);
	struct recording_type *made = NULL;
	size_t at = 0;
	int result;

	while (at < types->count && !is_same_announced(types->items[at], announced, hash))
		at++;
	if (at == TYPES_MAX)
		return refuse_announced(types, announced, diag);
	if (at == types->count) {
		result = alloc_grow(&types->items, &types->capacity, types->count, sizeof(struct recording_type *));
		if (!result)
			result = make_recording_type(announced, &made);
		if (result) {
			free_type(made);
			return result;
		}
		types->items[types->count++] = made;
	}
	*type = types->items[at]->type;
	*number = (uint32_t)at;
	return 0;
}

int recording_type_declare(struct recording_type *type, struct ctf_writer *trace)
{
	const struct ctf_writer_sensor sensor = {
		.type = type->type,
		.program = type->program,
		.path = type->path,
		.text = type->text,
	};
	int result = type->is_declared ? 0 : ctf_writer_declare(trace, &sensor, &type->id);

	type->is_declared = !result;
	return result;
}

void recording_types_forget(struct recording_types *types)
{
	for (size_t i = 0; i < types->count; i++)
		types->items[i]->is_declared = false;
}
