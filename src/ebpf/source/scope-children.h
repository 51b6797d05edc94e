/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef EBPF_SOURCE_SCOPE_CHILDREN_H
#define EBPF_SOURCE_SCOPE_CHILDREN_H

#include <sys/types.h>

/*
 * Calls found for every process that is now a child of process pid, until it returns something else than 0.
 * Returns that, or -errno. A process that is gone has none.
 */
int scope_children(pid_t pid, int (*found)(void *context, pid_t child), void *context);

#endif
