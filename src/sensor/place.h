/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SENSOR_PLACE_H
#define SENSOR_PLACE_H

/* Where the socket of a directory is. */

#include <stdbool.h>
#include <stddef.h>

enum { SENSOR_PLACE_BYTES = 108 };

/*
 * Path number index of those that are looked at: the environment's alone if it has one, else the system's, the user's.
 * False: there are no more.
 */
bool sensor_place_get(int index, char path[SENSOR_PLACE_BYTES]);

/* Where a directory of this user serves. Returns 0; -ENOENT: nothing says where; -ENAMETOOLONG. */
int sensor_place_own(const char *given, char path[SENSOR_PLACE_BYTES]);

/*
 * A socket that listens there; folders that are missing are made. One that nobody listens at is replaced. Returns it,
 * or -EADDRINUSE: somebody does; -errno.
 */
int sensor_place_listen(const char *path);

/* A connection to it, or -errno. */
int sensor_place_connect(const char *path);

#endif
