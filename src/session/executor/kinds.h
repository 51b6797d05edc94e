/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SESSION_EXECUTOR_KINDS_H
#define SESSION_EXECUTOR_KINDS_H

/* The kinds of executors, each in its file, and what they need of each other. */

#include "session/executor/executor.h"

extern const struct executor_kind executor_sharded, executor_user, executor_kernel, executor_mixed;

/* Where a live executor of the kernel's hands on the events of rules that run elsewhere; as in ebpf_options. */
struct kernel_stream {
	int (*on_event)(void *context, const struct event_header *record); /* NULL: not wanted */
	void (*on_lost)(void *context, uint64_t lost);
	void *context;
};

/* As open of the kind, for EXECUTOR_LIVE; -E2BIG where it is too much for one program of this kernel. */
int kernel_open(const struct executor_options *options, const struct kernel_stream *stream, struct asterism_diag *diag,
		struct executor **made);

/* Whether nothing is asked of the kernel; then what has its place, which has none of its programs. */
bool bare_does(const struct executor_options *options);
int bare_open(const struct executor_options *options, struct asterism_diag *diag, struct executor **made);

/* A defect of the generated code is, to its user, something this kernel does not do. */
int kernel_error(int result);

#endif
