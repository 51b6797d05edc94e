/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef EBPF_MEMORY_LAYOUT_PRIV_H
#define EBPF_MEMORY_LAYOUT_PRIV_H

/* Inside the layout: who needs how much. */

#include "ebpf/memory/layout.h"

/* tally: how many bytes counters and histograms take. 0 or -ENOMEM. */
int memory_lay_out_tallies(struct memory *memory, uint64_t *bytes);

/* stack-table: bytes of the table; 0: no statement takes stacks. */
uint64_t memory_stack_bytes(const struct plan *plan);

/* map: makes the maps that are laid out. 0 or an -errno with a message. */
int memory_make_maps(struct memory *memory, uint32_t ring_bytes, struct asterism_diag *diag);
void memory_close_maps(struct memory *memory);

#endif
