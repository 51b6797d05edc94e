/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef LANG_SYNTAX_AST_MACHINE_H
#define LANG_SYNTAX_AST_MACHINE_H

/*
 * A state machine after parsing and checking: docs/machines.md is what it means. Expressions are struct lang_expr of
 * ast.h, in which LANG_VARIABLE and LANG_KEY name the machine's own values and a LANG_FIELD is one of the event at hand
 * (element UINT32_MAX).
 */

#include "lang/syntax/ast.h"

#define LANG_OUTSIDE UINT32_MAX /* as a state: the transition stands outside of states */

struct lang_key {
	const char *name;
	struct diag_location location;
	enum lang_kind kind; /* U64 where a field of some event is u64 or addr, I64 for other integers; BOOL, STRING */
	uint32_t bytes;      /* STRING: the greatest capacity among the events' fields; else 0 */
	const struct meaning *meaning; /* of the first of these fields that has one, or NULL */
};

struct lang_variable {
	const char *name;
	struct diag_location location;
	enum event_value type;         /* of what width it is */
	enum lang_kind kind;           /* of expressions that name it */
	uint32_t bytes;                /* STRING: capacity with the NUL, multiple of 8 */
	struct lang_expr *initial;     /* CONST of its kind, or NULL: 0, "" */
	const struct meaning *meaning; /* as declared, or NULL */
};

enum lang_machine_action_kind {
	LANG_ASSIGN = 1,
	LANG_RAISE, /* EMIT or CALL */
	LANG_WARN,
};

/* Text, then a value. */
struct lang_piece {
	const char *text;         /* "" where there is none; braces resolved */
	struct lang_value *value; /* NULL after the last text */
};

struct lang_machine_action {
	enum lang_machine_action_kind kind;
	struct diag_location location;
	uint32_t variable;               /* ASSIGN */
	struct lang_expr *expr;          /* ASSIGN: of the variable's kind, not yet narrowed to its width */
	struct lang_statement statement; /* RAISE; #TID and #PID are those of the event at hand (element UINT32_MAX) */
	struct lang_piece *pieces;       /* WARN */
	uint32_t piece_count;
};

struct lang_block {
	struct lang_machine_action *actions;
	uint32_t count;
};

enum lang_target { LANG_TO_STATE = 1, LANG_TO_END, LANG_STAYS };

struct lang_transition {
	uint32_t state;                /* that it stands in, or LANG_OUTSIDE */
	const struct event_type *type; /* NULL: AFTER */
	uint64_t after_ns;             /* AFTER: at least 1 */
	const char *name;              /* of the event, or NULL */
	struct diag_location location;
	/* as many as the machine has keys, the same in all transitions for a type; NULL for `*`; AFTER: NULL itself */
	const struct event_field **by;
	bool is_any; /* a `*` is among them: OUTSIDE, LANG_TO_END, no block, guard over the event alone */
	/* NULL unless COPY BY; never `*`; then never TO_END, and only ASSIGN in the blocks that the copy goes through
	 */
	const struct event_field **copy_by;
	struct lang_expr *guard; /* BOOL, all conditions in one; NULL: always */
	enum lang_target target;
	uint32_t target_state; /* TO_STATE */
	struct lang_block block;
};

struct lang_state {
	const char *name;
	struct diag_location location;
	struct lang_block entry, exit;
};

struct lang_machine {
	const char *name;
	struct diag_location location;
	uint32_t rules_before; /* how many rules of the unit stand before it */
	enum lang_loss loss;
	uint64_t pool;
	uint64_t per_process; /* of them, how many of those that one process opened; 0: all */
	enum lang_full full;  /* never DEFAULT */
	uint32_t trail;       /* 0..16 */
	struct lang_key *keys;
	uint32_t key_count;
	struct lang_variable *variables;
	uint32_t variable_count;
	struct lang_state *states; /* the first is the start; each can be reached */
	uint32_t state_count;
	struct lang_transition *transitions; /* in the order of the file */
	uint32_t transition_count;
	struct lang_properties properties;
};

enum {
	LANG_TRAIL_DEFAULT = 4,
	LANG_TRAIL_MAX = 16,
	LANG_STRING_VARIABLE_BYTES = 64,
	LANG_STATES_MAX = 1024,
	LANG_TRANSITIONS_MAX = 4096,
};

#endif
