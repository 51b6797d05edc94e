// SPDX-License-Identifier: BSD-2-Clause
/* Computes the operations of paths outside of the kernel. */

#include "ebpf/path/path.h"

#include <byteswap.h>

uint64_t path_calculate(enum source_op op, uint64_t left, uint64_t right)
{
	int64_t a = (int64_t)left, b = (int64_t)right;

	switch (op) {
	case SOURCE_AND:
		return left & right;
	case SOURCE_OR:
		return left | right;
	case SOURCE_SHL:
		return left << (right & 63);
	case SOURCE_SHR:
		return left >> (right & 63);
	case SOURCE_ADD:
		return left + right;
	case SOURCE_SUB:
		return left - right;
	case SOURCE_MUL:
		return left * right;
	case SOURCE_BE16:
		return bswap_16((uint16_t)left);
	case SOURCE_BE32:
		return bswap_32((uint32_t)left);
	case SOURCE_BE64:
		return bswap_64(left);
	case SOURCE_EQ:
		return a == b;
	case SOURCE_NE:
		return a != b;
	case SOURCE_LT:
		return a < b;
	case SOURCE_LE:
		return a <= b;
	case SOURCE_GT:
		return a > b;
	default:
		return a >= b;
	}
}
