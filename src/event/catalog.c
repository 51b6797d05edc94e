// SPDX-License-Identifier: BSD-2-Clause
/*
 * Keeps event types, finds them and lays them out. The vector of types and the hash table hold the same types at all
 * times; a type is in neither before it is complete.
 */

#include "base/hash.h"
#include "event/tracefs-priv.h"

#include <errno.h>
#include <string.h>

struct event_catalog *event_catalog_new(void)
{
	struct event_catalog *catalog = alloc_zero(1, sizeof *catalog);

	if (!catalog)
		return NULL;
	catalog->arena = arena_new();
	if (!catalog->arena) {
		event_catalog_free(catalog);
		return NULL;
	}
	return catalog;
}

void event_catalog_free(struct event_catalog *catalog)
{
	if (!catalog)
		return;
	hash_table_fini(&catalog->by_name);
	alloc_free(catalog->types);
	alloc_free(catalog->files);
	arena_free(catalog->arena);
	alloc_free(catalog);
}

/* Bytes in the record; string capacities are whole words, so that every field is aligned. 0: impossible. */
static uint32_t field_bytes(const struct event_field_spec *spec)
{
	uint32_t bytes = spec->bytes ? spec->bytes : EVENT_STRING_BYTES;

	if (spec->value != EVENT_STRING)
		return 8;
	return bytes <= EVENT_RECORD_BYTES_MAX ? (bytes + 7) / 8 * 8 : 0;
}

static bool same_fields(const struct event_type *type, const struct event_type_spec *spec)
{
	if (spec->field_count < type->own_count || spec->field_count > type->field_count)
		return false;
	for (uint32_t i = 0; i < spec->field_count; i++) {
		const struct event_field *field = &type->fields[i];

		if (strcmp(field->name, spec->fields[i].name) || field->value != spec->fields[i].value ||
		    field->bytes != field_bytes(&spec->fields[i]))
			return false;
	}
	return true;
}

/* What is no sensor may be meant by a name that is one's, but not the other way round. */
static bool same_sensor(const struct event_type *type, const struct event_type_spec *spec)
{
	if (spec->called && (!type->called || strcmp(type->called, spec->called)))
		return false;
	return !spec->sensor || (type->sensor && strcmp(type->sensor, spec->sensor) == 0);
}

static bool has_doubles(const struct event_type_spec *spec)
{
	for (uint32_t i = 1; i < spec->field_count; i++) {
		for (uint32_t j = 0; j < i; j++) {
			if (!strcmp(spec->fields[i].name, spec->fields[j].name))
				return true;
		}
	}
	return false;
}

static int lay_out_type(struct event_catalog *catalog, const struct event_type_spec *spec, struct event_type *type)
{
	struct event_field *fields = arena_zero(catalog->arena, spec->field_count, sizeof *fields);
	uint32_t offset = sizeof(struct event_header);

	if (!fields)
		return -ENOMEM;
	for (uint32_t i = 0; i < spec->field_count; i++) {
		const struct event_field_spec *from = &spec->fields[i];

		fields[i] = (struct event_field){
			.name = from->name,
			.value = from->value,
			.offset = offset,
			.bytes = field_bytes(from),
			.unit = from->unit,
			.doc = from->doc,
			.meaning = from->meaning ? from->meaning : event_value_meaning(from->value),
		};
		if (!fields[i].bytes || fields[i].bytes > EVENT_RECORD_BYTES_MAX - offset)
			return -E2BIG;
		offset += fields[i].bytes;
	}
	type->fields = fields;
	type->field_count = type->own_count = spec->field_count;
	type->record_bytes = offset;
	return 0;
}

int event_catalog_insert(struct event_catalog *catalog, const struct event_type_spec *spec,
			 const struct event_type **added)
{
	const struct event_type *known = event_catalog_known(catalog, spec->name);
	struct event_type *type;
	int result;

	if (known) {
		if (!same_fields(known, spec) || !same_sensor(known, spec))
			return -EEXIST;
		*added = known;
		return 0;
	}
	type = arena_zero(catalog->arena, 1, sizeof *type);
	if (!type || hash_table_reserve(&catalog->by_name, NULL, catalog->type_count + 1) ||
	    alloc_grow(&catalog->types, &catalog->type_capacity, catalog->type_count, sizeof *catalog->types))
		return -ENOMEM;
	type->name = spec->name;
	type->sensor = spec->sensor;
	type->called = spec->called;
	type->doc = spec->doc;
	type->origin = spec->origin;
	type->hooks = spec->hooks;
	type->hook_count = spec->hook_count;
	type->absents = spec->absents;
	type->absent_count = spec->absent_count;
	result = lay_out_type(catalog, spec, type);
	if (result)
		return result;
	hash_table_add(&catalog->by_name, hash_text(type->name), (uint32_t)catalog->type_count);
	catalog->types[catalog->type_count++] = type;
	*added = type;
	return 0;
}

