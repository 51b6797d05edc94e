/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CLI_CONTAINER_NAME_H
#define CLI_CONTAINER_NAME_H

/*
 * The id of the container that its runtime calls so. Cgroups are called by ids; the names are in files in which Docker
 * and Podman keep what they know, and those are read, no runtime is asked. They belong to root; those of users' own
 * runtimes are not looked for.
 */

#include "base/diag.h"

enum { CONTAINER_NAME_ID_BYTES = 65, CONTAINER_NAME_UNREAD_BYTES = 96 };

struct container_named {
	char id[CONTAINER_NAME_ID_BYTES];         /* 64 digits */
	char unread[CONTAINER_NAME_UNREAD_BYTES]; /* of the files: "2 of docker and 1 of podman"; "": none */
};

/*
 * runtime: "docker", "podman", or NULL: any. root: the folder in which /var is, "" but for tests. Returns how many
 * there are, and stores the id of the last one found, and how many files of which runtime could not be read.
 */
int container_name_find(const char *root, const char *runtime, const char *name, struct container_named *named);

/* The same on this machine, of "web" or "podman:web". */
int container_name_id(const char *name, struct asterism_diag *diag, char id[CONTAINER_NAME_ID_BYTES]);

#endif
