/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef DAEMON_DAEMON_H
#define DAEMON_DAEMON_H

/* What the parts of the daemon know of each other. All of it belongs to one thread. */

#include "daemon/budget.h"
#include "daemon/clients.h"
#include "daemon/options.h"
#include "daemon/output.h"
#include "daemon/recordings.h"
#include "daemon/sensors.h"
#include "daemon/units.h"

#include <sys/stat.h>

struct expose_server;
struct sensor_directory;

struct daemon {
	const struct options *options;
	struct asterism_session *session;
	struct units units;
	struct clients clients;
	struct output output;
	struct budget budget;
	struct recordings recordings;
	struct expose_server *metrics;    /* NULL: none */
	struct sensor_directory *sensors; /* the same */
	bool is_unreachable;              /* its socket, as was logged */
	struct sensors_told sensors_told;
	int epoll_fd, signal_fd;
	uint64_t started_ns, next_tick_ns;
	uint64_t loads, reloads;
	size_t observed;    /* processes of --pid that have not ended */
	int dispatch_error; /* told last */
	uint64_t warnings;  /* of the session, in this second */
	bool is_ending;
};

/* matches.c: callbacks of the session; the context is the daemon. */
int daemon_on_match(void *context, const struct asterism_match *match);
int daemon_on_ask(void *context, const struct asterism_match *match, const struct asterism_ask *ask);
void daemon_on_aggregate(void *context, struct asterism_rules *rules, const char *json);

/* matches.c: a second is over: tells what was refused in it, and begins the next one. */
void daemon_count_second(struct daemon *daemon);

/* operations.c: does a request; the context is the daemon. */
void daemon_serve(void *context, struct client *client, const struct request *request,
		  const struct frame_message *body);

/* recording-operations.c: does a request about recordings; false: it is about something else. */
bool daemon_serve_recording(struct daemon *daemon, struct client *client, const struct request *request,
			    const struct frame_message *body);

/* query.c: the reply to the client's "query"; only: the unit that is asked about, NULL: all. */
void daemon_report_units(struct daemon *daemon, const struct unit *only, struct client *client);

/*
 * directory.c: makes the units be what the directory holds. Units whose file has not changed go on undisturbed; a file
 * that is wrong leaves the unit as it is. Stores in *wrong (NULL: not asked for) how many files are wrong. Returns 0,
 * or -errno where the directory itself cannot be used, after a line in the log: then all units stay as they are.
 */
int daemon_read_directory(struct daemon *daemon, size_t *wrong);

/* directory.c: whether only root and the user of the daemon can have written the file or folder. */
bool daemon_trusts(const struct stat *status);

/* directory.c: activates a unit, if there is room for it. Returns 0, or -errno with a sentence in error. */
int daemon_activate(struct daemon *daemon, struct unit *unit, char error[UNIT_ERROR_BYTES]);

#endif
