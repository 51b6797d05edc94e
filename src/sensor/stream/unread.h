/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SENSOR_STREAM_UNREAD_H
#define SENSOR_STREAM_UNREAD_H

/*
 * Processes that have sensors and are not read: refused by the directory, or with memory that cannot be mapped. What
 * they raise nobody knows, so each that is observed counts as an event lost, at the least.
 */

#include "sensor/observer.h"

#include <sys/types.h>

struct unread_process;

/* Zero: none. */
struct unread {
	struct unread_process *items; /* of which it is not known whether they are observed */
	size_t count;
	uint64_t told; /* those that were */
};

/*
 * The process of the notice: one that was left out, or whose memory cannot be mapped, for the notice's fault. Returns
 * 0, -ENOMEM.
 */
int unread_add(struct unread *unread, const struct sensor_notice *notice);
void unread_fini(struct unread *unread);

struct unread_scope {
	bool (*in_scope)(void *context, pid_t pid, pid_t parent);
	void *context;
	struct asterism_diag *diag;
};

/* Those that are observed by now are told of, the first of them by name. Returns how many these are. */
uint64_t unread_judge(struct unread *unread, const struct unread_scope *scope);

#endif
