/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef ENGINE_CODE_PRIV_H
#define ENGINE_CODE_PRIV_H

/*
 * Expressions and actions in the form the engine executes: three-address operations, each a function and up to three
 * operands. An operand is an offset from one of a few bases (the record, the run's slots, constants, registers, texts),
 * so every operation takes any leaf directly and `b.ts - a.ts > 2ms` is two of them. Conditions are jumps.
 * program_eval is the meaning; this is only faster.
 */

#include "base/alloc.h"
#include "program/load.h"

#include <stdbool.h>

enum engine_base {
	ENGINE_BASE_RECORD,
	ENGINE_BASE_SLOTS,
	ENGINE_BASE_CONSTS,
	ENGINE_BASE_REGISTERS,
	ENGINE_BASE_TEXTS,
	ENGINE_BASE_COUNT,
};

/* An expression needs at most one register per level of depth, and one to widen a leaf. */
enum { ENGINE_REGISTERS = PROGRAM_DEPTH_MAX + 2 };

/* What code reads and writes. Only slots and registers are ever written. */
struct engine_frame {
	char *base[ENGINE_BASE_COUNT];
	uint64_t *divisions; /* the counter of divisions by zero in conditions */
	uint64_t registers[ENGINE_REGISTERS];
};

struct engine_op;

/* Executes op and returns the next one. */
typedef const struct engine_op *engine_op_fn(const struct engine_op *op, struct engine_frame *frame);

struct engine_op {
	engine_op_fn *run;              /* NULL: the end, sense is the result */
	const struct engine_op *target; /* of a jump, and of a division by zero */
	uint32_t a, b, d;               /* operands, destination; TEXT_MOVE: b is the destination's capacity */
	uint8_t a_base, b_base, d_base;
	uint8_t sense; /* JUMP_F64_*, JUMP_TEXT_*: jump when the comparison yields this */
};

_Static_assert(sizeof(struct engine_op) == 32, "two operations per cache line");

enum engine_op_id {
	ENGINE_OP_END,
	ENGINE_OP_DIVIDED, /* counts a division by zero, then jumps */
	ENGINE_OP_JUMP,
	ENGINE_OP_JUMP_EQ, /* a == b, 64 bits */
	ENGINE_OP_JUMP_NE,
	ENGINE_OP_JUMP_LT_I, /* both signed */
	ENGINE_OP_JUMP_LE_I,
	ENGINE_OP_JUMP_LT_U, /* both unsigned */
	ENGINE_OP_JUMP_LE_U,
	ENGINE_OP_JUMP_EQ_IU, /* a signed, b unsigned: the numbers are compared */
	ENGINE_OP_JUMP_NE_IU,
	ENGINE_OP_JUMP_LT_IU,
	ENGINE_OP_JUMP_LE_IU,
	ENGINE_OP_JUMP_LT_UI,
	ENGINE_OP_JUMP_LE_UI,
	ENGINE_OP_JUMP_EQ_F,
	ENGINE_OP_JUMP_LT_F,
	ENGINE_OP_JUMP_LE_F,
	ENGINE_OP_JUMP_EQ_T,
	ENGINE_OP_JUMP_LIKE_T,
	ENGINE_OP_MOVE,
	ENGINE_OP_MOVE_32, /* a is 32 bits wide */
	ENGINE_OP_MOVE_T,
	ENGINE_OP_ADD,
	ENGINE_OP_SUB,
	ENGINE_OP_MUL,
	ENGINE_OP_AND,
	ENGINE_OP_OR,
	ENGINE_OP_XOR,
	ENGINE_OP_SHL,
	ENGINE_OP_SHR_I,
	ENGINE_OP_SHR_U,
	ENGINE_OP_DIV_I,
	ENGINE_OP_DIV_U,
	ENGINE_OP_MOD_I,
	ENGINE_OP_MOD_U,
	ENGINE_OP_MIN_I,
	ENGINE_OP_MIN_U,
	ENGINE_OP_MIN_F,
	ENGINE_OP_MAX_I,
	ENGINE_OP_MAX_U,
	ENGINE_OP_MAX_F,
	ENGINE_OP_ADD_F,
	ENGINE_OP_SUB_F,
	ENGINE_OP_MUL_F,
	ENGINE_OP_DIV_F,
	ENGINE_OP_I_TO_F,
	ENGINE_OP_U_TO_F,
	ENGINE_OP_F_TO_I,
	ENGINE_OP_F_TO_U,
	ENGINE_OP_COUNT,
};

extern engine_op_fn *const engine_op_functions[ENGINE_OP_COUNT];

/* All code of one engine. Zero-initialise; blocks are referred to by index until engine_code_link. */
struct engine_code {
	struct engine_op *ops;
	uint32_t *targets; /* per operation: a label, until linked */
	uint64_t *consts;
	uint32_t *labels; /* per label: the operation it stands at */
	size_t op_count, op_room, target_room, const_count, const_room, label_count, label_room;
	int failed; /* the first failure; sticks */
};

void engine_code_fini(struct engine_code *code);

/*
 * Compiles node, kind BOOL, to a block that yields whether it holds. Of a LAND, what it asks first may be known to hold
 * and is not asked then; PROGRAM_NONE: it is not known. Returns the block's index. Failures stick in code->failed:
 * -ENOMEM, -E2BIG (actions shared so often that the code would be too large).
 */
uint32_t engine_compile_condition(struct engine_code *code, const struct program *program,
				  const struct program_rule *rule, uint32_t node, uint32_t known);

/* Actions, and what is asked afterwards (PROGRAM_NONE: nothing). */
struct engine_work {
	const struct program_action *actions;
	uint32_t count, hold;
};

/* Compiles work to one block that yields whether hold holds. */
uint32_t engine_compile_effect(struct engine_code *code, const struct program *program, const struct program_rule *rule,
			       const struct engine_work *work);

/* Turns labels into addresses. Returns 0 or what stuck. No compiling after it. */
int engine_code_link(struct engine_code *code);

/* Makes a frame ready for the code of program; the record and the slots are the caller's to set. */
void engine_frame_init(struct engine_frame *frame, const struct program *program, const struct engine_code *code);

static inline bool engine_code_holds(const struct engine_op *op, struct engine_frame *frame)
{
	while (op->run)
		op = op->run(op, frame);
	return op->sense;
}

#endif
