/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef EBPF_PATH_USDT_H
#define EBPF_PATH_USDT_H

#include "ebpf/path/resolve.h"

/* Replaces usdt_arg(n) by where the probe of the binding has this argument. Returns what path_resolve does. */
int path_resolve_usdt(struct source_binding *binding, struct source_node *node);

#endif
