// SPDX-License-Identifier: BSD-2-Clause
/* Computes where fields lie in a payload: where a C compiler puts them. */

#include "sensor/payload.h"

#include "event/packed.h"
#include "sensor/layout.h"

#include <errno.h>

uint32_t sensor_payload_width(const struct event_field *field)
{
	return field->value == EVENT_STRING ? field->bytes : event_packed_width(field->value);
}

uint32_t sensor_payload_align(const struct event_field *field)
{
	return field->value == EVENT_STRING ? 1 : sensor_payload_width(field);
}

int sensor_payload_lay(const struct event_type *type, uint32_t *offsets)
{
	uint32_t at = 0;

	for (uint32_t i = 0; i < type->own_count; i++) {
		at = (uint32_t)sensor_round(at, sensor_payload_align(&type->fields[i]));
		if (offsets)
			offsets[i] = at;
		at += sensor_payload_width(&type->fields[i]);
	}
	at = (uint32_t)sensor_round(at, RING_UNIT_BYTES) / RING_UNIT_BYTES;
	return at <= SENSOR_PAYLOAD_UNITS_MAX ? (int)at : -E2BIG;
}
