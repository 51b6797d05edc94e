// SPDX-License-Identifier: BSD-2-Clause
/* Finds by what the kernel knows the call of a sensor, and where the fields lie that it points to. */

#include "sensor/hook.h"

#include "sensor/key.h"
#include "sensor/layout.h"
#include "sensor/payload.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/syscall.h>

#define PAYLOAD "syscall_arg(4)"

static uint64_t hash_with_text(uint64_t key, const char *text)
{
	for (; *text; text++)
		key = sensor_key_byte(key, *text);
	return key;
}

/* As a record has them: whole words. */
static uint32_t capacity(const struct event_field_spec *field)
{
	return (uint32_t)sensor_round(field->bytes ? field->bytes : EVENT_STRING_BYTES, 8);
}

uint64_t sensor_hook_key(const struct event_type_spec *spec)
{
	uint64_t key = hash_with_text(hash_with_text(hash_with_text(SENSOR_KEY_BASIS, "EVENT"), spec->name), "{");

	for (uint32_t i = 0; i < spec->field_count; i++) {
		const struct event_field_spec *field = &spec->fields[i];
		char bytes[24] = "";

		if (field->value == EVENT_STRING)
			snprintf(bytes, sizeof bytes, "[%u]", capacity(field));
		key = hash_with_text(hash_with_text(hash_with_text(key, field->name), ":"),
				     event_value_name(field->value));
		key = hash_with_text(hash_with_text(key, bytes), ",");
	}
	return hash_with_text(key, "}");
}

static const char *field_path(struct arena *arena, const struct event_field *field, uint32_t offset)
{
	bool is_signed = (field->value >= EVENT_I8 && field->value <= EVENT_I64) || field->value == EVENT_TIME;
	const char *read = field->value == EVENT_STRING ? "user_chars" : is_signed ? "user_int" : "user_uint";

	return arena_format(arena, "%s(" PAYLOAD " + %" PRIu32 ", %" PRIu32 ")", read, offset,
			    sensor_payload_width(field));
}

int sensor_hook(struct arena *arena, const struct event_type_spec *spec, struct event_hook *hook)
{
	uint32_t offsets[EVENT_FIELDS_MAX];
	struct event_field fields[EVENT_FIELDS_MAX];
	struct event_type type = { .fields = fields, .own_count = spec->field_count };
	const char **paths = arena_zero(arena, spec->field_count, sizeof *paths);
	int units;

	for (uint32_t i = 0; i < spec->field_count; i++)
		fields[i] = (struct event_field){ .value = spec->fields[i].value, .bytes = capacity(&spec->fields[i]) };
	units = sensor_payload_lay(&type, offsets);
	if (units < 0)
		return units;
	*hook = (struct event_hook){ .tracepoint = "raw_syscalls:sys_enter", .paths = paths };
	hook->when = arena_format(arena,
				  "id == %d AND syscall_arg(0) == %u AND syscall_arg(1) == 0x%" PRIx64
				  " AND (current->thread_info.status & 2) == 0",
				  SYS_prctl, SENSOR_CALL, sensor_hook_key(spec));
	for (uint32_t i = 0; paths && i < spec->field_count; i++) {
		paths[i] = field_path(arena, &fields[i], offsets[i]);
		if (!paths[i])
			return -ENOMEM;
	}
	return paths && hook->when ? 0 : -ENOMEM;
}
