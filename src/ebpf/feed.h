/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef EBPF_FEED_H
#define EBPF_FEED_H

/*
 * Events from user space: the matchers' code wrapped into programs that are run by test runs, one event at a time, with
 * time passing before it and its matches handed out after it. For comparing with the other executor.
 */

#include "ebpf/matcher/matcher.h"

struct feed;

int feed_new(struct ebpf_matcher *matcher, struct asterism_diag *diag, struct feed **made);
void feed_free(struct feed *feed);

/* Returns 0, what on_match returned, or -errno. record->type is an index of the program's types, or PROGRAM_NONE. */
int feed_event(struct feed *feed, const struct event_header *record);

/* Lets time pass without an event. Returns as feed_event. */
int feed_time(struct feed *feed, uint64_t now_ns);

#endif
