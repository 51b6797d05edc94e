// SPDX-License-Identifier: BSD-2-Clause
/* libasterism-sensor: what a program may also have in a file of its own. */

#define ASTERISM_SENSOR_IMPLEMENTATION
#include "sensor/client/sensor.h"
