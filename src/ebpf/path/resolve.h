/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef EBPF_PATH_RESOLVE_H
#define EBPF_PATH_RESOLVE_H

#include "ebpf/kernel/attach-probe.h"
#include "ebpf/path/path.h"

/* What paths are resolved against: the kernel, and the tracepoint of one source. */
struct source_binding {
	const struct btf_kernel *btf;
	struct arena *arena;
	bool classic;                     /* a record as tracefs describes it instead of raw arguments */
	bool is_awaited;                  /* an offset in the record is one in what is known of an awaited call */
	bool is_probe;                    /* classic: the record is the registers of user code */
	const struct attach_place *place; /* is_probe: where it stands */
	struct btf_tracepoint tracepoint; /* unless classic */
	uint32_t task_struct;             /* type id; looked up when first needed */
	uint32_t cast;                    /* type id of the struct that the last cast was to, which is called: */
	const char *cast_name;
	char *reason;
	size_t size;
};

/*
 * Binds a path, or rather the choices of it that this kernel has, to the kernel's types. Returns 0; -ENOENT (this
 * kernel lacks something), -ESRCH (the USDT probe has no such argument) or -EINVAL (makes no sense on any) with one
 * clause in the binding's reason; -ENOMEM.
 */
int path_resolve(struct source_binding *binding, struct source_node *node);

/* The same for a path that must give an integer. */
int path_resolve_integer(struct source_binding *binding, struct source_node *node);

#endif
