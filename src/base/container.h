/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef BASE_CONTAINER_H
#define BASE_CONTAINER_H

/*
 * Which container or unit a cgroup belongs to, worked out from its path alone: container runtimes and systemd name the
 * cgroups that they make by rules of their own (the table in container.c). Paths come from whoever may make cgroups, so
 * what is said here is what a path claims.
 */

#include <stdbool.h>
#include <sys/types.h>

enum { CONTAINER_ID_BYTES = 256, CONTAINER_TEXT_BYTES = CONTAINER_ID_BYTES + 16 };

struct container {
	const char *runtime;         /* "docker", "podman", "machine", ...; NULL: id is a unit of systemd */
	char id[CONTAINER_ID_BYTES]; /* a name or 64 hex digits */
};

/* Returns false where the path names neither. A container counts more than a unit, inner ones more than outer ones. */
bool container_of_path(const char *path, struct container *container);

/* The same of a process's /proc/PID/cgroup: by its cgroup of version 2, else by the first one that names anything. */
bool container_of_text(const char *cgroups, struct container *container);
bool container_of_process(pid_t pid, struct container *container);

/* For people: "docker:3f2a9c1d0b5e", "machine:web", "nginx.service". */
void container_print(const struct container *container, char text[CONTAINER_TEXT_BYTES]);

#endif
