/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SESSION_RECORD_RECORDING_PRIV_H
#define SESSION_RECORD_RECORDING_PRIV_H

/* What a recording consists of. */

#include "base/kin.h"
#include "ebpf/recorder/record.h"
#include "sensor/stream/clock.h"
#include "session/record/recording-writer.h"
#include "session/record/recording.h"

#include <pthread.h>

struct recording {
	const struct recording_options options;
	struct asterism_diag *diag;
	uint32_t sub_count; /* of a ring; 0: there are none */
	struct ebpf_recorder *recorder;
	struct ctf_writer_event *events; /* all that were ever taken */
	size_t event_count, event_capacity;
	struct ctf_layout *layout; /* NULL: the catalog's names */
	struct asterism_diag *writer_diag;
	struct recording_writer *writer; /* the thread's, with its diag */
	struct recording_thread *thread;
	struct recording_marks *marks;     /* of a flight recording, for the next snapshot */
	struct recording_sensors *sensors; /* NULL: there are none; the thread's, too */
	struct stream_clock clock;         /* theirs */
	struct kin *kin;                   /* who is in scope where no kernel tells; NULL: it does */
	pthread_mutex_t scope_lock;
	bool scope_is_open;
	uint64_t unmarked, unmade; /* marks, snapshots: for want of memory or of time */
	bool made_folder, finished;
	/* Of what recording_mask has done: the fields of the events that it has added, and what it has changed. */
	bool **fields;
	size_t field_count, field_capacity;
	char **changes;
	size_t change_count, change_capacity;
};

void recording_mask_fini(struct recording *recording);

#endif