static const char *copy_catalog_text(struct event_catalog *catalog, const char *text, int *failed)
{
	const char *copy = text ? arena_text(catalog->arena, text, strlen(text)) : NULL;

	if (text && !copy)
		*failed = -ENOMEM;
	return copy;
}

static int copy_fields(struct event_catalog *catalog, struct event_type_spec *spec)
{
	struct event_field_spec *fields = arena_zero(catalog->arena, spec->field_count, sizeof *fields);
	int failed = 0;

	if (!fields)
		return -ENOMEM;
	for (uint32_t i = 0; i < spec->field_count; i++) {
		fields[i] = spec->fields[i];
		fields[i].name = copy_catalog_text(catalog, fields[i].name, &failed);
		fields[i].unit = copy_catalog_text(catalog, fields[i].unit, &failed);
		fields[i].doc = copy_catalog_text(catalog, fields[i].doc, &failed);
	}
	spec->fields = fields;
	return failed;
}

static int copy_sources(struct event_catalog *catalog, struct event_type_spec *spec)
{
	struct event_hook *hooks = arena_zero(catalog->arena, spec->hook_count, sizeof *hooks);
	int failed = 0;

	if (!hooks)
		return -ENOMEM;
	for (uint32_t i = 0; i < spec->hook_count; i++) {
		const struct event_hook *from = &spec->hooks[i];
		const char **paths = arena_zero(catalog->arena, spec->field_count, sizeof *paths);

		if (!paths)
			return -ENOMEM;
		for (uint32_t j = 0; j < spec->field_count; j++)
			paths[j] = copy_catalog_text(catalog, from->paths[j], &failed);
		hooks[i] = (struct event_hook){
			.tracepoint = copy_catalog_text(catalog, from->tracepoint, &failed),
			.when = copy_catalog_text(catalog, from->when, &failed),
			.scope = copy_catalog_text(catalog, from->scope, &failed),
			.paths = paths,
		};
	}
	spec->hooks = hooks;
	return failed;
}

int event_catalog_add(struct event_catalog *catalog, const struct event_type_spec *spec,
		      const struct event_type **added)
{
	struct event_type_spec copy = *spec;
	int failed = 0;

	if (spec->field_count > EVENT_FIELDS_MAX)
		return -E2BIG;
	if (has_doubles(spec))
		return -EINVAL;
	copy.name = copy_catalog_text(catalog, spec->name, &failed);
	copy.sensor = copy_catalog_text(catalog, spec->sensor, &failed);
	copy.called = copy_catalog_text(catalog, spec->called, &failed);
	copy.doc = copy_catalog_text(catalog, spec->doc, &failed);
	if (failed || copy_fields(catalog, &copy) || copy_sources(catalog, &copy))
		return -ENOMEM;
	return event_catalog_insert(catalog, &copy, added);
}

const struct event_type *event_catalog_known(const struct event_catalog *catalog, const char *name)
{
	uint64_t hash = hash_text(name);
	uint32_t index;

	for (size_t step = 0; (index = hash_table_next(&catalog->by_name, hash, &step)) != HASH_NONE;) {
		if (strcmp(catalog->types[index]->name, name) == 0)
			return catalog->types[index];
	}
	return NULL;
}

const struct event_type *event_catalog_get(const struct event_catalog *catalog, size_t index)
{
	return index < catalog->type_count ? catalog->types[index] : NULL;
}

const char *event_catalog_nearest(const struct event_catalog *catalog, const char *wanted)
{
	const char **names = alloc_zero(catalog->type_count, sizeof *names);
	const char *nearest;

	if (!names)
		return NULL;
	for (size_t i = 0; i < catalog->type_count; i++)
		names[i] = catalog->types[i]->name;
	nearest = diag_nearest(wanted, names, catalog->type_count);
	alloc_free(names);
	return nearest;
}
