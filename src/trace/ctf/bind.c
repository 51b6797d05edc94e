// SPDX-License-Identifier: BSD-2-Clause
/*
 * Finds the type of the catalog for a recorded sensor. Sensors of several programs may have one name, with the same
 * fields or with others: those that a rule names are the rule's, and of the others each shape becomes a type.
 */

#include "trace/ctf/read-priv.h"

#include "sensor/pattern.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { NAMESAKES_MAX = 1000 };

static bool has_shape(const struct event_type *type, const struct event_type *shape)
{
	if (type->own_count != shape->own_count)
		return false;
	for (uint32_t i = 0; i < type->own_count; i++) {
		const struct event_field *a = &type->fields[i], *b = &shape->fields[i];

		if (strcmp(a->name, b->name) != 0 || a->value != b->value || a->bytes != b->bytes)
			return false;
	}
	return true;
}

/* Whether the fields of the class are those of the type that its paragraph describes. */
static bool is_described(const struct ctf_event *event, const struct event_type *type)
{
	struct ctf_field fields[EVENT_FIELDS_MAX];

	if (!type || type->hook_count || strcmp(type->name, event->name) != 0 ||
	    ctf_fields_of(type, NULL, fields) != event->field_count)
		return false;
	for (uint32_t i = 0; i < event->field_count; i++) {
		const struct ctf_field *a = &fields[i], *b = &event->fields[i];

		if (strcmp(a->name, b->name) != 0 || a->value != b->value)
			return false;
	}
	return true;
}

/* The first that means the sensor of this program. */
static const struct event_type *find_sensor_type(const struct event_catalog *catalog, const struct event_type *shape,
						 const struct ctf_sensor *whose)
{
	const struct event_type *type;

	for (size_t i = 0; (type = event_catalog_get(catalog, i)); i++)
		if (type->sensor && sensor_pattern_means_program(type->sensor, whose->program, whose->path) &&
		    sensor_pattern_means_name(type->sensor, shape->name) && has_shape(type, shape))
			return type;
	return NULL;
}

/* Under its name, or with a number behind where that is taken. */
static int add_type_to_catalog(struct event_catalog *catalog, const struct event_type *shape,
			       const struct event_type **type)
{
	struct event_field_spec fields[EVENT_FIELDS_MAX];
	char name[160];
	struct event_type_spec spec = {
		.name = name,
		.fields = fields,
		.field_count = shape->own_count,
		.origin = EVENT_DECLARED,
		.doc = shape->doc,
		.sensor = shape->name,
	};
	int result = -EEXIST;

	for (uint32_t i = 0; i < shape->own_count; i++) {
		const struct event_field *field = &shape->fields[i];

		fields[i] = (struct event_field_spec){
			field->name, field->value, field->value == EVENT_STRING ? field->bytes : 0,
			field->unit, field->doc,   field->meaning
		};
	}
	for (int number = 1; result == -EEXIST && number <= NAMESAKES_MAX; number++) {
		snprintf(name, sizeof name, number > 1 ? "%s_%d" : "%s", shape->name, number);
		result = event_catalog_add(catalog, &spec, type);
	}
	return result;
}

int ctf_sensor_bind(const struct ctf_event *event, struct event_catalog *catalog, const struct event_type **type)
{
	const struct event_catalog_access nothing = { .files = EVENT_FILES_NONE, .is_foreign = true };
	struct event_catalog *own = event_catalog_new();
	const struct event_type *shape;
	int result;

	if (!own)
		return -ENOMEM;
	event_catalog_restrict(own, &nothing);
	result = event_catalog_parse(own, "sensor", event->sensor->text, strlen(event->sensor->text), NULL);
	shape = event_catalog_get(own, 0);
	if (!result && (!is_described(event, shape) || event_catalog_get(own, 1)))
		result = -EINVAL;
	if (!result) {
		*type = find_sensor_type(catalog, shape, event->sensor);
		result = *type ? 0 : add_type_to_catalog(catalog, shape, type);
	}
	event_catalog_free(own);
	return result;
}
