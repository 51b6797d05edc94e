/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SESSION_RECORD_TAPE_WRITER_H
#define SESSION_RECORD_TAPE_WRITER_H

/*
 * How packets get from rings into traces: the work of a tape's thread. A writer belongs to one thread at a time, with
 * its diag.
 */

#include "ring/ring.h"
#include "session/record/tape-state.h"
#include "session/record/tape-thread.h"

struct tape_writer;

struct tape_writer_options {
	const char *path;         /* of the trace or the snapshots; a directory that is there */
	mode_t mode;              /* as in tape_options */
	bool flight;              /* write snapshots only */
	uint64_t max_bytes;       /* as in tape_options */
	uint64_t last_ns;         /* as in tape_options */
	uint64_t start_ns;        /* no event is older */
	const struct ring *rings; /* of one shape, one per processor */
	uint32_t ring_count;
	/* These must outlive the writer, as path must. */
	const struct ctf_writer_event *events;
	size_t event_count;
	const struct ctf_layout *layout; /* NULL: the catalog's names */
};

/* Begins a continuous trace. As ctf_writer_new; the diag is borrowed until the writer is freed. */
int tape_writer_new(const struct tape_writer_options *options, struct asterism_diag *diag, struct tape_writer **made);
void tape_writer_free(struct tape_writer *writer);

/* The dump that a continuous trace begins with. */
struct tape_state *tape_writer_state(struct tape_writer *writer);

struct tape_work tape_writer_work(struct tape_writer *writer);

#endif
