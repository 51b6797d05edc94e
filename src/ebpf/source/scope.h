/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef EBPF_SOURCE_SCOPE_H
#define EBPF_SOURCE_SCOPE_H

/*
 * Which processes are observed: a bit per thread-group id in an array map that both sides have mapped. The kernel tests
 * a bit per event. A new process gets its bit at birth, before it can run: its parent's under EBPF_SCOPE_TREE, else
 * none. So a bit needs no clearing at death: the last that a process does is still in scope, and the process that gets
 * its number later starts afresh. The caller's own process is never in the set.
 *
 * Ids are those of the initial pid namespace, the only ones that the kernel's events carry. A caller in another
 * namespace can observe everything (its own process is recognised all the same) but can name no process.
 *
 * A filter narrows this down. Then there are two sets: those that the scope is about, as above, and among them those
 * that are observed, who have passed the filter or descend from one that has. Programs where a process is born, gets a
 * name, runs another program, moves to another cgroup or changes its user put it there.
 *
 * An event in interrupt context belongs to the interrupted task, so it is in scope if that one is.
 */

#include "base/diag.h"
#include "ebpf/asm/asm.h"
#include "ebpf/kernel/btf-kernel.h"
#include "ebpf/kernel/feature.h"
#include "ebpf/source/scope-filter.h"

#include <stdbool.h>
#include <sys/types.h>

enum ebpf_scope {
	EBPF_SCOPE_TREE, /* the processes added by ebpf_scope_add, and all their descendants */
	EBPF_SCOPE_PIDS, /* only the processes added by ebpf_scope_add */
	EBPF_SCOPE_ALL,  /* every process but the caller's own */
};

/* Whether ids in events are those of this process's pid namespace, so that it can name whom they are about. */
bool ebpf_ids_are_own(void);

struct scope;

struct scope_options {
	enum ebpf_scope kind;
	const struct btf_kernel *btf;
	const struct ebpf_features *features;
	const struct ebpf_scope_filter *filter; /* NULL: none; must outlive the scope */
};

/*
 * Makes the set, empty, and loads the program that keeps it. Returns 0; -EPERM, -EOPNOTSUPP (the kernel lacks
 * a tracepoint), -ENOMEM, with a sentence.
 */
int scope_new(const struct scope_options *options, struct asterism_diag *diag, struct scope **made);
void scope_free(struct scope *scope);

/* Starts to follow births. To be called before the programs that ask the scope are attached. */
int scope_attach(struct scope *scope, struct asterism_diag *diag);

/*
 * Adds a process, and under EBPF_SCOPE_TREE the descendants that it already has, as far as they have not been left
 * behind by their parents. Returns 0; -ESRCH, -EINVAL (our own process, or no id at all), -EOPNOTSUPP (not in the
 * initial pid namespace), -ENOMEM. Under EBPF_SCOPE_ALL nothing needs adding.
 */
int scope_add(struct scope *scope, pid_t pid);

bool scope_has(const struct scope *scope, pid_t pid);

/*
 * Code that goes to label unless the process is in scope whose id, zero-extended, is in register id; that is any but r0
 * and r1, which are lost.
 */
void scope_emit_test(const struct scope *scope, struct ebpf_asm *as, uint8_t id, uint32_t label);

/*
 * Code that goes to label if everything is observed and the process whose id is in register id is our own. Where
 * certain processes are observed, what we do to them belongs to their story: without our switch to one its wait has no
 * end.
 */
void scope_emit_foreign(const struct scope *scope, struct ebpf_asm *as, uint8_t id, uint32_t label);

/* Code that goes to label if the process whose id is in register id is our own. */
void scope_emit_own(const struct scope *scope, struct ebpf_asm *as, uint8_t id, uint32_t label);

#endif
