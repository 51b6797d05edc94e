// SPDX-License-Identifier: BSD-2-Clause
/* Adds what EVENTS and EVENT declare to the catalog. */

#include "lang/check/check-priv.h"

#include <errno.h>
#include <string.h>

static bool read_catalog(struct lang_check *c, const struct lang_syntax_item *item, const char *folder)
{
	static const char *const hints[] = {
		[EVENT_FILES_ALL] = "catalogs are searched in the rule file's directory and among the installed ones",
		[EVENT_FILES_OWN] = "a catalog is an installed one, or, by its whole path, a file of your own that no "
				    "one else can write",
		[EVENT_FILES_NONE] = "only installed catalogs can be named here, by name without a directory",
	};
	const char *name = item->name.text, *prefix = item->prefix.text;

	if (prefix && !event_catalog_is_supplied(c->catalog, name)) {
		lang_error(c->report, &item->prefix.location, "leave AS out",
			   "only the events of applications (\"sensor:...\") can be given other names");
		return false;
	}
	int result = prefix ? event_catalog_read_as(c->catalog, folder, name, prefix, c->report->diag)
			    : event_catalog_read(c->catalog, folder, name, c->report->diag);

	if (result == -ENOMEM) {
		lang_no_memory(c->report);
	} else if (result == -ENOENT) {
		lang_error(c->report, &item->name.location, hints[event_catalog_access(c->catalog)->files],
			   "catalog not found: '%s'", item->name.text);
	} else if (result) {
		lang_error(c->report, &item->name.location, NULL, "the catalog '%s' cannot be used", item->name.text);
	}
	c->catalog_failed |= result != 0;
	return result == 0;
}

/* A field that every event has anyway, under the one name that it has everywhere. */
static bool is_header_name(const char *name)
{
	for (uint32_t i = 0; i < EVENT_HEADER_FIELDS; i++) {
		if (strcmp(event_header_fields[i].name, name) == 0)
			return true;
	}
	return false;
}

/* The fields as the catalog wants them. False: some are wrong and left out. */
static bool check_declared_fields(struct lang_check *c, const struct lang_syntax_item *item,
				  struct event_field_spec *specs, uint32_t *count)
{
	struct lang_names *names = lang_names_new(c->scratch, item->field_count);
	bool fine = true;

	if (!names) {
		lang_no_memory(c->report);
		return false;
	}
	for (const struct lang_syntax_field *field = item->fields; field; field = field->next) {
		bool twice = lang_names_add(names, field->name.text, *count) != LANG_NO_NAME;
		bool header = is_header_name(field->name.text);

		if (twice)
			lang_error(c->report, &field->name.location, NULL, "'%s' is declared twice", field->name.text);
		else if (header)
			lang_error(c->report, &field->name.location, "leave it out, or give it another name",
				   "every event already has the header field '%s'", field->name.text);
		else
			specs[(*count)++] = (struct event_field_spec){ .name = field->name.text,
								       .value = field->value,
								       .meaning = field->meaning };
		fine &= !twice && !header;
	}
	return fine;
}

static bool declare_event(struct lang_check *c, const struct lang_syntax_item *item, const struct event_type **type)
{
	struct event_field_spec *specs = arena_zero(c->scratch, item->field_count, sizeof *specs);
	struct event_type_spec spec = {
		.name = item->name.text,
		.fields = specs,
		.field_count = item->field_count,
		.origin = EVENT_DECLARED,
	};

	if (!specs) {
		lang_no_memory(c->report);
		return false;
	}
	spec.field_count = 0;
	if (item->broken || !check_declared_fields(c, item, specs, &spec.field_count)) {
		lang_names_add(c->broken_types, item->name.text, 0);
		return false;
	}
	int result = event_catalog_add(c->catalog, &spec, type);

	if (result)
		lang_names_add(c->broken_types, item->name.text, 0);
	if (result == -ENOMEM)
		lang_no_memory(c->report);
	else if (result == -E2BIG)
		lang_error(c->report, &item->name.location,
			   "at most 128 fields in 8192 bytes; a string takes 256, others 8", "event '%s' is too large",
			   item->name.text);
	else if (result)
		lang_error(c->report, &item->name.location, NULL, "event '%s' exists already with other fields",
			   item->name.text);
	return result == 0;
}

bool lang_declare(struct lang_check *c, const struct lang_syntax_item *item, const char *folder,
		  const struct event_type **type)
{
	if (item->kind == LANG_ITEM_EVENTS)
		return read_catalog(c, item, folder);
	return declare_event(c, item, type);
}
