/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SENSOR_PROTOCOL_H
#define SENSOR_PROTOCOL_H

/*
 * What applications and observers say to the directory of sensors, over a UNIX socket of type SEQPACKET: one message a
 * packet, a struct that begins with its kind, with texts behind it where it says so. C11 and C++11.
 *
 *	application                          directory
 *	REGISTER [fd: its area of before] ->
 *	                                  <- AREA [fds: area, gates], or REFUSED
 *	                                     with an area of before: AREA [fd: gates]
 *	MAPPED (not with that)            ->
 *	                                     seals the area: SHRINK GROW FUTURE_WRITE SEAL
 *	TYPES, any number                 ->
 *	                                  <- TAKEN for each; gates that are open are so before it comes
 *	PRESENCE, any number              ->
 *	ALWAYS, before its TYPES, or not  -> its gates stay open
 *
 *	observer
 *	OBSERVE                           ->
 *	                                  <- CLOCK [fd], once
 *	                                  <- for every process that has a type that the pattern means: PROCESS [fd:
 *area], then a TYPE for each of all its types, in the order of their ids
 *	                                  <- LEFT_OUT for every process that was refused and is there yet
 *	                                  <- END
 *	                                  <- from then on, with SENSOR_FOLLOW: PROCESS, TYPE, ENDED, LEFT_OUT as it
 *happens
 *
 * An observer may send several; the next is sent when END has come. Nothing is told twice on one socket. Gates of the
 * types that a pattern means are open as long as the socket that sent it. A TYPE is sent before its gate is opened, so
 * who meets an id in a ring that it does not know finds it in its socket.
 *
 * Rights: the peer's credentials. An application is who it is; an observer sees the processes of its own user, root
 * and the members of the directory's group see all. Descriptors of areas are open for reading.
 */

#include <stdint.h>
#include <string.h>

enum {
	SENSOR_PROTOCOL_VERSION = 1,
	SENSOR_MESSAGE_BYTES_MAX = 1 << 15,
	SENSOR_COMM_BYTES = 16,
	SENSOR_PATH_BYTES = 256,
	SENSOR_NAME_BYTES = 64, /* of a type, with its NUL */
};

/*
 * Beside $ASTERISM_SENSORS, which is a path, or "off" in applications; "always" before a path and a colon, or alone,
 * makes these flight recorders. Others look below $XDG_RUNTIME_DIR, but first here.
 */
#define SENSOR_SOCKET_SYSTEM   "/run/asterism/sensors"
#define SENSOR_SOCKET_USER     "asterism/sensors"
#define SENSOR_SOCKET_VARIABLE "ASTERISM_SENSORS"
#define SENSOR_SOCKET_ALWAYS   "always"

/* How large an application would like each of its rings: a number of bytes, or of K or M. */
#define SENSOR_RING_VARIABLE "ASTERISM_SENSORS_RING"

static inline int sensor_socket_is_always(const char *value)
{
	const size_t length = sizeof SENSOR_SOCKET_ALWAYS - 1;

	return value && !strncmp(value, SENSOR_SOCKET_ALWAYS, length) && (!value[length] || value[length] == ':');
}

/* The path that the variable's value has, or NULL. */
static inline const char *sensor_socket_path(const char *value)
{
	if (!sensor_socket_is_always(value))
		return value;
	value += sizeof SENSOR_SOCKET_ALWAYS - 1;
	return *value && value[1] ? value + 1 : NULL;
}

enum sensor_kind {
	SENSOR_REGISTER = 1,
	SENSOR_AREA,
	SENSOR_MAPPED,
	SENSOR_TYPES,
	SENSOR_TAKEN,
	SENSOR_REFUSED,
	SENSOR_OBSERVE,
	SENSOR_CLOCK,
	SENSOR_PROCESS,
	SENSOR_TYPE,
	SENSOR_ENDED,
	SENSOR_END,
	SENSOR_PRESENCE,
	SENSOR_ALWAYS,
	SENSOR_LEFT_OUT,
	SENSOR_KINDS,
};

struct sensor_message {
	uint32_t kind;
	uint32_t version; /* SENSOR_PROTOCOL_VERSION */
};

