/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef EBPF_LOWER_NODES_H
#define EBPF_LOWER_NODES_H

/* What lowering knows of expressions before it makes code of them, from the image alone. */

#include "program/load.h"

#include <stdbool.h>

/* What is worth knowing of every node, by index. */
struct ebpf_node_info {
	uint8_t need;     /* registers that evaluating it takes without spilling */
	bool in_kernel;   /* it and its operands can be lowered */
	bool divides;     /* it may divide by zero */
	bool reads_slots; /* a slot is in it */
	bool has_pattern; /* a LIKE is in it */
	uint32_t pattern; /* of a LIKE that takes an automaton (lower/pattern.h): its number, from 1 */
};

/* Information on all nodes of program; the caller frees it with alloc_free. NULL when memory is short. */
struct ebpf_node_info *ebpf_node_info_new(const struct program *program);

/* How many automata the nodes take. */
uint32_t ebpf_pattern_count(const struct program *program, const struct ebpf_node_info *infos);
/* The text of the pattern of node, a LIKE. */
const char *ebpf_pattern_text(const struct program *program, const struct program_node *node);

#endif
