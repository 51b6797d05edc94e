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

enum {
	CONTAINER_ID_BYTES = 256,
	CONTAINER_TEXT_BYTES = 128, /* of what people read: longer names are cut, those of units end in "..." then */
	CONTAINER_HEX_DIGITS = 64,  /* of an id */
	CONTAINER_SHOWN_DIGITS = 12,
};

/* Of what an id consists. */
enum container_form { CONTAINER_HEX, CONTAINER_NAME, CONTAINER_UNIT_NAME /* as systemd escapes it */ };

/*
 * One way of calling a folder: what stands before and behind the id. Where a runtime was to make units and had none,
 * "slice:runtime:id" is one folder: before what ends in a colon anything that ends in ".slice:" may stand.
 */
struct container_convention {
	const char *runtime;
	const char *parent; /* the folder that it is in; NULL: any */
	const char *before, *behind;
	enum container_form form;
};

/* The first that a folder follows says what it is; kernel programs are made of the same rows (ebpf/path). */
enum { CONTAINER_CONVENTIONS = 18 };
extern const struct container_convention container_conventions[CONTAINER_CONVENTIONS];

struct container {
	const char *runtime; /* "docker", "podman", "machine", ...; NULL: id is a unit of systemd */
	enum container_form form;
	char id[CONTAINER_ID_BYTES];
};

/* Returns false where the path names neither. A container counts more than a unit, inner ones more than outer ones. */
bool container_of_path(const char *path, struct container *container);

/* The same of a process's /proc/PID/cgroup: by its cgroup of version 2, else by the first one that names anything. */
bool container_of_text(const char *cgroups, struct container *container);
bool container_of_process(pid_t pid, struct container *container);

/* For people: "docker:3f2a9c1d0b5e", "machine:web", "nginx.service"; cut to what fits. */
void container_print(const struct container *container, char text[CONTAINER_TEXT_BYTES]);

#endif
