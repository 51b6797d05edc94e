/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SESSION_RECORD_RECORDING_H
#define SESSION_RECORD_RECORDING_H

/*
 * A recording under way: the programs and rings that collect events, and where they are written. A continuous recording
 * is written all the time. A flight recording keeps only what the rings hold, until somebody asks for a snapshot: then
 * that is written, as a complete trace of its own.
 *
 * A thread of the recording's own reads the rings and writes; between two looks RECORDING_WAIT_NS may pass, so a ring
 * has to hold what comes in that time. Neither a slow disk keeps the caller waiting nor does the caller, by not
 * calling, keep events from the disk. Losses are counted per CPU: what the rings have seen is what is written,
 * plus overwritten, plus unwritten, whatever happens. What cannot be written is tried again as long as the rings hold
 * it, so a full disk that gets space again costs what was overwritten meanwhile.
 *
 * All functions are for one thread, which owns programs and scope. What is written belongs to the recording's thread.
 */

#include "ebpf/ebpf.h"
#include "session/record/selection.h"

#include <sys/types.h>

struct recording;
struct stream_clock;

struct recording_options {
	const char *path;             /* the directory of the trace, or of the snapshots */
	mode_t mode;                  /* of files; 0: for their owner alone */
	bool flight;                  /* keep, rather than write */
	const struct selection *what; /* must outlive the recording */
	bool is_masked;               /* which types are taken may change: recording_mask */
	bool is_guest;                /* its programs are those of an executor that gets recording_recorder */
	enum ebpf_scope scope;
	const struct ebpf_scope_filter *filter; /* as in scope_options */
	uint64_t ring_bytes;                    /* per CPU; 0: usual_ring_bytes */
	uint64_t max_bytes;                     /* of a continuous trace; 0: no limit */
	uint64_t last_ns;                       /* how far back a snapshot goes; 0: as far as the rings */
	/* Who is in scope, for sensors: asked by the recording's thread. NULL: those that are added. */
	bool (*in_scope)(void *context, pid_t pid, pid_t parent);
	void *context;
	/* Traces get LTTng's names, system calls those in this catalog; a continuous one a state dump. NULL: ours. */
	const struct event_catalog *lttng;
};

/* Sensors that no observed process has announced: how many, and what the first are called. */
enum { RECORDING_UNANNOUNCED_NAMED = 8 };

struct recording_unannounced {
	const char *names[RECORDING_UNANNOUNCED_NAMED];
	size_t count;
};

/* What came of sensors so far. */
struct recording_sensors_totals {
	uint64_t events;      /* in the trace */
	uint64_t overwritten; /* before they were read, or they found no ring */
	uint64_t unwritten;   /* as the trace could not be written */
	uint64_t late;        /* in the trace behind younger ones, as their writer was stopped in between */
	uint64_t unfinished;  /* begun by processes that have ended */
	uint64_t processes, out_of_scope;
	uint64_t unknown; /* processes that ended before it was known whether they are in scope */
	struct recording_unannounced unannounced;
};

/* What was recorded so far. Sensors are in the counts of all, too. */
struct recording_totals {
	uint64_t ring_bytes; /* that each CPU's ring has; 0: none */
	uint64_t events;     /* written, or by a flight recording put into the rings */
	uint64_t bytes;      /* that the traces take */
	uint64_t deleted_bytes;
	uint64_t overwritten; /* lost before they could be written (never by a flight recording) */
	uint64_t dropped;     /* found no place in a ring */
	uint64_t unread;      /* a number, or whether they happened, lies in memory that could not be read */
	uint64_t missed;      /* the kernel did not run our program */
	uint64_t io_uring;    /* operations of io_uring that stand for calls that were recorded: none is an event */
	uint64_t calls_32bit; /* of 32-bit code while system calls were recorded: none is an event */
	uint64_t unwritten;   /* lost because the trace could not be written, as when the disk is full */
	uint64_t unmarked;    /* matches without a mark, as the disk took too long or was full */
	uint64_t unclosed;    /* traces of which it is unknown whether the disk has what was written last */
	uint64_t snapshots;
	uint64_t snapshots_cut;     /* of these, not whole, or not there: they could not be written */
	uint64_t snapshots_refused; /* matches that have no snapshot of their own */
	struct recording_sensors_totals sensors;
};

