/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef EBPF_SOURCE_WATCH_H
#define EBPF_SOURCE_WATCH_H

/*
 * The kernel runs no program of perf's (which reads a tracepoint's record) while another is at work on the same CPU, or
 * while a process updates a map there. Before 6.7 it does not count them. So a program at the raw tracepoint, which the
 * kernel always runs, looks whether it is about to leave the others out.
 */

#include "ebpf/kernel/btf-kernel.h"
#include "ebpf/kernel/feature.h"

struct watch;

/*
 * tracepoint is "system:name". Returns 0; *made is NULL where the kernel does not tell what is at work, so that it has
 * to count itself; -EPERM, -ENOMEM and others with a message.
 */
int watch_new(const char *tracepoint, const struct btf_kernel *btf, const struct ebpf_features *features,
	      struct asterism_diag *diag, struct watch **made);
void watch_free(struct watch *watch);

/* From here on firings are counted, until watch_detach. Returns 0 or -Exxx with a message. */
int watch_attach(struct watch *watch, struct asterism_diag *diag);
void watch_detach(struct watch *watch);

/* How many firings were left out so far; -1 where there is no raw tracepoint of this name. */
int64_t watch_misses(const struct watch *watch);

#endif
