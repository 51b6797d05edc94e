/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef LANG_SYNTAX_AST_EXPR_H
#define LANG_SYNTAX_AST_EXPR_H

/* Expressions after checking. */

#include "base/diag.h"
#include "event/type.h"

#include <stdbool.h>
#include <stdint.h>

/* The kind of value an expression yields. Integers are 64 bit. */
enum lang_kind {
	LANG_I64 = 1,
	LANG_U64,
	LANG_F64,
	LANG_BOOL,
	LANG_STRING,
};

enum lang_op {
	/* values */
	LANG_CONST = 1, /* constant: integer, real, bool (integer 0/1) or text */
	LANG_FIELD,     /* field of element; plain field of an array only in a condition on that array alone */
	LANG_LEN,       /* number of events in array element; kind I64 */
	LANG_MIN,       /* array functions over element's field */
	LANG_MAX,
	LANG_AVG, /* kind F64 */
	LANG_SUM,
	LANG_FIRST,
	LANG_LAST,
	LANG_VARIABLE, /* of a machine: element is its index */
	LANG_KEY,      /* likewise */
	LANG_CONTEXT,  /* header field of the event that completes the match; AGGREGATE and EXCEPT alone */
	/* arithmetic: both operands have the node's kind except shifts, whose right operand may be I64 or U64 */
	LANG_ADD,
	LANG_SUB,
	LANG_MUL,
	LANG_DIV,
	LANG_MOD,
	LANG_AND, /* bits */
	LANG_OR,
	LANG_XOR,
	LANG_SHL,
	LANG_SHR,
	LANG_CONVERT, /* left (I64, U64 or F64) to the node's kind; I64 <-> U64 keeps the bits */
	/* conditions: kind BOOL */
	LANG_EQ, /* operands: any mix of I64 and U64 (the numbers are compared), or both F64, BOOL or STRING */
	LANG_NE,
	LANG_LT, /* no STRING or BOOL from here */
	LANG_LE,
	LANG_GT,
	LANG_GE,
	LANG_LIKE, /* left STRING, right a LANG_CONST pattern: `*` stands for any bytes, at least none */
	LANG_LAND,
	LANG_LOR,
	LANG_LNOT, /* left only */
};

/* IN { a, b } arrives as LOR of EQs that share their left side. A time literal is a CONST of kind I64 in ns, a size
 * literal in bytes. */
struct lang_expr {
	enum lang_op op;
	enum lang_kind kind;
	struct diag_location location;
	struct lang_expr *left, *right;
	uint32_t element;                /* FIELD and array functions: index in the rule's elements */
	const struct event_field *field; /* FIELD and array functions but LEN */
	uint64_t integer;                /* CONST I64 (two's complement), U64, BOOL */
	double real;                     /* CONST F64 */
	const char *text;                /* CONST STRING, NUL-terminated, no NUL inside */
	const struct meaning *meaning;   /* what it stands for (meaning/meaning.h), or NULL */
	bool is_bare;                    /* CONST: a number without a unit */
};

#endif
