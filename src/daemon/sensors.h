/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef DAEMON_SENSORS_H
#define DAEMON_SENSORS_H

#include "daemon/options.h"

#include <stdbool.h>

struct sensor_directory;

/* The directory of sensors. Returns 0, or -errno after a line in the log. */
int sensors_open(const struct options *options, struct sensor_directory **opened);

/* Does what there is to do. *is_unreachable: what was logged about it last; at first false. */
void sensors_serve(struct sensor_directory *directory, bool *is_unreachable);

#endif
