/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef EBPF_KERNEL_ATTACH_FORMAT_H
#define EBPF_KERNEL_ATTACH_FORMAT_H

/* What the kernel tells of how it is asked for probes in user code. */

#include <stdbool.h>

/* The number that a file of the kernel's folder about such probes has behind prefix, or -errno. */
int attach_format(const char *file, const char *prefix);

/* Whether it raises the semaphores of USDT probes (Linux 4.20). */
bool attach_has_semaphores(void);

#endif
