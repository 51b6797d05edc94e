/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef LANG_SYNTAX_AST_H
#define LANG_SYNTAX_AST_H

/*
 * A rule file after parsing and checking: every name resolved, every type known, every rule of docs/language.md that
 * can be judged without building the automaton already enforced. All nodes live in the unit's arena. Who gets a
 * struct lang_unit may rely on every invariant stated here.
 */

#include "base/diag.h"
#include "event/type.h"
#include "lang/syntax/properties.h"
#include "react/react.h"

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

enum lang_structure_kind {
	LANG_SPEC = 1,    /* one event type, perhaps an array */
	LANG_SEQUENCE,    /* children in order */
	LANG_ALTERNATIVE, /* one of the children */
	LANG_NEGATION,    /* exactly one child */
};

#define LANG_UNBOUNDED UINT64_MAX

struct lang_structure {
	enum lang_structure_kind kind;
	struct diag_location location;
	struct lang_structure *parent; /* NULL at the root */
	struct lang_structure **children;
	uint32_t child_count;
	uint32_t element; /* SPEC: index in the rule's elements */
	/*
	 * SEQUENCE and ALTERNATIVE: the repeat, {1, 1} where none is written; min may be 0. SPEC: always {1, 1}; an
	 * array's length stands in its element. A sequence of one child without repeat is replaced by its child.
	 */
	uint64_t repeat_min, repeat_max;
};

/* An event specification of a pattern, in the order of the text. */
struct lang_element {
	const struct event_type *type;
	const char *name; /* NULL where it has none */
	struct diag_location location;
	struct lang_structure *structure; /* its SPEC node */
	bool is_array;
	bool is_negated;                 /* lies under a NEGATION */
	uint64_t length_min, length_max; /* arrays: inclusive; others 1, 1 */
	struct lang_structure *negation; /* the NEGATION it lies under, or NULL */
	struct lang_structure
		*group; /* the innermost repeated (not {1,1}) SEQUENCE or ALTERNATIVE around it, or NULL */
};

/* A condition of WHERE: the commas and top-level ANDs are already taken apart. */
enum lang_condition_kind {
	LANG_GUARD = 1, /* names one element (plain fields; array: of each of its events), or none at all (constant) */
	/*
	 * EQ with a bare field of `element` (the latest) on one side, under a CONVERT where the other side is F64; no
	 * array function on either side
	 */
	LANG_CORRELATION,
	LANG_RELATION, /* every other relation between events; every condition on an array function */
	LANG_NEGATED,  /* names a negated element: part of what makes an event the forbidden one */
};

struct lang_condition {
	enum lang_condition_kind kind;
	struct lang_expr *expr; /* BOOL */
	struct diag_location location;
	/*
	 * The element the condition hangs on: GUARD the only one (UINT32_MAX: a constant condition), CORRELATION and
	 * RELATION the latest in pattern order, NEGATED the negated one.
	 */
	uint32_t element;
};

/* A join field [f]: its name, and for every element i of the rule fields[i] = the field f of that element's type. */
struct lang_join {
	const char *name;
	struct diag_location location;
	const struct event_field **fields;
};

struct lang_value {
	struct lang_expr *expr;
	const char *name; /* the AS name, or the exact source text of the value, blanks at the ends removed */
	struct diag_location location;
};

enum lang_arg_kind {
	LANG_ARG_VALUE = 1, /* expr, also constant strings */
	LANG_ARG_TID,       /* thread of element's event; element UINT32_MAX: of the completing event */
	LANG_ARG_PID,
};

struct lang_arg {
	enum lang_arg_kind kind;
	struct lang_expr *expr;          /* VALUE */
	const struct event_field *field; /* EMIT: the field that gets it */
	uint32_t element;                /* TID, PID */
	struct diag_location location;
};

struct lang_statement {
	bool is_emit;                      /* else CALL */
	const struct event_type *type;     /* EMIT */
	const char *function;              /* CALL: the name as written */
	const struct react_action *action; /* CALL */
	struct lang_arg *args;             /* EMIT: value converted to the field's kind; fields not given are 0 */
	uint32_t arg_count;
	struct diag_location location;
};

enum lang_mode { LANG_ANY_MODE, LANG_SYNCHRONOUS, LANG_ASYNCHRONOUS };
enum lang_semantics { LANG_STRICT_SEQUENCE = 1, LANG_STRICT_PARTITION, LANG_SKIP_TILL_NEXT, LANG_SKIP_TILL_ANY };
enum lang_loss { LANG_LOSS_TAINT, LANG_LOSS_DISCARD, LANG_LOSS_KEEP };

struct lang_rule {
	const char *name;
	struct diag_location location;
	enum lang_mode mode;
	enum lang_semantics semantics;
	enum lang_loss loss;
	bool drop; /* AFTER MATCH DROP */
	struct lang_structure *root;
	struct lang_element *elements;
	uint32_t element_count;
	struct lang_condition *conditions;
	uint32_t condition_count;
	struct lang_join *joins;
	uint32_t join_count;
	bool has_within;
	uint64_t within_ns;
	struct diag_location within_location;
	uint64_t pool; /* runs, at least 1, at most LANG_POOL_MAX */
	bool return_sequence;
	bool return_nothing; /* matches are not reported */
	struct lang_value *values;
	uint32_t value_count;
	struct lang_statement *statements;
	uint32_t statement_count;
	bool over_all;                  /* OVER { * } */
	const struct event_type **over; /* else: every type of the stream, no doubles, pattern types included */
	uint32_t over_count;
	struct diag_location over_location;
	struct lang_properties properties;
};

enum {
	LANG_POOL_DEFAULT = 16384,
	LANG_POOL_MAX = 1 << 24,
	LANG_DEPTH_MAX = 64, /* of structures and of every struct lang_expr */
	LANG_FILE_BYTES_MAX = 1 << 24,
	LANG_WORD_BYTES_MAX = 255,     /* of a name; what an image takes */
	LANG_STRING_BYTES_MAX = 8191,  /* of a string between its quotes; likewise */
	LANG_ELEMENTS_MAX = 1024,      /* of one rule */
	LANG_LENGTH_MAX = 1000000000,  /* largest finite length or repeat */
	LANG_NODES_MAX = 1 << 20,      /* of one file: events, conditions, operators, ... */
	LANG_EXPRESSION_MAX = 1 << 16, /* nodes of one expression */
};

struct lang_machine;

/* PARAM name = constant: what it is worth in its file and what that says. */
struct lang_parameter {
	const char *name;
	const char *file; /* that has it, as settings name it: held-asleep for rules/held-asleep.rule */
	struct diag_location location;
	const char *text, *default_text; /* as constants are written; equal where nothing was set */
};

/* What one or several rule files hold together. */
struct lang_unit {
	struct lang_rule *rules;
	uint32_t rule_count;
	struct lang_machine *machines; /* ast-machine.h */
	uint32_t machine_count;
	const struct event_type **declared; /* types of EVENT declarations, in order */
	uint32_t declared_count;
	struct lang_parameter *parameters; /* file by file, in the order of the text */
	uint32_t parameter_count;
};

#endif
