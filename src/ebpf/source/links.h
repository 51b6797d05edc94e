/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef EBPF_SOURCE_LINKS_H
#define EBPF_SOURCE_LINKS_H

/*
 * What is attached, and the files in which probes stand. Such a file may be replaced while a session lasts, as by an
 * upgrade: processes that begin then have the new one mapped, and meet no probe.
 */

#include "base/diag.h"
#include "ebpf/kernel/attach-probe.h"

#include <stdbool.h>
#include <stddef.h>

struct probed_file;
struct source_spot;

/* What is attached where. */
struct links_owner {
	size_t program;
	const struct source_spot *spot; /* the probe in user code; NULL: at the program's tracepoint */
};

struct links {
	struct link *items;
	size_t count, capacity;
	struct probed_file *files;
	size_t file_count, file_capacity;
	uint64_t next_look_ns;
	struct asterism_diag *diag; /* is told while the session lasts */
};

/* Takes a descriptor whose closing detaches something of owner; place: of a probe in user code, whose path is borrowed,
 * else NULL. Returns 0 or -ENOMEM; then it is closed. */
int links_add(struct links *links, int fd, const struct links_owner *owner, const struct attach_place *place);

bool links_has(const struct links *links, const struct links_owner *owner);
void links_close_of(struct links *links, const struct links_owner *owner);

/* Closes them; those of probes last, side by side: each takes the kernel some 30 ms, in which the others would go on.
 */
void links_close(struct links *links);
void links_fini(struct links *links);

/* Looks at the files, once a second. Returns how many have newly been found to be others; each is told of once. */
uint64_t links_look(struct links *links, uint64_t now_ns);

/* How many files are others by now, told of or not. */
size_t links_replaced(const struct links *links);

#endif
