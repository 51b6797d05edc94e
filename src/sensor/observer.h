/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SENSOR_OBSERVER_H
#define SENSOR_OBSERVER_H

/*
 * The other end of a directory's socket, for who reads sensors. What the directory says is checked for making sense,
 * and areas are mapped for reading; their contents are nobody's word. Not thread-safe.
 */

#include "ring/ring.h"
#include "sensor/layout.h"
#include "sensor/protocol.h"

#include "base/diag.h"

struct sensor_observer;

/* What a directory tells. Only what belongs to its kind is set. */
struct sensor_notice {
	enum sensor_kind kind; /* SENSOR_PROCESS, SENSOR_TYPE, SENSOR_ENDED, SENSOR_END, SENSOR_LEFT_OUT */
	uint64_t number;       /* of the process; 0 with END */
	const struct sensor_process *process;
	struct sensor_mapping *area; /* with PROCESS, if asked for: the taker's, to be freed */
	int fault;                   /* with PROCESS: why there is no area although one was asked for, or 0 */
	const struct sensor_type *type;
	const char *text; /* the type's paragraph; with LEFT_OUT: why */
};

/* An area, mapped for reading. */
struct sensor_mapping {
	void *memory;
	uint64_t bytes;
	uint64_t inode; /* what memory it is: another one is another's, also of the same process */
	struct sensor_shape shape;
	enum ring_clock clock;
};

void sensor_mapping_free(struct sensor_mapping *mapping);

/* Ring number index of it, of mapping->shape.slots. */
struct ring sensor_mapping_ring(const struct sensor_mapping *mapping, uint32_t index);

/* The socket to ask where path is NULL: what the environment says, the system's, the user's. Writes it to path_found
 * if that is not NULL (108 bytes). Returns 0; -ENOENT: nobody serves; -EACCES, -errno; messages say what to do. */
int sensor_observer_open(const char *path, char *path_found, struct asterism_diag *diag,
			 struct sensor_observer **opened);
void sensor_observer_close(struct sensor_observer *observer);

/* Readable when there are notices. */
int sensor_observer_fd(const struct sensor_observer *observer);

/* What stands behind an error of the calls below: the directory's reason, if it gave one, else strerror's words. */
const char *sensor_observer_reason(const struct sensor_observer *observer, int error);

/* Whether the directory is of this process, which then cannot wait for its own answer. */
bool sensor_observer_is_own(const struct sensor_observer *observer);

/* Asks (flags: enum sensor_observe_flags). Returns 0 or -errno. */
int sensor_observer_ask(struct sensor_observer *observer, const char *pattern, uint32_t flags);

/*
 * The next notice, valid until the next call. wait_ms 0: does not wait; -1: as long as it takes. Returns 1; 0: there is
 * none now; -EPIPE: the directory is gone, or -errno: it refuses; -EBADMSG.
 */
int sensor_observer_next(struct sensor_observer *observer, int wait_ms, struct sensor_notice *notice);

/* The directory's clock, once a notice has come; NULL: the clock is CLOCK_MONOTONIC. */
const struct sensor_clock *sensor_observer_clock(const struct sensor_observer *observer);

#endif
