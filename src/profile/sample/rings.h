/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PROFILE_SAMPLE_RINGS_H
#define PROFILE_SAMPLE_RINGS_H

/*
 * Samples of a process and of all that it begins, and what they map, as the kernel writes them into a ring per
 * processor (perf_event_open). One thread.
 */

#include "base/diag.h"
#include "profile/sample/sample.h"

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct rings;

enum record_kind { RECORD_SAMPLE, RECORD_MAPPED, RECORD_FORKED, RECORD_BEGAN, RECORD_NAMED };

struct sample_record {
	enum record_kind kind;
	uint64_t time; /* CLOCK_MONOTONIC */
	uint32_t pid, tid;
	uint64_t address, length, offset; /* of what was mapped; of a sample: address alone */
	uint64_t inode;
	double weight;               /* of a sample: what it stands for */
	uint32_t parent, parent_tid; /* RECORD_FORKED: of a thread, too, whose parent is its own process */
	const char *name;            /* RECORD_MAPPED, of threads RECORD_BEGAN and _NAMED; valid during the call */
	bool is_kernel;
	uint32_t cpu;
	const uint64_t *registers; /* of a sample: sample_register_count; NULL: it has none */
};

/* Begins with pid's next execve. 0, or -errno after a message. */
int rings_open(const struct sample_options *options, pid_t pid, struct asterism_diag *diag, struct rings **opened);
void rings_free(struct rings *rings);

/* The name of the event that is counted. */
const char *rings_event(const struct rings *rings);

/* What to wait for: each ring that is half full. Returns how many; there is room for all. */
size_t rings_poll(const struct rings *rings, struct pollfd *items, size_t room);

/*
 * Calls one for each record, in the order of their time, until it returns something else than 0, which is returned.
 * What is younger than the call waits for the next one, unless this is the last.
 */
int rings_drain(struct rings *rings, bool is_last, int (*one)(void *context, const struct sample_record *record),
		void *context);

uint64_t rings_lost(const struct rings *rings);
/* What was counted in all, of which samples are some; the kernel's part is in it. 0: not known. */
double rings_counted(const struct rings *rings);

#endif
