// SPDX-License-Identifier: BSD-2-Clause
/* Adds the types of sensors to a trace that is written already: behind what metadata says. */

#include "trace/ctf/write-priv.h"

#include <errno.h>

int ctf_sensors_init(struct ctf_sensors *sensors)
{
	if (alloc_grow(&sensors->layouts, &sensors->capacity, 0, sizeof *sensors->layouts))
		return -ENOMEM;
	sensors->layouts[EVENT_PACKED_ID_CONTEXT] =
		(struct event_packed){ .fixed_bytes = sizeof(struct event_packed_context) };
	sensors->count = 1;
	return 0;
}

void ctf_sensors_fini(struct ctf_sensors *sensors)
{
	alloc_free(sensors->layouts);
	text_fini(&sensors->text);
}

/* The paragraph of a sensor and its fields. */
static int describe_sensor(struct ctf_sensors *sensors, struct ctf_files *files, const struct ctf_writer_sensor *sensor,
			   struct asterism_diag *diag)
{
	const struct ctf_sensor whose = { sensor->program, sensor->path, sensor->text };
	struct ctf_field fields[EVENT_FIELDS_MAX];
	const struct ctf_event event = {
		.name = sensor->type->name,
		.fields = fields,
		.field_count = ctf_fields_of(sensor->type, NULL, fields),
		.id = (uint32_t)sensors->count,
		.sensor = &whose,
	};
	struct text_buffer *text = &sensors->text;
	size_t before = text->length;
	int result;

	ctf_metadata_add(&event, text);
	if (text->failure)
		return diag_no_memory(diag);
	result = ctf_files_metadata_add(files, text->bytes + before, text->length - before);
	if (result)
		text->bytes[text->length = before] = 0;
	return result;
}

int ctf_sensors_declare(struct ctf_sensors *sensors, struct ctf_files *files, const struct ctf_writer_sensor *sensor,
			struct asterism_diag *diag, uint32_t *id)
{
	size_t next = sensors->count;
	int result;

	if (!next || next >= EVENT_PACKED_ID_LATE || sensors->text.length > CTF_METADATA_BYTES_MAX / 2)
		return diag_error(diag, NULL, -EINVAL, "a trace cannot have that many sensor types");
	if (alloc_grow(&sensors->layouts, &sensors->capacity, next, sizeof *sensors->layouts))
		return diag_no_memory(diag);
	result = describe_sensor(sensors, files, sensor, diag);
	if (result)
		return result;
	event_packed_init(&sensors->layouts[next], sensor->type, NULL);
	sensors->count++;
	*id = (uint32_t)next;
	return 0;
}
