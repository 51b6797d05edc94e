/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CMD_SENSORS_DUMP_H
#define CMD_SENSORS_DUMP_H

#include "cmd/sensors/live.h"

/*
 * Writes what the rings of live still hold to standard output, in the order of time, in the format (text, json): events
 * of the sensors that pattern asks for. Says at the end what is missing. Returns 0 or -errno and a message.
 */
int dump_sensors(const struct live_sensors *live, const char *pattern, const char *format, struct asterism_diag *diag);

#endif
