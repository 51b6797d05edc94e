/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef EBPF_MATCHER_STOPS_H
#define EBPF_MATCHER_STOPS_H

/* The table in which programs note whom they stop (react/stops.h), as a map of its own: the watchdog shares nothing
 * else.
 */

#include "ebpf/kernel/array.h"
#include "react/stops.h"

struct ebpf_stops {
	struct ebpf_array map;
	struct react_stop_table *table; /* in it, so that a forked process shares it */
};

/* Returns 0, -EPERM, -ENOMEM, -EOPNOTSUPP with a message. The table is closed as yet. */
int ebpf_stops_init(struct ebpf_stops *stops, struct asterism_diag *diag);
void ebpf_stops_fini(struct ebpf_stops *stops);

/* Remembers that the program may write to the table; before it is attached. Returns 0 or -E2BIG. */
int ebpf_stops_add(struct ebpf_stops *stops, int program_fd);

#endif
