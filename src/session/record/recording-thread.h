/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SESSION_RECORD_RECORDING_THREAD_H
#define SESSION_RECORD_RECORDING_THREAD_H

/*
 * The thread that writes a recording, and the mailbox between it and its owner, who hands out matches: neither waits
 * for the other, whatever a disk or a reader of matches does. The mailbox is all that both touch, under one lock that
 * is held for some copying at most. What the work (struct recording_work) keeps belongs to the thread alone from the
 * owner's first recording_thread_report or order until recording_thread_finish.
 *
 * Work that fails goes on: the next look tries again what could not be written, and who does the work counts what was
 * lost meanwhile. A failure is news to the owner unless it is the one that was told last.
 *
 * All calls come from one thread, the owner's. The thread itself takes no signals.
 */

#include "session/record/recording-marks.h"
#include "session/record/recording-queue.h"

struct recording_thread;

struct recording_snapshot_order {
	char name[256];
	uint64_t at_ns;                /* the moment it is to show */
	struct recording_marks *marks; /* who carries the order out frees them */
};

/* The types that a trace describes, and how the choice among them has changed; freed by who carries the order out. */
struct recording_description;

/* What the thread does. All of it may take its time; results are 0 or -errno with a message in the diag. */
struct recording_work {
	/* Now and then; missed: what recording_thread_report said. *wait_ns: look_ns, or when the next should be
	 * sooner. */
	int (*look)(void *context, uint64_t missed, uint64_t *wait_ns);
	int (*mark)(void *context, const struct recording_mark *mark);
	int (*snapshot)(void *context, const struct recording_snapshot_order *order);
	int (*finish)(void *context, uint64_t missed);
	void (*count)(const void *context, struct recording_totals *totals);
	void *context;
	struct asterism_diag *diag;  /* NULL: it has nothing to say */
	uint64_t look_ns;            /* the time from one look to the next; UINT64_MAX: there are none */
	int (*flush)(void *context); /* what a look may leave for later; NULL: nothing */
	int (*describe)(void *context, struct recording_description *description); /* takes it; NULL: never ordered */
};

enum { RECORDING_THREAD_QUEUE_BYTES = 256 * 1024 };

/* Starts the thread, which waits to be told or ordered something. Returns 0, -ENOMEM, -EAGAIN or another -errno. */
int recording_thread_new(const struct recording_work *work, struct recording_thread **made);

/* A thread that is freed without being finished ends after what it is at. NULL is none. */
void recording_thread_free(struct recording_thread *thread);

/* Readable when there are news: a failure, or that a snapshot is written. */
int recording_thread_fd(const struct recording_thread *thread);

/* What the kernel has kept from us so far. */
void recording_thread_report(struct recording_thread *thread, uint64_t missed);

/*
 * Orders a mark. Returns false where the mailbox is full and stays so, that is, where the thread is kept from working.
 * That is found out once, in some hundredths of a second, then known until the thread goes on.
 */
bool recording_thread_mark(struct recording_thread *thread, const struct recording_mark *mark);

/*
 * Orders a snapshot. Returns false where the one ordered before has not begun yet, unless patient: then waits for that.
 * On success the marks of the order are the thread's.
 */
bool recording_thread_snapshot(struct recording_thread *thread, const struct recording_snapshot_order *order,
			       bool patient);

/* Orders a flush. */
void recording_thread_flush(struct recording_thread *thread);

/*
 * Orders a trace to be described anew, and waits for that, until_ns at most. Returns 0, what became of it, or
 * -EBUSY: the thread is kept from working, and the order taken back, or -EINPROGRESS: it is at it, and will end some
 * time. On -EBUSY the description is still the caller's.
 */
int recording_thread_describe(struct recording_thread *thread, struct recording_description *description,
			      uint64_t until_ns);

/* Waits until what was ordered has been done, until_ns at most. Returns 0, -EINPROGRESS where it has not been, or why
 * what there is could not be written.
 */
int recording_thread_await(struct recording_thread *thread, uint64_t until_ns);

/* The failure that is news, with its messages for diag, or 0. */
int recording_thread_news(struct recording_thread *thread, struct asterism_diag *diag);

/* The counts as of the last look. */
void recording_thread_count(struct recording_thread *thread, struct recording_totals *totals);

/* Has everything carried out that was ordered, then finish, and waits for that; recording_thread_news tells how it
 * went. */
void recording_thread_finish(struct recording_thread *thread, uint64_t missed);

#endif
