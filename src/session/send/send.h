/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SESSION_SEND_SEND_H
#define SESSION_SEND_SEND_H

/*
 * Sends what sensors raise elsewhere, as an evaluation of a monitor: as JSON lines that say what their events are and
 * how many are missing, over TCP or to a file; or each in a frame (base/frame.h), over a serial line. The evaluator
 * copies elements into a bounded queue; the owner's thread writes, and waits for nobody. A peer that is slow, gone or
 * not there yet costs events, which are counted and told to it when it is back.
 */

#include "base/diag.h"
#include "event/type.h"
#include "monitor/evaluation.h"

struct sender;

extern const struct monitor_evaluation_kind send_kind;

/* to: "tcp:HOST:PORT", "serial:PATH", or a file's path. Returns 0; -EINVAL, -ENOMEM, -errno with a message. */
int send_new(const char *to, struct asterism_diag *diag, struct sender **made);
void send_free(struct sender *sender);

/* Before the evaluation: elements of this number are of the type, which is borrowed. Returns 0, -ENOMEM. */
int send_know(struct sender *sender, uint32_t sensor, const struct event_type *type);

/* The owner's, now and then: writes what can be written. diag: what changes, such as a peer that is gone. */
void send_step(struct sender *sender, struct asterism_diag *diag);

/* No element will come. Waits for so long at most until all is written. */
void send_finish(struct sender *sender, uint64_t wait_ns, struct asterism_diag *diag);

struct send_counts {
	uint64_t sent;   /* events that were written whole */
	uint64_t unsent; /* that found no room, or were on their way when the peer went */
	uint64_t lost;   /* before they came here */
};

void send_count(const struct sender *sender, struct send_counts *counts);

#endif
