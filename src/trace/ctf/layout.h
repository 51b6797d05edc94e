/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TRACE_CTF_LAYOUT_H
#define TRACE_CTF_LAYOUT_H

/*
 * A trace with LTTng's names (docs/formats/lttng.md): what its metadata calls events and fields, and what becomes of
 * packets when they are written. They stay as they are but for two things. LTTng has an event class for each system
 * call, so an event of sys_enter or sys_exit gets the id of the class of the call whose number it holds. And where
 * LTTng's event says itself who raised it, that is put behind what was recorded. Read-only once made.
 */

#include "event/catalog.h"
#include "event/packed.h"
#include "trace/ctf/lttng-map.h"
#include "trace/ctf/metadata.h"

struct ctf_layout;

/* The entry of the environment by which a trace with LTTng's names says that asterism recorded it. */
#define CTF_ENV_RECORDER "asterism_version"

/* A recorded type. Its id in packets is its index among all of them plus EVENT_PACKED_ID_FIRST. */
struct ctf_writer_event {
	const struct event_type *type;
	const bool *recorded; /* per field; NULL: all */
};

/* The event classes that no type stands for. */
enum {
	CTF_ID_STATE_START = CTF_ID_MATCH - 3,
	CTF_ID_STATE_PROCESS, /* struct ctf_process */
	CTF_ID_STATE_END,
};

/* LTTng's values for what a state dump says of a thread. */
enum {
	CTF_USER_THREAD = 0,
	CTF_KERNEL_THREAD = 1,
	CTF_MODE_UNKNOWN = 5,
	CTF_SUBMODE_UNKNOWN = 1,
	CTF_STATUS_UNNAMED = 0,
	CTF_STATUS_WAIT_CPU = 2,
	CTF_STATUS_ZOMBIE = 4,
	CTF_STATUS_WAIT = 5,
	CTF_STATUS_DEAD = 7,
};

/* The payload of CTF_ID_STATE_PROCESS, the name only up to its NUL. */
struct ctf_process {
	int32_t tid, vtid, pid, vpid, ppid, vppid;
	int32_t type, mode, submode, status;
	int32_t ns_level; /* of PID namespaces: 0 is the first */
	uint32_t ns_inum, cpu;
	char name[EVENT_COMM_BYTES];
};

struct ctf_layout_options {
	const struct lttng_map *map;
	const struct event_catalog *catalog; /* whose types tell about system calls */
	const struct ctf_writer_event *events;
	size_t event_count;
};

/*
 * Names the events; nothing of options is kept. Returns 0, -EINVAL (so many types do not fit), -ENOMEM, with a
 * sentence.
 */
int ctf_layout_new(const struct ctf_layout_options *options, struct asterism_diag *diag, struct ctf_layout **made);
void ctf_layout_free(struct ctf_layout *layout);

/* All event classes, for the metadata. */
const struct ctf_event *ctf_layout_events(const struct ctf_layout *layout, size_t *count);

/* What is behind the header of a packet, up to the end of the last event, without its padding. */
struct ctf_events {
	const char *bytes;
	size_t length;
};

/* An event of eight bytes takes as many after ctf_layout_apply. */
enum { CTF_LAYOUT_GROWTH = 5 };

/*
 * Writes the events of a packet as they are in the trace to `to`, which has room for CTF_LAYOUT_GROWTH times as much.
 * They are sound by packed, which is by id. Returns the bytes up to the end of the last one.
 */
size_t ctf_layout_apply(const struct ctf_layout *layout, const struct event_packed *packed,
			const struct ctf_events *events, char *to);

/* The bytes of process as a payload, not padded. */
size_t ctf_process_bytes(const struct ctf_process *process);

#endif
