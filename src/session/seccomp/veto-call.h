/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SESSION_SECCOMP_VETO_CALL_H
#define SESSION_SECCOMP_VETO_CALL_H

/*
 * Events made of held system calls: what the catalog says about the beginning of a call, read for what a notification
 * of seccomp holds - its number and its arguments - and for the memory of the thread that waits.
 */

#include "event/path.h"
#include "event/type.h"

#include <linux/seccomp.h>

enum { VETO_CALLS_MAX = 512 }; /* numbers of system calls lie below */

/* A body field: how it comes from a call, and where it goes. */
struct veto_field {
	const struct event_path *path; /* NULL: not wanted */
	enum event_value value;
	uint32_t offset, bytes; /* in the record */
};

/* One of the sources of a type. */
struct veto_source {
	struct event_path_conditions when;
	struct veto_field *fields;
};

struct veto_type {
	const char *name;
	uint32_t index, record_bytes, field_count;
	struct veto_source *sources;
	uint32_t source_count;
};

struct veto_wish {
	const struct event_type *type;
	const bool *fields; /* per body field, whether it is to be filled */
};

/*
 * Reads a type of the catalog. Returns 0; -EINVAL with one clause in reason when a call does not tell what is wished;
 * -ENOMEM.
 */
int veto_type_init(struct veto_type *made, const struct veto_wish *wish, struct arena *arena, char *reason,
		   size_t size);

/* Marks the numbers of the calls that may be of type. Returns -EINVAL when these may be all. */
int veto_type_numbers(const struct veto_type *type, bool numbers[VETO_CALLS_MAX]);

/* Of which of its sources the call is, or NULL. */
const struct veto_source *veto_type_source(const struct veto_type *type, const struct seccomp_data *call);

/* The memory of the thread whose call is held. */
struct veto_memory {
	/*
	 * Copies the string at address to text, size bytes with its NUL at most; text is zeroed before. Leaves it empty
	 * where there is no memory. Returns 0, or -errno when it may not be read.
	 */
	int (*read)(void *context, uint64_t address, char *text, size_t size);
	void *context;
};

/* Fills the body of record, zeroed before. Returns 0 or what read returned. */
int veto_type_fill(const struct veto_type *type, const struct veto_source *source, const struct seccomp_data *call,
		   const struct veto_memory *memory, struct event_header *record);

#endif
