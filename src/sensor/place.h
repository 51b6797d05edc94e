/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SENSOR_PLACE_H
#define SENSOR_PLACE_H

/* Where the socket of a directory is. */

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum { SENSOR_PLACE_BYTES = 108 };

/*
 * Path number index of those that are looked at: the environment's alone if it has one, else the system's, the user's.
 * False: there are no more.
 */
bool sensor_place_get(int index, char path[SENSOR_PLACE_BYTES]);

/* Where a directory of this user serves. Returns 0; -ENOENT: nothing says where; -ENAMETOOLONG. */
int sensor_place_own(const char *given, char path[SENSOR_PLACE_BYTES]);

/*
 * A socket that listens there; a folder that is missing is made. One that nobody listens at is replaced. Returns it,
 * or -EADDRINUSE: somebody does; -EEXIST: something else is there, or another user's; -EPERM: somebody else can put
 * another one there; -errno.
 */
int sensor_place_listen(const char *path);

/* A connection to it, or -errno. */
int sensor_place_connect(const char *path);

/* Whether who serves there is root or this user: anybody else at a place that is nobody's wish has taken it. */
bool sensor_place_is_trusted(int fd);

/* What is there, to tell whether it is still the same. False: nothing. */
struct sensor_place_id {
	dev_t device;
	ino_t inode;
};

bool sensor_place_identify(const char *path, struct sensor_place_id *id);

#endif
