/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SESSION_OUTPUT_MAP_LOG_H
#define SESSION_OUTPUT_MAP_LOG_H

/*
 * What processes have mapped since the log was opened, for those that end before anybody looks at them: the kernel
 * writes every mapping into rings (perf_event_open), of each of which only the newest MAP_LOG_BYTES are kept. Nobody is
 * woken, and nothing is read until a process is asked for.
 */

#include "session/output/mappings.h"

#include <sys/types.h>

struct map_log;

enum {
	MAP_LOG_BYTES = 1 << 18, /* per CPU and ring: there is one of all processes, and one of each followed */
	MAP_LOG_FOLLOWED_MAX = 4,
};

/* Begins to write. NULL: it is not permitted, or memory is short. */
struct map_log *map_log_open(void);
/* What others map does not take the place of what pid, and processes that it begins from now on, do. */
void map_log_follow(struct map_log *log, pid_t pid);

void map_log_free(struct map_log *log);

/* What process pid had mapped at ts (CLOCK_MONOTONIC), as far as the log goes back. 0 or -ENOMEM. */
int map_log_read(struct map_log *log, uint32_t pid, uint64_t ts, struct mappings *mappings);

#endif
