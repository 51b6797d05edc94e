/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef LANG_SYNTAX_SYNTAX_MACHINE_H
#define LANG_SYNTAX_SYNTAX_MACHINE_H

/* What a state machine's text says, as syntax-priv.h has it for rules. */

#include "lang/syntax/ast-machine.h"
#include "lang/syntax/syntax-priv.h"

struct lang_syntax_piece {
	struct lang_syntax_piece *next;
	const char *text; /* before the value */
	struct lang_syntax_expr *expr;
	const char *name; /* the value as written */
};

struct lang_syntax_action {
	struct lang_syntax_action *next;
	enum lang_machine_action_kind kind;
	struct diag_location location;
	struct lang_word variable;               /* ASSIGN */
	struct lang_syntax_expr *expr;           /* ASSIGN */
	struct lang_syntax_statement *statement; /* RAISE */
	struct lang_syntax_piece *pieces;        /* WARN */
	uint32_t piece_count;
};

struct lang_syntax_block {
	struct diag_location location; /* line 0: there is none */
	struct lang_syntax_action *actions;
	uint32_t count;
};

/* One of BY: a field, with the event's name before it or without, or `*`. */
struct lang_syntax_by {
	struct lang_syntax_by *next;
	struct lang_word name, field;
	struct diag_location location;
	bool is_any;
};

struct lang_syntax_by_list {
	struct diag_location location; /* line 0: there is none */
	struct lang_syntax_by *first;
	uint32_t count;
};

struct lang_syntax_transition {
	struct lang_syntax_transition *next;
	uint32_t state; /* number in the text, or LANG_OUTSIDE */
	struct diag_location location;
	struct lang_word type, name; /* no type: AFTER */
	uint64_t after_ns;
	struct lang_syntax_by_list by, copy_by;
	struct lang_syntax_expr *guard;
	enum lang_target target;
	struct lang_word target_state;
	struct lang_syntax_block block;
};

struct lang_syntax_state {
	struct lang_syntax_state *next;
	struct lang_word name;
	struct lang_syntax_block entry, exit;
};

struct lang_syntax_variable {
	struct lang_syntax_variable *next;
	struct lang_word name;
	const struct meaning *meaning; /* or NULL */
	enum event_value type;         /* 0: unknown, which is reported */
	uint32_t bytes;
	struct lang_syntax_expr *initial;
};

struct lang_syntax_key {
	struct lang_syntax_key *next;
	struct lang_word name;
};

enum { LANG_KEYS_MAX = 8, LANG_VARIABLES_MAX = 256, LANG_STRING_VARIABLE_MAX = 4096 };

struct lang_syntax_machine {
	struct lang_word name;
	uint64_t pool;
	uint64_t per_process; /* 0: not given */
	enum lang_full full;
	uint32_t trail;
	enum lang_loss loss;
	struct diag_location pool_location, per_process_location, trail_location, loss_location; /* line 0: not given */
	struct lang_syntax_key *keys;
	struct lang_syntax_variable *variables;
	struct lang_syntax_state *states;
	struct lang_syntax_transition *transitions, **transitions_end;
	uint32_t key_count, variable_count, state_count, transition_count;
	struct lang_syntax_properties properties;
	bool broken; /* a part could not be read, so that what seems to be missing may be there */
};

#endif
