// SPDX-License-Identifier: BSD-2-Clause
/*
 * Catalogs from anybody. What is read of them are whole types, whatever else the text holds; what their sources say is
 * taken apart as before a program is made of it, and is understood or refused with a reason.
 */

#include "base/alloc.h"
#include "ebpf/path/path.h"
#include "event/catalog.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect(bool holds)
{
	if (!holds)
		abort();
}

static void check_source(const struct event_type *type, const struct event_hook *source, struct arena *arena)
{
	char reason[256] = "";
	struct source_node *node;
	struct source_conditions when;
	struct source_paths scope;
	int result = 0;

	expect(strchr(source->tracepoint, ':') > source->tracepoint && strrchr(source->tracepoint, ':')[1]);
	for (uint32_t i = 0; i < type->field_count && !result; i++)
		result = path_parse_path(source->paths[i], arena, &node, reason, sizeof reason);
	if (!result && source->when)
		result = path_parse_when(source->when, arena, &when, reason, sizeof reason);
	if (!result && source->scope)
		result = path_parse_scope(source->scope, arena, &scope, reason, sizeof reason);
	expect(result == 0 || (result == -EINVAL && *reason));
}

static void check_type(struct event_catalog *catalog, const struct event_type *type)
{
	struct arena *arena = arena_new();
	uint32_t end = sizeof(struct event_header);

	expect(event_catalog_find(catalog, type->name) == type);
	expect(type->field_count <= 128 && type->record_bytes <= EVENT_RECORD_BYTES_MAX);
	for (uint32_t i = 0; i < type->field_count; i++) {
		const struct event_field *field = &type->fields[i];

		expect(event_field_find(type, field->name) == field);
		expect(field->offset >= end && field->offset % 8 == 0 && field->bytes > 0);
		expect(field->value >= EVENT_U8 && field->value <= EVENT_STRING);
		end = field->offset + field->bytes;
	}
	expect(end <= type->record_bytes);
	for (uint32_t i = 0; i < type->hook_count; i++)
		check_source(type, &type->hooks[i], arena);
	arena_free(arena);
}

static void check_as(const char *name, const uint8_t *data, size_t size)
{
	struct event_catalog *catalog = event_catalog_new();
	struct asterism_diag *diag = asterism_diag_new();
	char *exact = malloc(size ? size : 1); /* exactly, so that reading behind the end is seen */
	const struct event_type *type;

	memcpy(exact, data, size);
	int result = event_catalog_parse(catalog, name, exact, size, diag);

	expect((result == -EINVAL) == (asterism_diag_count(diag, ASTERISM_ERROR) > 0));
	for (size_t i = 0; (type = event_catalog_get(catalog, i)); i++)
		check_type(catalog, type);
	free(exact);
	asterism_diag_free(diag);
	event_catalog_free(catalog);
}

/* As a catalog, and as a C header. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	check_as("fuzz", data, size);
	check_as("fuzz.h", data, size);
	return 0;
}
