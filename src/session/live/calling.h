/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SESSION_LIVE_CALLING_H
#define SESSION_LIVE_CALLING_H

/*
 * Who holds the gates open of sensors that call the kernel (EVENTS "kernel-sensor:..."), for as long as rules wait for
 * them there. Belongs to its session's thread.
 */

#include "base/diag.h"
#include "session/load/rules.h"

struct calling;

/*
 * *made stays NULL where no rule waits for any. Returns once applications that run have been asked. diag is told while
 * it lasts, too. Returns 0, or as follow_new: then nobody would call, and no rule may be believed to be at work.
 */
int calling_new(const struct session_rules *rules, struct asterism_diag *diag, struct calling **made);

/* The gates close. NULL is fine, here and below. */
void calling_free(struct calling *calling);

/* Readable with news; -1: never. */
int calling_fd(const struct calling *calling);

/* Takes what the directory tells; lessens *wait_ns. Returns 0 or -errno. */
int calling_poll(struct calling *calling, uint64_t *wait_ns);

#endif
