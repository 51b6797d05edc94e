/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PROGRAM_IMAGE_NODE_H
#define PROGRAM_IMAGE_NODE_H

/* The expressions of an image: rows of PROGRAM_NODES. */

#include <stdint.h>

enum program_kind { PROGRAM_I64 = 1, PROGRAM_U64, PROGRAM_F64, PROGRAM_BOOL, PROGRAM_STRING };

enum program_op {
	PROGRAM_OP_CONST = 1, /* imm: bits of the kind */
	PROGRAM_OP_TEXT,      /* a = text, b = its length; kind STRING */
	PROGRAM_OP_FIELD,     /* a = index in FIELDS, of the current event; kind by its value type */
	PROGRAM_OP_SLOT,      /* a = slot of the rule (from 0) */
	PROGRAM_OP_ADD, /* arithmetic on a and b, which have the node's kind (I64, U64; ADD SUB MUL DIV also F64) */
	PROGRAM_OP_SUB,
	PROGRAM_OP_MUL,
	PROGRAM_OP_DIV, /* integers: truncates towards zero; by zero: the condition is false, counted */
	PROGRAM_OP_MOD,
	PROGRAM_OP_AND, /* bits; BOOL operands allowed with kind BOOL (strict, not lazy) */
	PROGRAM_OP_OR,
	PROGRAM_OP_XOR,
	PROGRAM_OP_SHL,     /* b I64 or U64, taken modulo 64 */
	PROGRAM_OP_SHR,     /* arithmetic for I64, logical for U64 */
	PROGRAM_OP_CONVERT, /* a (I64, U64, F64, BOOL) to the node's kind (I64, U64, F64) */
	PROGRAM_OP_EQ,      /* a, b: any mix of I64 and U64 compares the numbers; or both F64, BOOL or STRING */
	PROGRAM_OP_NE,
	PROGRAM_OP_LT, /* I64/U64 mixes or F64 */
	PROGRAM_OP_LE,
	PROGRAM_OP_GT,
	PROGRAM_OP_GE,
	PROGRAM_OP_LIKE, /* a STRING, b a TEXT node: glob with `*` only */
	PROGRAM_OP_LAND, /* lazy, left to right */
	PROGRAM_OP_LOR,
	PROGRAM_OP_LNOT, /* a */
	PROGRAM_OP_COUNT,
};

/*
 * Operands have smaller indices than the node. Depth at most PROGRAM_DEPTH_MAX. Operands may be shared, but evaluating
 * a node visits at most PROGRAM_EXPANSION_MAX nodes.
 */
struct program_node {
	uint8_t op;
	uint8_t kind;
	uint16_t depth; /* 1 for a leaf */
	uint32_t a, b;
	uint32_t reserved;
	uint64_t imm;
};

enum { PROGRAM_DEPTH_MAX = 128, PROGRAM_EXPANSION_MAX = 4096 };
_Static_assert(sizeof(struct program_node) == 24, "on-disk layout");

#endif
