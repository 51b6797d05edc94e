/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef EBPF_SOURCE_MERGE_H
#define EBPF_SOURCE_MERGE_H

#include "ebpf/source/plan.h"

/* Returns 0, -ENOMEM. */
int source_unit_add_entry(struct source_unit *unit, const struct source_entry *entry);

/*
 * Once all entries of a plan are known: probes in user code share programs where they can. The units keep their order,
 * that of the first of their probes. Returns 0, -ENOMEM.
 */
int source_merge_units(struct source_plan *plan);

#endif
