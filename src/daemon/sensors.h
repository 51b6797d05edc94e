/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef DAEMON_SENSORS_H
#define DAEMON_SENSORS_H

#include "daemon/options.h"

#include <stdbool.h>

struct sensor_directory;

/* What the log has been told of those who were sent away. */
struct sensors_told {
	uint64_t lacking, refused, at_ns;
};

/* The directory of sensors. Returns 0, or -errno after a line in the log. */
int sensors_open(const struct options *options, struct sensor_directory **opened);

/* Does what there is to do. *is_unreachable: what was logged about it last; at first false. */
void sensors_serve(struct sensor_directory *directory, bool *is_unreachable);

/* Tells the log whom the directory had to send away since the last time, every ten seconds at most. */
void sensors_look(const struct sensor_directory *sensors, uint64_t now_ns, struct sensors_told *told);

#endif
