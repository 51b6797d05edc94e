/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SESSION_MONITOR_INTAKE_H
#define SESSION_MONITOR_INTAKE_H

/*
 * The elements of observed processes in the order of their times, between two threads: the *follower*, who listens to
 * the directory, maps memory and frees it, and the *evaluator*, who reads rings and neither allocates nor calls the
 * system. What the follower has prepared is handed over between two turns; the evaluator waits for nobody.
 *
 * So a process is read some ms after it has registered. What it raised in between is handed out then, as new.
 */

#include "monitor/queue.h"
#include "sensor/stream/follow.h"

#include <sys/types.h>

struct intake;

/* An element that is handed out. */
struct intake_element {
	const struct event_header *record;
	uint32_t type; /* of the record, without what is added to it */
	bool is_late;  /* its writer was not waited for any longer */
	bool is_new;   /* raised before its process was read */
};

struct intake_options {
	struct stream_wants wants; /* borrowed; announced counts */
	uint32_t record_bytes;     /* of the largest record */
	uint64_t hold_ns;          /* how long a writer that is in between is waited for */
	bool (*in_scope)(void *context, pid_t pid, pid_t parent); /* parent: when it registered */
	/* The follower has got to know the type of a process whose rings have this shape. NULL: no need. */
	void (*on_type)(void *context, uint32_t pid, const struct sensor_type *type, const struct sensor_shape *shape);
	void *follower; /* context of these */
	void (*on_element)(void *context, const struct intake_element *element);
	void (*on_lost)(void *context, uint64_t lost);
	void *evaluator;            /* context of these */
	struct asterism_diag *diag; /* the follower's: what is told while it goes on */
};

struct intake_counts {
	uint64_t lost;       /* overwritten or without a place */
	uint64_t held;       /* how often a writer was not waited for any longer */
	uint64_t late;       /* elements that came when their time was over */
	uint64_t gaps;       /* times without a directory; each is one of the lost */
	uint64_t unfinished; /* begun and never committed, by processes that have ended */
	uint64_t unread;     /* processes that were refused, or cannot be read; each is one of the lost */
	uint64_t processes, out_of_scope, failed;
};

/* Returns 0, -ENOMEM, -EACCES, -errno, with a sentence. The calling thread is the follower until there is another. */
int intake_new(const struct intake_options *options, struct asterism_diag *diag, struct intake **made);
void intake_free(struct intake *intake);

/* ---- the follower's */

/* Readable when there is news. intake_serve is to be called then, and every INTAKE_SERVE_NS. */
int intake_fd(const struct intake *intake);

enum { INTAKE_SERVE_NS = 20 * 1000 * 1000 };

int intake_serve(struct intake *intake);

/* Nothing that is raised after now counts. */
void intake_end(struct intake *intake);

/* Once the evaluator has ended. */
void intake_count(const struct intake *intake, struct intake_counts *counts);

/* ---- the evaluator's */

/* What is raised from begin_ns on is handed out; before it is asked for, everything is passed over. */
void intake_begin(struct intake *intake, uint64_t begin_ns);

/*
 * Hands out what is due. *watermark_ns: no element before it will come any more, but late ones. *is_held: a writer that
 * is in between holds others back.
 */
void intake_turn(struct intake *intake, uint64_t *watermark_ns, bool *is_held);

/* After intake_end: whether everything has been handed out. */
bool intake_is_over(const struct intake *intake);

#endif
