/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SENSOR_PAYLOAD_H
#define SENSOR_PAYLOAD_H

/* Where the fields of a type lie in a sensor's payload: as in the C struct that applications fill. */

#include "event/type.h"

/* Bytes that a field takes there, and what its offset is a multiple of. */
uint32_t sensor_payload_width(const struct event_field *field);
uint32_t sensor_payload_align(const struct event_field *field);

/*
 * The offset of every field (of type->own_count) to offsets, if that is not NULL. Returns the units of the payload, at
 * most SENSOR_PAYLOAD_UNITS_MAX, or -E2BIG.
 */
int sensor_payload_lay(const struct event_type *type, uint32_t *offsets);

#endif
