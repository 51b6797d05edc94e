/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef EBPF_MEMORY_LAYOUT_PRIV_H
#define EBPF_MEMORY_LAYOUT_PRIV_H

/* Inside the layout: who needs how much. */

#include "ebpf/memory/layout.h"

/* tally: how many bytes counters and histograms take. 0 or -ENOMEM. */
int memory_lay_out_tallies(struct memory *memory, uint64_t *bytes);

/* stack-table: finds room for stacks, if a statement takes any. 0, -E2BIG. */
int memory_lay_out_stacks(struct memory *memory);

/* why: bytes of the counts of what becomes of runs; 0: they are not asked for. */
uint64_t memory_why_bytes(struct memory *memory, const struct plan_rule *rule);
uint64_t memory_seen_bytes(struct memory *memory);

/* map: finds room for bytes; -E2BIG where no map could hold them. */
int memory_place(struct memory *memory, uint64_t bytes, struct memory_region *region);

/* sums: finds room for those of the rule, if programs keep any. 0, -E2BIG. */
int memory_lay_out_sums(struct memory *memory, const struct plan_rule *rule);

/* log: bytes of that of a rule; 0: it has none. */
uint64_t memory_log_bytes(const struct plan_history *history);

/* map: makes the maps that are laid out. 0 or an -errno with a message. */
int memory_make_maps(struct memory *memory, uint32_t ring_bytes, struct asterism_diag *diag);
void memory_close_maps(struct memory *memory);

#endif
