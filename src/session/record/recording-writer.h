/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SESSION_RECORD_RECORDING_WRITER_H
#define SESSION_RECORD_RECORDING_WRITER_H

/*
 * How packets get from rings into traces: the work of a recording's thread. A writer belongs to one thread at a time,
 * with its diag.
 */

#include "ring/ring.h"
#include "session/record/recording-sensors.h"
#include "session/record/recording-state.h"
#include "session/record/recording-thread.h"

struct recording_writer;

/* In one piece of memory each, but for what the events refer to, which outlives the writer. */
struct recording_description {
	struct ctf_writer_event *events;
	size_t event_count;
	char **changes; /* as in ctf_writer_options */
	size_t change_count;
};

/* Copies all of it; NULL: no memory. */
struct recording_description *recording_description_new(const struct recording_description *from);
void recording_description_free(struct recording_description *description);

struct recording_writer_options {
	const char *path;                  /* of the trace or the snapshots; a directory that is there */
	mode_t mode;                       /* as in recording_options */
	bool flight;                       /* write snapshots only */
	uint64_t max_bytes;                /* as in recording_options */
	uint64_t last_ns;                  /* as in recording_options */
	uint64_t start_ns;                 /* no event is older */
	const struct ring *rings;          /* of one shape, one per CPU */
	uint32_t ring_count;               /* 0: nothing of the kernel is recorded */
	struct recording_sensors *sensors; /* borrowed; NULL: there are none */
	/* These must outlive the writer, as path must. */
	const struct ctf_writer_event *events;
	size_t event_count;
	const struct ctf_layout *layout; /* NULL: the catalog's names */
};

/* Begins a continuous trace. As ctf_writer_new; the diag is borrowed until the writer is freed. */
int recording_writer_new(const struct recording_writer_options *options, struct asterism_diag *diag,
			 struct recording_writer **made);
void recording_writer_free(struct recording_writer *writer);

/* The dump that a continuous trace begins with. */
struct recording_state *recording_writer_state(struct recording_writer *writer);

struct recording_work recording_writer_work(struct recording_writer *writer);

#endif
