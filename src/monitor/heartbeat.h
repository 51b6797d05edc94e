/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef MONITOR_HEARTBEAT_H
#define MONITOR_HEARTBEAT_H

/*
 * Heartbeats: elements of a type that must come, for each value of a key no later than a limit after the one before.
 * One that stays away is told of once, with the time at which the limit was over, and so is the one with which they
 * come back. Without a key the first one is awaited from the beginning; with one, a key is awaited once it has come.
 *
 * What happens is decided by the times of elements alone, so a replay tells what was told live; how often
 * time is said to have passed decides how soon.
 *
 * As an evaluation it allocates nothing and never waits; what it tells waits in a bounded queue for one other thread.
 */

#include "monitor/keys.h"

enum { HEARTBEAT_NEWS = 256 };

struct heartbeat_shape {
	struct monitor_field key;
	uint32_t keys_most;
	uint64_t limit_ns;
};

struct heartbeat_news {
	uint64_t at_ns;    /* when the limit was over, or the one came that had stayed away */
	uint64_t since_ns; /* of the last one before that, or of the beginning */
	uint32_t row;      /* of the keys */
	bool is_back;
};

struct heartbeat;

extern const struct monitor_evaluation_kind heartbeat_kind;

/* Returns 0; -EINVAL; -ENOMEM. */
int heartbeat_new(const struct heartbeat_shape *shape, struct heartbeat **made);

/* It lives until heartbeat_free has been called once more than this. */
struct heartbeat *heartbeat_share(struct heartbeat *heartbeat);
void heartbeat_free(struct heartbeat *heartbeat);

const struct monitor_keys *heartbeat_keys(const struct heartbeat *heartbeat);

/* The other thread's: the next news. False: there are none. */
bool heartbeat_next(struct heartbeat *heartbeat, struct heartbeat_news *news);

struct heartbeat_counts {
	uint64_t elements;
	uint64_t missed;  /* how often one stayed away */
	uint64_t missing; /* how many do now */
	uint64_t other;   /* elements whose key found no place: not watched */
	uint64_t untold;  /* news that found the queue full */
	uint64_t lost;    /* elements that were lost: a heartbeat may have been among them */
};

void heartbeat_count(const struct heartbeat *heartbeat, struct heartbeat_counts *counts);

#endif
