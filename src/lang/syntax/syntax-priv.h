/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef LANG_SYNTAX_SYNTAX_PRIV_H
#define LANG_SYNTAX_SYNTAX_PRIV_H

/*
 * What the text says, before any name is looked up: the parser's output and the checker's input. Nodes live in a
 * scratch arena that ends with lang_read; words and strings live in the program's arena. Nesting is bounded by
 * LANG_DEPTH_MAX, so both sides may recurse.
 */

#include "lang/syntax/ast.h"

/* A name as written. text is NULL where the text has none. */
struct lang_word {
	const char *text;
	struct diag_location location;
};

enum lang_syntax_op {
	LANG_SYNTAX_CONST = 1,
	LANG_SYNTAX_REFERENCE, /* name.field, name.len, name.max.field, with or without [] */
	LANG_SYNTAX_BINARY,    /* op: arithmetic, comparison or LIKE */
	LANG_SYNTAX_MINUS,     /* left only */
	LANG_SYNTAX_NOT,       /* left only */
	LANG_SYNTAX_IN,        /* left IN { list } */
	LANG_SYNTAX_CHAIN,     /* list joined by op LANG_LAND or LANG_LOR, at least two */
};

/* name, name.first or name.first.second; brackets: name[].first */
struct lang_syntax_reference {
	struct lang_word name, first, second;
	bool brackets;
	const char *hint; /* what a name alone may have been meant as, or NULL */
	bool is_set;      /* name is what a parameter was set to */
};

struct lang_syntax_expr {
	enum lang_syntax_op syntax;
	enum lang_op op;
	struct diag_location location; /* of the whole expression, on its first line */
	uint64_t end;                  /* offset behind its last byte */
	uint32_t depth, size;          /* of the tree; IN counts its left side once per value */
	struct lang_syntax_expr *next; /* in the list that holds this one */
	union {
		struct {
			struct diag_location op_location; /* of the operator */
			struct lang_syntax_expr *left, *right;
			struct lang_syntax_expr *list; /* its first */
		};
		struct { /* CONST */
			enum lang_kind kind;
			uint64_t integer;
			double real;
			const char *text;
			bool is_bare; /* a number without a unit */
		};
		struct lang_syntax_reference *reference; /* REFERENCE */
	};
};

struct lang_syntax_structure {
	enum lang_structure_kind kind;
	struct diag_location location;
	struct lang_syntax_structure *first, *last, *next; /* children; next sibling */
	uint32_t child_count;
	struct lang_word type, name; /* SPEC */
	bool is_array;
	uint64_t min, max; /* an array's length, a group's repeat, else 1, 1 */
};

struct lang_syntax_condition {
	struct lang_syntax_condition *next;
	struct lang_word join;         /* [join], or */
	struct lang_syntax_expr *expr; /* a boolean expression */
};

struct lang_syntax_value {
	struct lang_syntax_value *next;
	struct lang_syntax_expr *expr;
	struct lang_word header;       /* AGGREGATE, BY: instead of expr, a header field that stands alone */
	struct diag_location location; /* AGGREGATE, BY */
	struct lang_word name;         /* AS name, or the text of the value */
};

struct lang_syntax_aggregate {
	struct lang_syntax_aggregate *next;
	enum lang_aggregate_op op;
	struct lang_syntax_value value;
};

struct lang_syntax_arg {
	struct lang_syntax_arg *next;
	enum lang_arg_kind kind;
	struct lang_word field;        /* EMIT */
	struct lang_syntax_expr *expr; /* VALUE */
	struct lang_word element;      /* TID, PID; no text: of the completing event */
	struct diag_location location;
};

struct lang_syntax_statement {
	struct lang_syntax_statement *next;
	bool is_emit;
	struct lang_word name; /* type or function */
	struct lang_syntax_arg *args;
	uint32_t arg_count;
	struct diag_location location;
};

