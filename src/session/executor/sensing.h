/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SESSION_EXECUTOR_SENSING_H
#define SESSION_EXECUTOR_SENSING_H

/*
 * The events of rules in user space where some of these wait for sensors: those of applications and those that the
 * kernel ships, merged in the order of time. An event of the kernel waits here until no sensor can still raise an
 * earlier one, and the other way round.
 */

#include "session/executor/executor.h"

struct sensing;

struct sensing_options {
	const struct program *program;
	struct event_catalog *catalog;
	const bool *rules;          /* per rule: it is fed from here */
	struct executor *user;      /* takes what comes */
	struct executor *kernel;    /* knows who is in scope */
	struct stream_clock *clock; /* as in stream_options */
};

/*
 * *made stays NULL where no rule waits for sensors. diag is told while the session lasts, too. Returns 0, or as
 * stream_new.
 */
int sensing_new(const struct sensing_options *options, struct asterism_diag *diag, struct sensing **made);
void sensing_free(struct sensing *sensing);

/* Readable with news. */
int sensing_fd(const struct sensing *sensing);

/* An event that the kernel ships. Returns 0, or EXECUTOR_PAUSE: it is taken, and sensing_turn must come before more. */
int sensing_take(struct sensing *sensing, const struct event_header *record);

/*
 * Feeds what is due. arrived_ns: events of the kernel before that have been taken; UINT64_MAX: all have. *passed_ns:
 * up to then time has passed. Returns as executor_feed.
 */
int sensing_turn(struct sensing *sensing, uint64_t arrived_ns, uint64_t *passed_ns);

/* How long after it the next is due: sooner where much comes. */
uint64_t sensing_wait_ns(const struct sensing *sensing);

/* No event after now: after some more turns there is no more. */
void sensing_end(struct sensing *sensing);
bool sensing_has_more(const struct sensing *sensing);

void sensing_count(const struct sensing *sensing, struct session_totals *totals);

#endif
