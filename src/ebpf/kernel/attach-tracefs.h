/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef EBPF_KERNEL_ATTACH_TRACEFS_H
#define EBPF_KERNEL_ATTACH_TRACEFS_H

#include <stdint.h>

/*
 * The number under which perf knows the tracepoint called "system:name". Returns 0; -ENOENT (no such tracepoint, also
 * for names that are none), -EACCES or -EPERM (tracefs is closed to us), -Exxx.
 */
int attach_tracefs_id(const char *tracepoint, uint32_t *id);

#endif
