/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SENSOR_HOOK_H
#define SENSOR_HOOK_H

/* Where a kernel raises the events of a sensor: at the call that its application makes while its gate says so. */

#include "base/alloc.h"
#include "event/catalog.h"

/* Fills *hook for the sensor that spec describes; texts go to arena. Returns 0, -E2BIG: no payload is so large,
 * -ENOMEM.
 */
int sensor_hook(struct arena *arena, const struct event_type_spec *spec, struct event_hook *hook);

/* What the application calls the kernel with: sensor_key of the paragraph that it has. */
uint64_t sensor_hook_key(const struct event_type_spec *spec);

#endif
