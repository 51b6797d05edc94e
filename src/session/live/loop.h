/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SESSION_LIVE_LOOP_H
#define SESSION_LIVE_LOOP_H

/*
 * What a live session waits on: descriptors and a time, behind one descriptor that is readable when there is something
 * to do. Embedded in the session's owner; nothing here blocks.
 */

#include "base/diag.h"

#include <stdint.h>

/* What a watched descriptor is for: the low byte of what was given with it. The rest is the owner's. */
enum live_wake { LIVE_WAKE_TIMER, LIVE_WAKE_RULES, LIVE_WAKE_SIGNAL, LIVE_WAKE_PROCESS };
enum { LIVE_WAKE_BITS = 8, LIVE_WOKEN_MAX = 16 };

struct live_loop {
	int epoll_fd, timer_fd; /* -1: not open */
};

/* Returns 0 or -errno with a message; live_loop_close is in place either way. */
int live_loop_open(struct live_loop *loop, struct asterism_diag *diag);
void live_loop_close(struct live_loop *loop);

/* fd wakes the session from here on; below 0: there is nothing to watch. Returns 0 or -errno with a message. */
int live_loop_watch(const struct live_loop *loop, int fd, uint64_t what, struct asterism_diag *diag);

/* Where this process has forked, closing a descriptor does not take it out of the set. */
void live_loop_forget(const struct live_loop *loop, int fd);

/* Wakes the session at a time of CLOCK_MONOTONIC and not before; 0: at once, UINT64_MAX: never. 0 or -errno. */
int live_loop_arm(const struct live_loop *loop, uint64_t at_ns);

/* What is readable by now: how many of woken, or -errno with a message. */
int live_loop_take(const struct live_loop *loop, uint64_t woken[LIVE_WOKEN_MAX], struct asterism_diag *diag);

#endif
