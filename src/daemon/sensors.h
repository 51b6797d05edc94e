/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef DAEMON_SENSORS_H
#define DAEMON_SENSORS_H

#include "daemon/options.h"

struct sensor_directory;

/* The directory of sensors. Returns 0, or -errno after a line in the log. */
int sensors_open(const struct options *options, struct sensor_directory **opened);

#endif