/* Something worth a mark in the trace. */
struct recording_mark {
	uint64_t ts;
	uint32_t cpu, pid, tid;
	const char *comm, *rule, *values;
	bool tainted;
};

/*
 * Loads, attaches nothing. Returns 0; -EEXIST (something is at path), -EPERM, -EOPNOTSUPP, -EINVAL, -ENOMEM, -errno,
 * with a sentence. diag is borrowed until the recording is freed.
 */
int recording_new(const struct recording_options *options, struct asterism_diag *diag, struct recording **made);

/* A recording that is freed without being finished never began: nothing of it stays on the disk. */
void recording_free(struct recording *recording);

/* NULL: nothing of the kernel is recorded. */
struct ebpf_recorder *recording_recorder(struct recording *recording);

/* By which the times of its sensors are; NULL: it has none. */
struct stream_clock *recording_clock(struct recording *recording);

int recording_attach(struct recording *recording);
int recording_add(struct recording *recording, pid_t pid);
bool recording_has(const struct recording *recording, pid_t pid);

/*
 * Takes the types of wanted, and no others, from here on. Types that stay have no gap; the fields of one stay those
 * that it began with. New types and the change are in the trace before any of their events. wanted has the catalog of
 * options->what. Returns 0; -EINVAL (nothing is wanted, other fields, or not is_masked), -E2BIG (too many changes, or
 * types), -EBUSY (the thread is kept from writing), or as recording_new; with a sentence: then all is as before.
 */
int recording_mask(struct recording *recording, const struct selection *wanted);

/* How often that has changed, and the types that are taken now: how many, and number index of them, NULL: none. */
size_t recording_masks(const struct recording *recording);
const struct event_type *recording_type(const struct recording *recording, size_t index);

/* Waits until what was ordered by now has been done and all events are written, until_ns at most. Returns 0,
 * -EINPROGRESS where it has not been, or why not all could be written.
 */
int recording_await(struct recording *recording, uint64_t until_ns);

/* Readable when recording_poll has something to say. */
int recording_fd(const struct recording *recording);

/*
 * Sees how the writing goes, which begins with the first call, and asks for the time until the next. What cannot be
 * written (the disk is full, ...) is told in the diag and counted; it is no failure of this call, which returns 0.
 */
int recording_poll(struct recording *recording, uint64_t *wait_ns);

/* Notes a match, for the trace or the next snapshot. One that cannot be noted is counted. */
void recording_mark(struct recording *recording, const struct recording_mark *mark);

/*
 * Has what the rings of a flight recording hold by now written, with the newest marks since the last one, to a
 * directory of its own in path, called name-N. Returns 0; -EBUSY where another one is still waiting to be written,
 * unless patient; -ENOMEM. What fails later is told by recording_poll.
 */
int recording_snapshot(struct recording *recording, const char *name, bool patient);

/* From here on in_scope of the options is not asked any more: no further process is read. */
void recording_close_scope(struct recording *recording);

/* Detaches, has the rest written and the trace ended, and waits for that. What fails is told and counted. */
void recording_finish(struct recording *recording);

void recording_count(const struct recording *recording, struct recording_totals *totals);

/*
 * Has what the rings of a continuous recording hold by now written. So it is every RECORDING_FLUSH_NS anyway, and
 * whatever has filled a sub-buffer every RECORDING_WAIT_NS.
 */
void recording_flush(struct recording *recording);

enum {
	RECORDING_WAIT_NS = 20 * 1000 * 1000, /* the faster the rings fill, the sooner */
	RECORDING_WAIT_MIN_NS = 1000 * 1000,
	RECORDING_SENSORS_WAIT_NS = 2500 * 1000, /* their rings are smaller; the faster they fill, the sooner */
	RECORDING_FLUSH_NS = 500 * 1000 * 1000,
};

#endif
