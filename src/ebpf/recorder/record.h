/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef EBPF_RECORDER_RECORD_H
#define EBPF_RECORDER_RECORD_H

/*
 * Recording in the kernel: programs that pack events straight into one ring per CPU (ring/ring.h), in the form of
 * event/packed.h. No process is woken and nothing is asked of readers; who reads, maps the rings as this process does.
 * One recorder belongs to one thread at a time, but every ring may have a reading thread of its own.
 */

#include "base/diag.h"
#include "ebpf/source/scope.h"
#include "event/catalog.h"
#include "event/packed.h"
#include "ring/ring.h"

struct ebpf_recorder;

struct ebpf_record_type {
	const struct event_type *type;
	const bool *recorded; /* per field of the type; NULL: all */
	uint16_t id;          /* in the event word, from EVENT_PACKED_ID_FIRST on */
};

enum { EBPF_RECORD_SUB_BYTES = 256 * 1024, EBPF_RECORD_SUB_COUNT = 16 };

struct ebpf_recorder_options {
	const struct ebpf_record_type *types; /* not needed after ebpf_recorder_new; the event types are */
	size_t count;
	/*
	 * The programs are those of an ebpf that is given this recorder (ebpf_options): it serves rules and rings at
	 * one stroke, so that an event has the same time for both. Then scope is unused; attach, add and detach do
	 * nothing.
	 */
	bool is_guest;
	/* Which types are taken may change: ebpf_recorder_take, ebpf_recorder_extend. Costs 1 ns or 2 per event. */
	bool is_gated;
	enum ebpf_scope scope;
	const struct ebpf_scope_filter *filter; /* as in scope_options */
	uint32_t sub_bytes;                     /* of a sub-buffer; 0: EBPF_RECORD_SUB_BYTES */
	uint32_t sub_count;                     /* of a ring; 0: EBPF_RECORD_SUB_COUNT */
	uint32_t verifier_log;                  /* as in ebpf_options */
	bool cautious;                          /* as in source_set_options; for tests */
	bool past_exec;                         /* as in ebpf_options; for tests */
};

/*
 * Makes the rings and loads the programs, attaches nothing. Returns 0; -EPERM (no privilege), -EOPNOTSUPP (the kernel
 * lacks BTF, a tracepoint or a feature), -EINVAL (a ring of no valid shape or too small for a type, or the verifier
 * refused), -E2BIG, -ENOMEM, with a sentence.
 */
int ebpf_recorder_new(const struct ebpf_recorder_options *options, struct asterism_diag *diag,
		      struct ebpf_recorder **made);
void ebpf_recorder_free(struct ebpf_recorder *recorder);

/*
 * Loads programs for more types, which write into the same rings, of a recorder that is gated; their ids follow those
 * that are there. Attaches nothing, and takes nothing of them. As ebpf_recorder_new, and then all is as before.
 */
int ebpf_recorder_extend(struct ebpf_recorder *recorder, const struct ebpf_record_type *types, size_t count,
			 struct asterism_diag *diag);

/* Takes back the last extension, which was not attached. */
void ebpf_recorder_shorten(struct ebpf_recorder *recorder);

/* Of a gated recorder: whether events of type number index are written; all of the first types are, at first. */
void ebpf_recorder_take(struct ebpf_recorder *recorder, size_t index, bool take);
bool ebpf_recorder_takes(const struct ebpf_recorder *recorder, size_t index);

/*
 * Detaches programs of which nothing is taken, so that they cost nothing, and attaches those of which something is.
 * Returns as ebpf_recorder_attach.
 */
int ebpf_recorder_adjust(struct ebpf_recorder *recorder, struct asterism_diag *diag);

/* From here on events are written. Programs that are attached stay so. */
int ebpf_recorder_attach(struct ebpf_recorder *recorder, struct asterism_diag *diag);

/* No event is written after this (of a guest: after its host is gone and this is called); what is in the rings stays
 * until ebpf_recorder_free. */
void ebpf_recorder_detach(struct ebpf_recorder *recorder);

/* Adds a process to the scope. */
int ebpf_recorder_add(struct ebpf_recorder *recorder, pid_t pid);

/* Whether a process is in it; of a guest nothing is. */
bool ebpf_recorder_has(const struct ebpf_recorder *recorder, pid_t pid);

/*
 * Asks the kernel how many firings it has kept from the programs since the last time (*missed_now; they are in no
 * ring), and tells how long it may be until the next time. Returns 0 or -errno.
 */
int ebpf_recorder_poll(struct ebpf_recorder *recorder, uint64_t *missed_now, uint64_t *wait_ns);

/* CPUs that the kernel may ever have. Each has a ring, mapped for reading until ebpf_recorder_free. */
uint32_t ebpf_recorder_cpu_count(const struct ebpf_recorder *recorder);
const struct ring *ebpf_recorder_ring(const struct ebpf_recorder *recorder, uint32_t cpu);

/* Events of all rings: written (overwritten ones included), and dropped: they found no place, or could not be read. */
uint64_t ebpf_recorder_written(const struct ebpf_recorder *recorder);
uint64_t ebpf_recorder_dropped(const struct ebpf_recorder *recorder);
uint64_t ebpf_recorder_unread(const struct ebpf_recorder *recorder); /* only the latter */

/* Firings missed so far, as far as polls have found out. */
uint64_t ebpf_recorder_missed(const struct ebpf_recorder *recorder);

/* As ebpf_recorder_calls_32bit, of operations of io_uring that stand for calls that are recorded. */
uint64_t ebpf_recorder_io_uring(const struct ebpf_recorder *recorder);

/* System calls of 32-bit code so far, as far as polls have found out, where system calls are recorded: not these. */
uint64_t ebpf_recorder_calls_32bit(const struct ebpf_recorder *recorder);

/* For tests and -v: as in source/set.h. */
size_t ebpf_recorder_programs(const struct ebpf_recorder *recorder);

#endif
