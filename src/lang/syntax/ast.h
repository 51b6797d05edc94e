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
#include "lang/syntax/ast-expr.h"
#include "lang/syntax/limits.h"
#include "lang/syntax/properties.h"
#include "react/react.h"

#include <stdbool.h>
#include <stdint.h>

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

/* In the order of enum program_aggregate_op. */
enum lang_aggregate_op {
	LANG_COUNT_OF = 2,
	LANG_SUM_OF,
	LANG_MIN_OF,
	LANG_MAX_OF,
	LANG_AVG_OF,
	LANG_HISTOGRAM_OF,
	LANG_QUANTILES_OF,
};

struct lang_aggregate {
	enum lang_aggregate_op op;
	struct lang_value value; /* expr: a number; NULL for COUNT */
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
/* What becomes of a run that finds no place. FULL_DEFAULT only before a rule is checked. */
enum lang_full { LANG_FULL_DEFAULT, LANG_REFUSE, LANG_REPLACE };

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
	uint64_t pool;        /* runs, at least 1, at most LANG_POOL_MAX */
	uint64_t per_key;     /* of them, how many of one key; 0: all */
	uint64_t per_process; /* how many of those that one process opened; 0: all */
	struct diag_location per_key_location, per_process_location;
	enum lang_full full;
	bool latest; /* of the runs of one key in one state the newest alone stays */
	struct diag_location latest_location;
	bool return_sequence;
	bool return_nothing; /* matches are not reported */
	struct lang_value *values;
	uint32_t value_count;
	struct lang_statement *statements;
	uint32_t statement_count;
	struct lang_aggregate *aggregates; /* AGGREGATE; none: aggregate_count 0 */
	uint32_t aggregate_count;
	struct lang_value *by; /* at most LANG_BY_BYTES_MAX in a key */
	uint32_t by_count;
	uint32_t top;                   /* 0: all keys */
	uint64_t every_ns;              /* 0: at the end alone */
	bool delta;                     /* EVERY ... DELTA */
	bool over_all;                  /* OVER { * } */
	const struct event_type **over; /* else: every type of the stream, no doubles, pattern types included */
	uint32_t over_count;
	struct diag_location over_location;
	struct lang_properties properties;
};

struct lang_machine;

/* PARAM name = constant: what it is worth in its file and what that says. */
struct lang_parameter {
	const char *name;
	const char *file; /* that has it, as settings name it: held-asleep for held-asleep.rule */
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
	const char *host_name; /* of a user or a group but root, whose number is this host's; NULL: none is named */
};

#endif
