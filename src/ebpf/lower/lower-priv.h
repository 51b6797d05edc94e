/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef EBPF_LOWER_LOWER_PRIV_H
#define EBPF_LOWER_LOWER_PRIV_H

/*
 * Inside lowering. Temporaries are numbered from 0; temporary k is register r(k+1), and r0 is free: the emitter of a
 * few instructions may use it in between. "At k" means: the result goes to temporary k, those below k are in use.
 */

#include "ebpf/lower/lower.h"

enum { LOWER_TEMPS = 5 };

static inline uint8_t lower_register(uint32_t k)
{
	return (uint8_t)(R1 + k);
}

static inline const struct program_node *lower_node(const struct ebpf_lower *lower, uint32_t node)
{
	return &lower->program->nodes[node];
}

static inline bool lower_is_leaf(const struct program_node *node)
{
	return node->op == PROGRAM_OP_CONST || node->op == PROGRAM_OP_FIELD || node->op == PROGRAM_OP_SLOT;
}

/*
 * Enters a new function of so many parameters, each an address of as many bytes as bytes says. The verifier looks at it
 * once, not at every call, unless interrupts may be locked out. Then a parameter may be 0 as far as it knows, which
 * leads to *none, with r0 = 0 there.
 */
uint32_t lower_enter(const struct ebpf_lower *lower, const char *name, const uint32_t *bytes, uint32_t parameters,
		     uint32_t *none);

/* Whether node is a constant that an instruction can hold, and the constant. */
bool lower_immediate(const struct ebpf_lower *lower, uint32_t node, int32_t *imm);

/* Evaluates node at k. */
void lower_value(struct ebpf_lower *lower, uint32_t node, uint32_t k);

/*
 * Evaluates the two operands of node with temporaries from k on; one of them is at k. registers[0] and [1] tell where
 * the left and the right one are; the caller may overwrite both.
 */
void lower_pair(struct ebpf_lower *lower, const struct program_node *node, uint32_t k, uint8_t registers[2]);

/* The branch of lower.h with temporaries from k on. */
void lower_branch(struct ebpf_lower *lower, uint32_t node, bool sense, uint32_t label, uint32_t k);

/* EQ, NE and LIKE of texts. */
void lower_branch_text(struct ebpf_lower *lower, const struct program_node *node, bool sense, uint32_t label,
		       uint32_t k);

/* slot = a text */
void lower_set_text(struct ebpf_lower *lower, const struct program_slot *slot, uint32_t node);

#endif
