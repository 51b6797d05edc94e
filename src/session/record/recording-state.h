/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SESSION_RECORD_RECORDING_STATE_H
#define SESSION_RECORD_RECORDING_STATE_H

/*
 * The state dump of a recording: LTTng's events about the threads in scope when it began. All of them have the time
 * just before the programs were attached, so they stand before the first event, and /proc is read after it: a thread
 * that is made meanwhile is in the dump, in the events, or in both. Nothing is written before the recording is under
 * way.
 */

#include "trace/ctf/write.h"

#include <sys/types.h>

/* Zero: no dump is wanted, and nothing of this does anything. */
struct recording_state {
	uint64_t start_ns;
	struct ctf_process *processes;
	size_t count, capacity;
};

/* Begins it; all: with every process but our own. Returns 0 or -ENOMEM. */
int recording_state_begin(struct recording_state *state, uint64_t start_ns, bool all);
void recording_state_fini(struct recording_state *state);

/* Takes in the threads of a process. Returns 0 or -ENOMEM. */
int recording_state_add(struct recording_state *state, pid_t pid);

/* Writes it, once. Results as ctf_writer_packet. */
int recording_state_write(struct recording_state *state, struct ctf_writer *writer);

#endif
