// SPDX-License-Identifier: BSD-2-Clause
/*
 * The operations of the engine's code, one function each. The semantics are those of program/eval.h, operation by
 * operation; the macros exist because the bodies differ in a type and an operator only.
 */

#include "engine/code-priv.h"

#include "program/eval.h"

#include <string.h>

static inline uint64_t integer_at(const char *from)
{
	uint64_t value;

	memcpy(&value, from, sizeof value);
	return value;
}

static inline double real_at(const char *from)
{
	double value;

	memcpy(&value, from, sizeof value);
	return value;
}

static inline const char *at_a(const struct engine_op *op, const struct engine_frame *frame)
{
	return frame->base[op->a_base] + op->a;
}

static inline const char *at_b(const struct engine_op *op, const struct engine_frame *frame)
{
	return frame->base[op->b_base] + op->b;
}

static inline const struct engine_op *store(const struct engine_op *op, struct engine_frame *frame, uint64_t value)
{
	memcpy(frame->base[op->d_base] + op->d, &value, sizeof value);
	return op + 1;
}

static inline const struct engine_op *store_real(const struct engine_op *op, struct engine_frame *frame, double value)
{
	memcpy(frame->base[op->d_base] + op->d, &value, sizeof value);
	return op + 1;
}

#define OP(name) static const struct engine_op *name(const struct engine_op *op, struct engine_frame *frame)

#define JUMP(name, type_a, type_b, test)                        \
	OP(name)                                                \
	{                                                       \
		type_a a = (type_a)integer_at(at_a(op, frame)); \
		type_b b = (type_b)integer_at(at_b(op, frame)); \
                                                                \
		return (test) ? op->target : op + 1;            \
	}

#define JUMP_REAL(name, test)                                                      \
	OP(name)                                                                   \
	{                                                                          \
		double a = real_at(at_a(op, frame)), b = real_at(at_b(op, frame)); \
                                                                                   \
		return (test) == op->sense ? op->target : op + 1;                  \
	}

#define COMPUTE(name, type, value)                                                                 \
	OP(name)                                                                                   \
	{                                                                                          \
		type a = (type)integer_at(at_a(op, frame)), b = (type)integer_at(at_b(op, frame)); \
                                                                                                   \
		return store(op, frame, (uint64_t)(value));                                        \
	}

#define DIVIDE(name, type, value)                                                                  \
	OP(name)                                                                                   \
	{                                                                                          \
		type a = (type)integer_at(at_a(op, frame)), b = (type)integer_at(at_b(op, frame)); \
                                                                                                   \
		return b ? store(op, frame, (uint64_t)(value)) : op->target;                       \
	}

#define COMPUTE_REAL(name, value)                                                  \
	OP(name)                                                                   \
	{                                                                          \
		double a = real_at(at_a(op, frame)), b = real_at(at_b(op, frame)); \
                                                                                   \
		return store_real(op, frame, value);                               \
	}

OP(divided)
{
	++*frame->divisions;
	return op->target;
}

OP(jump)
{
	(void)frame;
	return op->target;
}

JUMP(jump_eq, uint64_t, uint64_t, a == b)
JUMP(jump_ne, uint64_t, uint64_t, a != b)
JUMP(jump_lt_i, int64_t, int64_t, a < b)
JUMP(jump_le_i, int64_t, int64_t, a <= b)
JUMP(jump_lt_u, uint64_t, uint64_t, a < b)
JUMP(jump_le_u, uint64_t, uint64_t, a <= b)
JUMP(jump_eq_iu, int64_t, uint64_t, a >= 0 && (uint64_t)a == b)
JUMP(jump_ne_iu, int64_t, uint64_t, a < 0 || (uint64_t)a != b)
JUMP(jump_lt_iu, int64_t, uint64_t, a < 0 || (uint64_t)a < b)
JUMP(jump_le_iu, int64_t, uint64_t, a < 0 || (uint64_t)a <= b)
JUMP(jump_lt_ui, uint64_t, int64_t, b >= 0 && a < (uint64_t)b)
JUMP(jump_le_ui, uint64_t, int64_t, b >= 0 && a <= (uint64_t)b)
JUMP_REAL(jump_eq_f, a == b)
JUMP_REAL(jump_lt_f, a < b)
JUMP_REAL(jump_le_f, a <= b)

OP(jump_eq_t)
{
	return (strcmp(at_a(op, frame), at_b(op, frame)) == 0) == op->sense ? op->target : op + 1;
}

OP(jump_like_t)
{
	return program_like(at_a(op, frame), at_b(op, frame)) == op->sense ? op->target : op + 1;
}

OP(move)
{
	return store(op, frame, integer_at(at_a(op, frame)));
}

OP(move_32)
{
	uint32_t value;

	memcpy(&value, at_a(op, frame), sizeof value);
	return store(op, frame, value);
}

/* The source may be the destination itself, so the copy must stand overlap. */
OP(move_t)
{
	const char *from = at_a(op, frame);
	char *to = frame->base[op->d_base] + op->d;
	size_t length = strnlen(from, op->b - 1);

	memmove(to, from, length);
	memset(to + length, 0, op->b - length);
	return op + 1;
}

