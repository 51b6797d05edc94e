/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PROFILE_SAMPLE_BETWEEN_H
#define PROFILE_SAMPLE_BETWEEN_H

/*
 * Rules that run in the kernel while a command is sampled: which samples lie between the first and the last event of a
 * match, in a thread of these events. One thread.
 */

#include "base/diag.h"
#include "profile/sample/intervals.h"
#include "profile/sample/sample.h"
#include "session/load/rules.h"

#include <sys/types.h>

struct between;

/*
 * The process waits to run its command; it and its descendants are observed. Samples are handed to the taker. 0,
 * -EINVAL (no match of these rules has a begin), or as live_open, after a message.
 */
int between_open(const struct session_rules *rules, pid_t pid, const struct interval_taker *taker,
		 struct asterism_diag *diag, struct between **opened);
void between_free(struct between *between);

/* Polls readable when between_step has something to do. */
int between_fd(const struct between *between);

/* Takes what matches there are. 0, -ENOMEM, or what the callback returned. */
int between_step(struct between *between);

/* In the order of time. Returns as between_step. */
int between_keep(struct between *between, const struct waiting_sample *sample);

/* After the command has ended and the last sample was kept. Returns as between_step. */
int between_end(struct between *between, struct sample_between *outcome);

/* The names of the rules whose matches are meant, "a, b"; the caller frees it. NULL: out of memory. */
char *between_names(const struct between *between);

#endif
