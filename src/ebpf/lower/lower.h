/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef EBPF_LOWER_LOWER_H
#define EBPF_LOWER_LOWER_H

/*
 * Lowering: from the nodes and actions of an image to instructions. The meaning is that of program/eval.h.
 *
 * Registers: r6 holds the record, another the slot area; r0-r5 are for temporaries and are lost. Expressions with
 * more intermediate results than registers spill to the stack.
 */

#include "ebpf/asm/asm.h"
#include "ebpf/lower/nodes.h"

#include <stdbool.h>

struct ebpf_lower {
	struct ebpf_asm *as;
	const struct program *program;
	const struct program_rule *rule;
	const struct ebpf_node_info *info;
	uint8_t slots;     /* register with the base of the slot area */
	int32_t slots_off; /* the area's distance from it */
	bool slots_zero;   /* there is no area yet: every slot reads as zero */
	/* The automata of patterns: struct ebpf_pattern one behind the other, in a map at an offset. */
	int patterns_fd;
	uint32_t patterns_off;
	bool irqs_off; /* interrupts may be locked out: no call of a function that the verifier looks at once */
	/* Where a division by zero leads to; valid while something that divides is lowered. */
	uint32_t on_zero;
};

/* Jumps to label if node yields `sense`, else falls through. node: kind BOOL, not NONE. */
void ebpf_lower_branch(struct ebpf_lower *lower, uint32_t node, bool sense, uint32_t label);

/* r1 = the value of node (not a text). */
void ebpf_lower_value(struct ebpf_lower *lower, uint32_t node);

/* r0 = the number of the highest bit of r1, which is not 0, plus 1. Overwrites r1, r2. */
void ebpf_lower_bit_length(struct ebpf_asm *as);

/* Runs one action of the rule on the slot area. A division by zero leaves for on_zero with the slot as it was. */
void ebpf_lower_action(struct ebpf_lower *lower, const struct program_action *action);

/* bytes (a multiple of 8) at off from base become the text node, cut where it is longer than fits with a NUL. */
struct ebpf_text_place {
	uint8_t base;
	int32_t off;
	uint32_t bytes;
};
void ebpf_lower_text(struct ebpf_lower *lower, uint32_t node, const struct ebpf_text_place *place);

/* Copies count 8-byte words from src + from to dst + to; dst and src do not overlap. Overwrites r0-r5. */
struct ebpf_words {
	uint8_t dst, src;
	int32_t to, from;
	uint32_t count;
};
void ebpf_lower_copy(const struct ebpf_lower *lower, const struct ebpf_words *words);
/* count words at dst + to become 0. Overwrites r0-r5. */
void ebpf_lower_zero(const struct ebpf_lower *lower, uint8_t dst, int32_t to, uint32_t count);

#endif