COMPUTE(add, uint64_t, a + b)
COMPUTE(sub, uint64_t, a - b)
COMPUTE(mul, uint64_t, a *b)
COMPUTE(and, uint64_t, a &b)
COMPUTE(or, uint64_t, a | b)
COMPUTE(xor, uint64_t, a ^ b)
COMPUTE(shl, uint64_t, a << (b & 63))
COMPUTE(shr_i, int64_t, a >> (b & 63))
COMPUTE(shr_u, uint64_t, a >> (b & 63))
DIVIDE(div_i, int64_t, b == -1 ? 0 - (uint64_t)a : (uint64_t)(a / b))
DIVIDE(div_u, uint64_t, a / b)
DIVIDE(mod_i, int64_t, b == -1 ? 0 : a % b)
DIVIDE(mod_u, uint64_t, a % b)
COMPUTE(min_i, int64_t, a < b ? a : b)
COMPUTE(min_u, uint64_t, a < b ? a : b)
COMPUTE(max_i, int64_t, a > b ? a : b)
COMPUTE(max_u, uint64_t, a > b ? a : b)
COMPUTE_REAL(min_f, a < b ? a : b)
COMPUTE_REAL(max_f, a > b ? a : b)
COMPUTE_REAL(add_f, a + b)
COMPUTE_REAL(sub_f, a - b)
COMPUTE_REAL(mul_f, a *b)
COMPUTE_REAL(div_f, a / b)

OP(i_to_f)
{
	return store_real(op, frame, (double)(int64_t)integer_at(at_a(op, frame)));
}

OP(u_to_f)
{
	return store_real(op, frame, (double)integer_at(at_a(op, frame)));
}

/* Both bounds are exact as doubles; what lies outside saturates. */
OP(f_to_i)
{
	double real = real_at(at_a(op, frame));
	int64_t value = 0;

	if (real >= 0x1p63)
		value = INT64_MAX;
	else if (real < -0x1p63)
		value = INT64_MIN;
	else if (real == real)
		value = (int64_t)real;
	return store(op, frame, (uint64_t)value);
}

OP(f_to_u)
{
	double real = real_at(at_a(op, frame));
	uint64_t value = 0;

	if (real >= 0x1p64)
		value = UINT64_MAX;
	else if (real > 0)
		value = (uint64_t)real;
	return store(op, frame, value);
}

engine_op_fn *const engine_op_functions[ENGINE_OP_COUNT] = {
	[ENGINE_OP_END] = NULL,
	[ENGINE_OP_DIVIDED] = divided,
	[ENGINE_OP_JUMP] = jump,
	[ENGINE_OP_JUMP_EQ] = jump_eq,
	[ENGINE_OP_JUMP_NE] = jump_ne,
	[ENGINE_OP_JUMP_LT_I] = jump_lt_i,
	[ENGINE_OP_JUMP_LE_I] = jump_le_i,
	[ENGINE_OP_JUMP_LT_U] = jump_lt_u,
	[ENGINE_OP_JUMP_LE_U] = jump_le_u,
	[ENGINE_OP_JUMP_EQ_IU] = jump_eq_iu,
	[ENGINE_OP_JUMP_NE_IU] = jump_ne_iu,
	[ENGINE_OP_JUMP_LT_IU] = jump_lt_iu,
	[ENGINE_OP_JUMP_LE_IU] = jump_le_iu,
	[ENGINE_OP_JUMP_LT_UI] = jump_lt_ui,
	[ENGINE_OP_JUMP_LE_UI] = jump_le_ui,
	[ENGINE_OP_JUMP_EQ_F] = jump_eq_f,
	[ENGINE_OP_JUMP_LT_F] = jump_lt_f,
	[ENGINE_OP_JUMP_LE_F] = jump_le_f,
	[ENGINE_OP_JUMP_EQ_T] = jump_eq_t,
	[ENGINE_OP_JUMP_LIKE_T] = jump_like_t,
	[ENGINE_OP_MOVE] = move,
	[ENGINE_OP_MOVE_32] = move_32,
	[ENGINE_OP_MOVE_T] = move_t,
	[ENGINE_OP_ADD] = add,
	[ENGINE_OP_SUB] = sub,
	[ENGINE_OP_MUL] = mul,
	[ENGINE_OP_AND] = and,
	[ENGINE_OP_OR] = or
	,
	[ENGINE_OP_XOR] = xor,
	[ENGINE_OP_SHL] = shl,
	[ENGINE_OP_SHR_I] = shr_i,
	[ENGINE_OP_SHR_U] = shr_u,
	[ENGINE_OP_DIV_I] = div_i,
	[ENGINE_OP_DIV_U] = div_u,
	[ENGINE_OP_MOD_I] = mod_i,
	[ENGINE_OP_MOD_U] = mod_u,
	[ENGINE_OP_MIN_I] = min_i,
	[ENGINE_OP_MIN_U] = min_u,
	[ENGINE_OP_MIN_F] = min_f,
	[ENGINE_OP_MAX_I] = max_i,
	[ENGINE_OP_MAX_U] = max_u,
	[ENGINE_OP_MAX_F] = max_f,
	[ENGINE_OP_ADD_F] = add_f,
	[ENGINE_OP_SUB_F] = sub_f,
	[ENGINE_OP_MUL_F] = mul_f,
	[ENGINE_OP_DIV_F] = div_f,
	[ENGINE_OP_I_TO_F] = i_to_f,
	[ENGINE_OP_U_TO_F] = u_to_f,
	[ENGINE_OP_F_TO_I] = f_to_i,
	[ENGINE_OP_F_TO_U] = f_to_u,
};
