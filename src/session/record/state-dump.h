/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SESSION_RECORD_STATE_DUMP_H
#define SESSION_RECORD_STATE_DUMP_H

/* Which threads there are when a recording begins, as /proc tells, for traces with LTTng's names. */

#include "trace/ctf/layout.h"

#include <sys/types.h>

/* Told of each thread; another result than 0 ends the dump. */
typedef int state_dump_fn(void *context, const struct ctf_process *process);

/* All threads of a process; none where it has ended. Returns 0 or what tell returned. */
int state_dump_process(pid_t pid, state_dump_fn *report, void *context);

/* All threads of all processes but the caller's. As state_dump_process. */
int state_dump_all(state_dump_fn *report, void *context);

/*
 * Takes apart /proc/TID/stat and /proc/TID/status, NUL-terminated. parent is the status of the parent; NULL: not known.
 * Returns 0, or -EINVAL where that is not what they look like, and then process is not complete.
 */
int state_dump_parse(const char *stat, const char *status, const char *parent, struct ctf_process *process);

#endif
