/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SENSOR_DIRECTORY_H
#define SENSOR_DIRECTORY_H

/*
 * The directory of sensors: applications register and get memory, observers ask who is there and get it for reading
 * (sensor/protocol.h). One descriptor to wait for; each step is bounded. Clients are not believed, slow ones sent away.
 * Not thread-safe.
 */

#include "base/diag.h"
#include "sensor/layout.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct sensor_directory;

struct sensor_directory_options {
	const char *path;          /* NULL: $ASTERISM_SENSORS, or the system's for root, else the user's */
	const char *group;         /* whose members see all; NULL: none */
	struct sensor_shape shape; /* for who has no wish; 0: a good one */
	uint64_t user_bytes_max;   /* of the areas of one user; 0: 64 MiB, root 256 MiB */
	uint64_t all_bytes_max;    /* of all users' areas; 0: a quarter of the memory */
	bool always;               /* all gates are open as flight recorders */
};

struct sensor_directory_stats {
	uint64_t processes, observers, registered, refused;
	uint64_t displaced; /* who had most, for others who had nothing left */
	uint64_t malformed; /* clients sent away for what they sent */
	uint64_t slow;      /* for what they did not take */
	uint64_t lacking;   /* for what we lack: descriptors, memory */
	int lack;           /* -errno of the last of these */
	uint64_t bytes;     /* of all areas */
	bool is_replaced;   /* somebody has taken our socket's place: nobody finds us */
};

/* Returns 0; -EADDRINUSE: somebody serves there already; -errno. Messages say what it is. */
int sensor_directory_open(const struct sensor_directory_options *options, struct asterism_diag *diag,
			  struct sensor_directory **opened);

/* Clears all gates. */
void sensor_directory_close(struct sensor_directory *directory);

const char *sensor_directory_path(const struct sensor_directory *directory);

/* Readable (EPOLLIN) when there is something to do; a timer of its own is behind it, too. */
int sensor_directory_fd(const struct sensor_directory *directory);

/* Does it: a bounded share. Returns 0 or -errno. */
int sensor_directory_dispatch(struct sensor_directory *directory);

void sensor_directory_stats(const struct sensor_directory *directory, struct sensor_directory_stats *stats);

#endif
