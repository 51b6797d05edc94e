/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SESSION_RECORD_RECORDING_SENSORS_H
#define SESSION_RECORD_RECORDING_SENSORS_H

/*
 * How what applications raise gets into a trace: one stream of its own, in the order of time, whichever processes it
 * comes from. Types become known as processes announce them, and are declared in the trace before their first event.
 *
 * What has been taken from the applications' rings waits in one packet; while that cannot be written nothing more is
 * taken, so the rings hold it, and what they overwrite counts as lost. Everything happens in the calls of one thread at
 * a time.
 */

#include "base/diag.h"
#include "session/record/recording.h"
#include "trace/ctf/write.h"

#include <sys/types.h>

struct recording_sensors;

struct recording_sensors_options {
	const struct selection *what;                             /* its sensors; borrowed */
	bool (*in_scope)(void *context, pid_t pid, pid_t parent); /* parent: when it registered */
	void *context;
	uint64_t start_ns;          /* of the trace */
	struct stream_clock *clock; /* as in stream_options */
	bool is_quiet;              /* likewise */
};

/* diag is borrowed, and told while it goes on. As stream_new. */
int recording_sensors_new(const struct recording_sensors_options *options, struct asterism_diag *diag,
			  struct recording_sensors **made);
void recording_sensors_free(struct recording_sensors *sensors);

/*
 * Takes what there is, and writes packets that are full, or, to flush, all. *wait_ns is brought down to when the next
 * turn should be. The first failure to write is returned, as by ctf_writer_packet.
 */
int recording_sensors_turn(struct recording_sensors *sensors, struct ctf_writer *trace, bool flush, uint64_t *wait_ns);

/* Takes and writes all that was raised until now, and tells what is lost: the end. */
int recording_sensors_finish(struct recording_sensors *sensors, struct ctf_writer *trace);

/* For flight recordings, instead: looks after who is there, now and then. */
int recording_sensors_keep(struct recording_sensors *sensors);

/* Writes what the rings hold of since_ns to at_ns. Returns the first failure. */
int recording_sensors_snapshot(struct recording_sensors *sensors, struct ctf_writer *trace, uint64_t since_ns,
			       uint64_t at_ns);

void recording_sensors_count(const struct recording_sensors *sensors, struct recording_sensors_totals *totals);

#endif
