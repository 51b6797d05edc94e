/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SENSOR_STREAM_STREAM_H
#define SENSOR_STREAM_STREAM_H

/*
 * What the sensors of many processes raise, with what else is handed over, as one stream in the order of time. The
 * stream follows a directory: the one that serves, or where none does, one of its own. Processes come and go; what is
 * lost is told before the next event of its ring.
 *
 * Everything happens in the calls of its owner's thread.
 */

#include "base/diag.h"
#include "sensor/stream/clock.h"
#include "sensor/stream/merge.h"
#include "sensor/stream/process.h"

#include <sys/types.h>

struct stream;

struct stream_options {
	struct stream_wants wants;                                /* borrowed; announced counts */
	uint32_t record_bytes;                                    /* of the largest record, handed over ones included */
	bool (*in_scope)(void *context, pid_t pid, pid_t parent); /* parent: when it registered */
	int (*on_event)(void *context, const struct event_header *record);
	void (*on_lost)(void *context, uint64_t lost);
	void *context;
	struct asterism_diag *diag; /* what is told while it runs */
	bool is_quiet;              /* somebody else tells which sensors are waited for */
	struct stream_clock *clock; /* that others have, too, who are to say the same times; NULL: its own */
};

struct stream_counts {
	uint64_t events;     /* of sensors */
	uint64_t lost;       /* overwritten or without a place */
	uint64_t late;       /* that came when their time was over */
	uint64_t held;       /* how often a writer was not waited for any longer */
	uint64_t unfinished; /* begun and never committed, by processes that have ended */
	uint64_t gaps;       /* times without a directory, in which nobody raised anything */
	uint64_t unread;     /* processes that were refused, or cannot be read; each is one of the lost */
	uint64_t processes, out_of_scope, failed;
	uint64_t unknown; /* processes that ended before it was known whether they are in scope */
};

/* Returns 0, -ENOMEM, -EACCES, -errno, with a sentence. Nothing is raised before this returns. */
int stream_new(const struct stream_options *options, struct asterism_diag *diag, struct stream **made);
void stream_free(struct stream *stream);

/* Readable when a process comes or goes. Events do not wake anybody: see stream_wait_ns. */
int stream_fd(const struct stream *stream);

/* How long after the last turn the next one is due (pace.h); 0: that one has left something. */
uint64_t stream_wait_ns(const struct stream *stream);

/*
 * Events from elsewhere, in about the order of their times. stream_is_full: there is no room for another one before the
 * next turn. stream_settle: none before floor_ns will be handed over. Where nothing is ever handed over, MERGE_NEVER.
 */
void stream_put(struct stream *stream, const struct event_header *record, uint32_t bytes);
bool stream_is_full(const struct stream *stream);
void stream_settle(struct stream *stream, uint64_t floor_ns);

/* Hands out what is due. *passed_ns: no event before it will come any more. Returns 0, what on_event returned, -errno.
 */
int stream_turn(struct stream *stream, uint64_t *passed_ns);

/* Nothing that is raised after now counts; turns hand out the rest, until there is no more. */
void stream_end(struct stream *stream);
bool stream_has_more(const struct stream *stream);

/*
 * For who looks back now and then: stream_keep instead of turns, as often as news may come. Processes that have ended
 * are kept, the newest of them. stream_rewind: turns hand out what the rings hold of since_ns to until_ns, until there
 * is no more; then nothing but stream_keep and stream_rewind is to follow. Return 0, -errno.
 */
int stream_keep(struct stream *stream);
int stream_rewind(struct stream *stream, uint64_t since_ns, uint64_t until_ns);

void stream_count(const struct stream *stream, struct stream_counts *counts);

#endif