/* The shape is what an application would like (0: no wish), or what its area of before has. */
struct sensor_register {
	struct sensor_message head;
	uint32_t slots, sub_units, sub_count;
	uint32_t types_before; /* with an area of before: the ids that may stand in it; their texts come again, as TYPES
				*/
};

struct sensor_area_message {
	struct sensor_message head;
	uint32_t slots, sub_units, sub_count;
	uint32_t clock; /* enum ring_clock */
	uint32_t pid;   /* of the application, as the directory sees it */
	uint32_t reserved;
	uint64_t number; /* of the process; never used again */
};

/* Behind it count paragraphs of a catalog, an EVENT without source each, each with its NUL. */
struct sensor_types {
	struct sensor_message head;
	uint32_t first; /* id of the first; they go on from the last message */
	uint32_t count;
};

/* Behind it count bytes: 0 where the type is taken, else enum sensor_fault. */
struct sensor_taken {
	struct sensor_message head;
	uint32_t first, count;
};

enum sensor_fault { SENSOR_FINE, SENSOR_IS_WRONG, SENSOR_IS_TOO_LARGE, SENSOR_IS_KNOWN /* by that name */ };

/* Whether the process can still raise events of the type: a library that had it may have been unloaded. */
struct sensor_presence {
	struct sensor_message head;
	uint32_t id;
	uint32_t is_absent;
};

/* Behind it a text with its NUL. The directory closes the socket. */
struct sensor_refused {
	struct sensor_message head;
	int32_t error; /* -errno */
	uint32_t reserved;
};

enum sensor_observe_flags {
	SENSOR_FOLLOW = 1,    /* what comes later, too, and ENDED */
	SENSOR_OPEN = 2,      /* opens the gates of the types that the pattern means */
	SENSOR_AREAS = 4,     /* PROCESS comes with the area */
	SENSOR_ENDED_TOO = 8, /* processes that have ended and whose areas are kept */
	SENSOR_KERNEL = 16,   /* as SENSOR_OPEN, for programs in the kernel: SENSOR_GATE_KERNEL */
};

/*
 * Behind it a pattern with its NUL: "NAME" is the type of that name of any process, "PROGRAM:NAME" of those whose name
 * (comm), program's file name or, where it begins with /, its path is PROGRAM. NAME may be "*". An empty pattern is
 * "*".
 */
struct sensor_observe {
	struct sensor_message head;
	uint32_t flags;
	uint32_t reserved;
};

struct sensor_process {
	struct sensor_message head;
	uint64_t number;
	uint64_t birth_ticks;
	uint64_t made_ns; /* when it got its memory, CLOCK_MONOTONIC; 0: it has had that with another directory */
	uint32_t pid, uid, gid;
	uint32_t parent; /* when it registered */
	uint32_t reserved;
	uint32_t slots, sub_units, sub_count;
	uint32_t clock;
	uint32_t is_ended;
	uint32_t is_foreign; /* its own process ids are those of another namespace: the tids in its rings, too */
	uint32_t types;      /* so many TYPEs come next: before them its area says things that cannot be read */
	char comm[SENSOR_COMM_BYTES];
	char path[SENSOR_PATH_BYTES]; /* of its program; empty: not known */
};

/*
 * SENSOR_LEFT_OUT is a struct sensor_process, too, of one that was refused: it has no area, and no types are known.
 * Behind it why, with its NUL. It is told of whatever the pattern, once.
 */

/* Behind it the paragraph with its NUL. A type that was not taken is not told of; its id stands in no ring. */
struct sensor_type {
	struct sensor_message head;
	uint64_t number; /* of the process */
	uint32_t id;
	uint32_t units;   /* of its payload */
	uint32_t readers; /* at this moment */
	uint32_t gate;
	uint32_t is_absent; /* at this moment: what it wrote may stand in rings */
	uint32_t reserved;
	char name[SENSOR_NAME_BYTES];
};

/* Of a process; its area stays readable for who has it. END has number 0. */
struct sensor_ended {
	struct sensor_message head;
	uint64_t number;
};

struct sensor_clock_message {
	struct sensor_message head;
	uint32_t clock; /* enum ring_clock */
	uint32_t reserved;
};

#endif
