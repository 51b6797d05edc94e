/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SESSION_LIVE_FILTER_H
#define SESSION_LIVE_FILTER_H

/*
 * The processes that a session is narrowed down to, as users name them: those in one of the cgroups, containers and
 * units, that are called one of the names and belong to one of the users, as far as any are given.
 */

#include "base/diag.h"
#include "ebpf/source/scope.h"

#include <stddef.h>

struct live_filter_list {
	const char *const *items; /* outlive the filter */
	size_t count;
};

enum { LIVE_FILTER_ID_BYTES = 65 };

/* How many containers are called so; stores the id of the last one, 64 digits. Warns of files that may hide others. */
typedef int live_filter_id_fn(const char *name, struct asterism_diag *diag, char id[LIVE_FILTER_ID_BYTES]);

struct live_filter_names {
	struct live_filter_list cgroups;    /* folders of version 2, or paths in the hierarchy */
	struct live_filter_list containers; /* as container.h has them: a name, or how an id of hex digits begins */
	live_filter_id_fn *find_id;         /* of containers that no cgroup is called like; NULL: none is known */
	struct live_filter_list units;      /* of systemd; ".service" may be left out */
	struct live_filter_list comms;
	struct live_filter_list users; /* names or numbers */
};

struct live_filter;

/*
 * Looks for what is named: it must be there. Stores NULL where nothing is. Returns 0; -EINVAL (there is no such thing,
 * or there are two), -EOPNOTSUPP (no cgroups of version 2, or not all of them can be seen), -ENOMEM, with a message.
 */
int live_filter_new(const struct live_filter_names *names, struct asterism_diag *diag, struct live_filter **made);
void live_filter_free(struct live_filter *filter);

/* NULL for NULL. */
const struct ebpf_scope_filter *live_filter_get(const struct live_filter *filter);

#endif
