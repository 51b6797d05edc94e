/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef EBPF_SOURCE_SCOPE_FILTER_H
#define EBPF_SOURCE_SCOPE_FILTER_H

/*
 * What a process must be to be observed, besides being one of those that the scope is about: in one of the cgroups,
 * called one of the names, and of one of the users, as far as any are given. It is judged once, by the kernel where one
 * of these changes and by /proc when a session begins; who has passed stays observed, with all descendants.
 */

#include "ebpf/asm/asm.h"
#include "ebpf/path/resolve.h"

#include <stdbool.h>
#include <sys/types.h>

struct ebpf_scope_cgroup {
	uint64_t id;      /* the inode of its folder */
	uint32_t level;   /* how many folders its path has */
	const char *path; /* below the mount, which is that of the whole hierarchy; begins with a slash */
};

struct ebpf_scope_filter {
	const struct ebpf_scope_cgroup *cgroups;
	size_t cgroup_count;
	const char *const *comms; /* the first 15 bytes count */
	size_t comm_count;
	const uid_t *users; /* real ids */
	size_t user_count;
};

/* Whose passing is asked for: paths to the task and to its name. */
struct scope_filter_subject {
	const char *task, *comm;
};

/*
 * Code that goes to label unless the subject passes; r0 to r5 are lost. Returns 0; -ENOENT: this kernel lacks what has
 * to be known, with a clause in the binding's reason; -ENOMEM.
 */
int scope_filter_emit(const struct ebpf_scope_filter *filter, const struct scope_filter_subject *subject,
		      struct ebpf_asm *as, struct source_binding *binding, uint32_t label);

/* Whether a process passes by now; one that is gone does not. */
bool scope_filter_passes(const struct ebpf_scope_filter *filter, pid_t pid);

#endif
