/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SENSOR_STREAM_PROCESS_H
#define SENSOR_STREAM_PROCESS_H

/*
 * A process that has sensors: its area, a reader for each of its rings, and what its types are. The area is nobody's
 * word; the process's number, the shape and the types are the directory's.
 */

#include "base/diag.h"
#include "sensor/observer.h"
#include "sensor/stream/reader.h"

/* An event type that somebody wants: how the catalog has it, what it is asked for by, and the number that its records
 * are to have. */
struct stream_want {
	const struct event_type *type; /* NULL: whatever is announced under that name */
	const char *name;              /* as sensor/pattern.h has it */
	uint32_t number;
	uint64_t announced; /* by processes that are read, with these fields */
};

/* A type as a process announces it. */
struct stream_announced {
	const char *program, *path;    /* the process's name, and its program's path or "" */
	const char *text;              /* the type's paragraph, */
	const struct event_type *type; /* and what that says, for the moment */
};

struct stream_wants {
	struct stream_want *items;
	size_t count;
	/*
	 * For wants without a type: how records of what is announced are to be, and their number. Records are no larger
	 * than STREAM_RECORD_BYTES_MAX. Returns 0; 1: nobody wants it after all; -errno.
	 */
	int (*take)(void *context, const struct stream_announced *announced, const struct event_type **type,
		    uint32_t *number);
	void *context;
};

/* The names of those that nobody has announced, count at most; *known gets them. Returns how many there are. */
size_t stream_unannounced(const struct stream_wants *wants, const char **known, size_t count);

/* A record of what an application may announce: each number takes eight bytes there. */
enum { STREAM_RECORD_BYTES_MAX = sizeof(struct event_header) + 8 * (EVENT_FIELDS_MAX + SENSOR_PAYLOAD_UNITS_MAX) };

struct stream_process {
	uint64_t number, birth_ticks; /* in its directory; of /proc */
	uint32_t pid, parent;
	char comm[SENSOR_COMM_BYTES];
	char path[SENSOR_PATH_BYTES]; /* of its program; empty: not known */
	bool is_in;                   /* scope: it is read */
	bool has_ended;               /* nobody writes any more */
	bool was_judged;              /* while it was there, to be out of scope */
	bool is_reported;             /* what is wrong with its memory */
	bool is_damaged;              /* its counter: what it says of dropped elements is not believed any more */
	struct sensor_mapping *area;
	uint64_t dropped, dropped_at_ns; /* what found no ring, as it was seen last */
	uint32_t types;                  /* told of so far */
	uint32_t units[SENSOR_TYPES_MAX + 1];
	struct stream_form forms[SENSOR_TYPES_MAX + 1];
	struct stream_reader *readers; /* of the rings */
	uint32_t reader_count;
};

/*
 * Whether a counter of events can have grown by so much in so many ns: each takes more than one. Where it cannot, what
 * stands there is not what was counted.
 */
static inline bool stream_count_may_be(uint64_t grown, uint64_t ns)
{
	return grown <= ns;
}

/* It is read from here on. */
void stream_process_join(struct stream_process *process, const struct stream_wants *wants);

/* Takes the area on success. Returns 0, -ENOMEM. */
int stream_process_new(const struct sensor_process *told, struct sensor_mapping *area, struct stream_reading *reading,
		       struct stream_process **made);
void stream_process_free(struct stream_process *process);

/* Its readers begin anew with what its rings hold; they are no inputs of any merge. Returns 0, -ENOMEM: it has none. */
int stream_process_rewind(struct stream_process *process, struct stream_reading *reading);

/*
 * The process has a type, which its paragraph in the notation of catalogs describes. Its rings may be read by another
 * thread meanwhile. One of another shape than the
 * wanted one of its name is not read; a warning tells which. Returns 0, -ENOMEM, -EBADMSG.
 */
int stream_process_type(struct stream_process *process, const struct sensor_type *told, const char *text,
			const struct stream_wants *wants, struct asterism_diag *diag);

/* Elements that found no ring since this was asked last, or since the process is known here. now_ns: CLOCK_MONOTONIC.
 */
uint64_t stream_process_dropped(struct stream_process *process, uint64_t now_ns);

/* Whether something in its memory makes no sense, which its owner has not reported: from now on that is. */
bool stream_process_is_broken(struct stream_process *process);

/* What is to be said of it then. */
const char *stream_process_damage(const struct stream_process *process);

/* Of one that has ended: elements that were begun and never committed. */
uint32_t stream_process_unfinished(const struct stream_process *process);

#endif
