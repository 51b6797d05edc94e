/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef ASTERISM_RECORDING_H
#define ASTERISM_RECORDING_H

#include "asterism/session.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A recording writes events of what its session observes to a trace, a directory in the Common Trace Format, as
 * `asterism record` does (docs/recording.md): all the time, or, as a flight recording, the newest ones when a snapshot
 * is asked for. Which types of events are taken may change while it runs. A thread of its own writes; it is looked
 * after by the dispatch of its session (session.h), and used by the thread that uses that.
 *
 * A trace holds what all observed processes do: it is for its owner alone, unless mode says otherwise.
 */
struct asterism_recording;

/* Zero what is of no interest, and set size. */
struct asterism_recording_options {
	size_t size;      /* sizeof (struct asterism_recording_options) */
	const char *path; /* a directory that is not there, or empty: the trace, or where snapshots go */
	mode_t mode;      /* of files; 0: for their owner alone */
	int flight;       /* keep the newest in memory, and write snapshots only */
	/*
	 * EVENT[:FIELD+FIELD...],... as -e of `asterism record` has it. NULL, or what begins with '!': the usual,
	 * without what is so named.
	 */
	const char *events;
	uint64_t ring_bytes; /* of memory per CPU; 0: 16 MiB, or less where memory is short */
	uint64_t max_bytes;  /* of a trace, of which the oldest part is deleted then; 0: no limit */
	uint64_t last_ns;    /* how far back a snapshot goes; 0: as far as there is memory */
};

/*
 * Begins a recording; when this returns events are recorded. It ends with asterism_recording_stop, or its session.
 * Returns 0 and stores it; -EINVAL (no such event, or a wrong option), -EEXIST (there is something at path), -EPERM,
 * -EOPNOTSUPP, -ENOMEM, another -errno, with a sentence in asterism_session_diag.
 */
int asterism_recording_start(struct asterism_session *session, const struct asterism_recording_options *options,
			     struct asterism_recording **recording);

/*
 * Ends it, and waits until what was recorded is in the trace: nothing comes after this. It can still be asked for its
 * counts and news.
 */
void asterism_recording_finish(struct asterism_recording *recording);

/* Finishes it, where that was not done, and frees it. NULL is fine. */
void asterism_recording_stop(struct asterism_recording *recording);

/*
 * Takes these events from here on, and no others: events as in the options. What begins with '+' or '!' changes what is
 * taken now: "+sched_switch,!sys_*". Types that stay have no gap. The fields of a type stay those that it began with.
 * The trace says which types were taken from when on. Returns 0; -EINVAL (no such event, or nothing would be left),
 * -E2BIG (it was changed too often, or would have too many types), -EBUSY (the disk stands still: try again), -ENOMEM,
 * another -errno, with a sentence: then all is as before.
 */
int asterism_recording_mask(struct asterism_recording *recording, const char *events);

/*
 * Has all events of before this call in the trace, as far as that takes a second at most. Returns 0, or -EBUSY: the
 * disk stands still, and they are written as soon as it goes on; or another -errno where they cannot be written, as on
 * a full disk.
 */
int asterism_recording_flush(struct asterism_recording *recording);

/*
 * Has a flight recording write what it holds as a trace of its own, DIRECTORY/name-N, where N counts the snapshots of
 * this recording from 1. name: 1 to 64 letters, digits, '-' and '_'. Returns N; -EINVAL (no flight recording, or no
 * such name), -EBUSY (another one is still waiting to be written), -EIO (it could not be written, or not whole),
 * -ENOMEM, with a sentence.
 */
int asterism_recording_snapshot(struct asterism_recording *recording, const char *name);

/* What was recorded and lost so far. */
struct asterism_recording_stats {
	size_t size;                       /* sizeof (struct asterism_recording_stats), set by the caller */
	uint64_t events;                   /* in the trace; of a flight recording: seen */
	uint64_t bytes;                    /* of the trace, or of all snapshots */
	uint64_t deleted_bytes;            /* of the oldest, to keep to max_bytes */
	uint64_t overwritten;              /* events lost as they came faster than they could be written */
	uint64_t unwritten;                /* as the disk was full or failed */
	uint64_t dropped;                  /* as there was no room in the ring */
	uint64_t unread;                   /* as a number lies in memory that could not be read */
	uint64_t missed;                   /* as the kernel did not run the program */
	uint64_t calls_32bit;              /* system calls of 32-bit code, which raise no event */
	uint64_t snapshots, snapshots_cut; /* written; of these not whole */
	uint64_t types;                    /* that are taken now */
	uint64_t masked;                   /* how often that has changed */
	uint64_t io_uring;                 /* operations of io_uring in place of calls, which raise no event */
};

/* Counts. Returns 0, or -EINVAL (stats->size is not one that this library knows). */
int asterism_recording_stats(const struct asterism_recording *recording, struct asterism_recording_stats *stats);

/* The name of type number index of those that are taken now, or NULL. Valid until the next change. */
const char *asterism_recording_type(const struct asterism_recording *recording, size_t index);

/*
 * What has happened to it since this was asked last, such as that the disk is full: messages, valid until the next call
 * with this recording or the dispatch of its session. Never NULL.
 */
const struct asterism_diag *asterism_recording_news(struct asterism_recording *recording);

#ifdef __cplusplus
}
#endif

#endif
