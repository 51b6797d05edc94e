/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef DAEMON_RECORDINGS_H
#define DAEMON_RECORDINGS_H

/*
 * The recordings of the daemon: each has a name, and its trace is the folder of that name in the one of --recordings,
 * which is root's alone. What all of them take together is bounded; clients never say a path.
 */

#include "asterism/asterism.h"
#include "base/text.h"
#include "daemon/options.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum {
	RECORDINGS_MAX = 4,         /* at a time */
	RECORDINGS_OF_USER_MAX = 1, /* of users other than root */
	RECORDINGS_KEPT_MAX = 256,  /* traces in the folder */
	RECORDINGS_NAME_BYTES = 65,
	RECORDINGS_WHY_BYTES = 640,
};

struct daemon;

struct daemon_recording {
	char name[RECORDINGS_NAME_BYTES];
	uid_t owner;
	bool flight;
	uint64_t max_bytes;           /* that the trace may take */
	uint64_t ring_bytes;          /* of all CPUs */
	uint64_t started_ns, told_ns; /* CLOCK_MONOTONIC; told: of losses, last */
	uint64_t told_lost;
	char error[RECORDINGS_WHY_BYTES];  /* what went wrong last; "": nothing */
	struct asterism_recording *engine; /* NULL: the place is free */
};

struct recordings {
	const char *folder; /* NULL: none was given, and nothing is recorded */
	uint64_t bytes_max;
	struct daemon_recording items[RECORDINGS_MAX];
	uint64_t events, lost, begun; /* of those that have ended */
};

/* What a client wants. */
struct recordings_order {
	const char *name;   /* "": a name is made of the time */
	const char *events; /* as in asterism_recording_options; "": the usual */
	uid_t owner;
	bool flight;
	uint64_t max_bytes, ring_bytes, last_ns; /* 0: as is usual */
};

/* Makes or checks the folder. Returns 0 or -errno after a line in the log. */
int recordings_open(struct recordings *recordings, const struct options *options);

/* Ends all. */
void recordings_close(struct recordings *recordings);

/* Tells the log what has happened since the last time; once a second. */
void recordings_look(struct recordings *recordings, uint64_t now_ns);

/* How many are under way, of one user where of_user. */
size_t recordings_count(const struct recordings *recordings, bool of_user, uid_t user);
struct daemon_recording *recordings_find(struct recordings *recordings, const char *name);

/* Whether a trace may have such a name: 1 to 64 letters, digits, '-' and '_'. */
bool recordings_is_name(const char *name);

/*
 * Begins one. Returns 0; -EINVAL (wrong events or options), -EEXIST, -EDQUOT (no room is left), another -errno, with a
 * sentence in why.
 */
int recordings_start(struct daemon *daemon, const struct recordings_order *order, struct daemon_recording **started,
		     char why[RECORDINGS_WHY_BYTES]);

/* Ends it; the place is free, and what it has come to in stats. */
void recordings_stop(struct recordings *recordings, struct daemon_recording *recording,
		     struct asterism_recording_stats *stats);

/* Whether there is room for a snapshot; else false, with a sentence. */
bool recordings_has_room(const struct recordings *recordings, const struct daemon_recording *recording,
			 char why[RECORDINGS_WHY_BYTES]);

/* Bytes of all traces in the folder, and how many traces. */
void recordings_usage(const struct recordings *recordings, uint64_t *bytes, size_t *traces);

/* Events of which something was lost, whatever the reason. */
uint64_t recordings_lost(const struct asterism_recording_stats *stats);

#endif