struct lang_syntax_type {
	struct lang_syntax_type *next;
	struct lang_word name;
};

struct lang_syntax_tag {
	struct lang_syntax_tag *next;
	struct lang_word word;
};

enum lang_property {
	LANG_PROPERTY_NONE,
	LANG_PROPERTY_SEVERITY,
	LANG_PROPERTY_TAGS,
	LANG_PROPERTY_DESCRIPTION,
	LANG_PROPERTY_COUNT,
};

struct lang_syntax_properties {
	enum severity severity;
	struct lang_word description;
	struct lang_syntax_tag *tags;
	uint32_t tag_count;
	struct diag_location given[LANG_PROPERTY_COUNT]; /* of a machine: the keywords, line 0 where one is not given */
};

/* An exception given apart from its rule. */
struct lang_syntax_exception {
	struct lang_syntax_exception *next;
	struct lang_word rule;
	struct lang_syntax_condition *conditions;
	bool is_taken; /* there is such a rule */
};

/* What a rule says; a modifier that could not be read is given but broken. */
enum lang_modifier {
	LANG_WHERE,
	LANG_WITHIN,
	LANG_RETURN,
	LANG_DO,
	LANG_OVER,
	LANG_AFTER,
	LANG_POOL,
	LANG_ON,
	LANG_SEVERITY,
	LANG_TAGS,
	LANG_DESCRIPTION,
	LANG_AGGREGATE,
	LANG_EXCEPT,
	LANG_LATEST,
	LANG_MODIFIER_COUNT,
};

struct lang_syntax_rule {
	struct lang_word name;
	enum lang_mode mode;
	enum lang_semantics semantics;
	enum lang_loss loss;
	bool drop;
	struct diag_location semantics_location;
	struct lang_syntax_structure *pattern; /* NULL: it could not be read */
	uint32_t element_count;
	bool unsure;                                     /* some modifier was not recognised: it could have been any */
	struct diag_location given[LANG_MODIFIER_COUNT]; /* the keyword, line 0 where the modifier is not given */
	bool broken[LANG_MODIFIER_COUNT];
	struct lang_syntax_condition *conditions;
	uint64_t within_ns, pool;
	uint64_t per_key, per_process; /* 0: not given */
	enum lang_full full;
	struct diag_location within_location, over_location, per_key_location, per_process_location;
	bool return_sequence, return_nothing, over_all;
	struct lang_syntax_value *values;
	uint32_t value_count;
	struct lang_syntax_statement *statements;
	uint32_t statement_count;
	struct lang_syntax_aggregate *aggregates;
	uint32_t aggregate_count;
	struct lang_syntax_value *by;
	uint32_t by_count;
	uint64_t top, every_ns;
	bool delta;
	struct lang_syntax_type *over;
	uint32_t over_count;
	struct lang_syntax_properties properties;
	struct lang_syntax_condition *except;
};

struct lang_syntax_field {
	struct lang_syntax_field *next;
	struct lang_word name;
	enum event_value value;
	const struct meaning *meaning; /* or NULL */
};

enum lang_syntax_item_kind {
	LANG_ITEM_EVENTS = 1,
	LANG_ITEM_EVENT,
	LANG_ITEM_RULE,
	LANG_ITEM_PARAM,
	LANG_ITEM_MACHINE
};

/* A statement of a file, in the order of the text. */
struct lang_syntax_item {
	struct lang_syntax_item *next;
	enum lang_syntax_item_kind kind;
	struct lang_word name;   /* EVENTS: the catalog, EVENT: the type */
	struct lang_word prefix; /* EVENTS: what AS says, or nothing */
	struct lang_syntax_field *fields;
	uint32_t field_count;
	struct lang_syntax_rule *rule;       /* RULE */
	struct lang_syntax_machine *machine; /* MACHINE */
	size_t input;                        /* index of the file */
	bool broken;                         /* EVENT: could not be read, but the name is known */
};

#endif
