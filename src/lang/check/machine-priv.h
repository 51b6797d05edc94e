/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef LANG_CHECK_MACHINE_PRIV_H
#define LANG_CHECK_MACHINE_PRIV_H

/* From the syntax of a state machine to struct lang_machine. As for rules, what follows from an error is no error. */

#include "lang/check/check-priv.h"
#include "lang/syntax/syntax-machine.h"

/* In the table of a scope's names, variables are numbered from here; below are keys. */
enum { LANG_FIRST_VARIABLE = LANG_KEYS_MAX + 1 };

/* What names stand for in the expression at hand. */
struct lang_scope {
	struct lang_machine *machine;
	const struct lang_syntax_machine *syntax;
	struct lang_names *locals;     /* keys by their index, variables by LANG_KEYS_MAX + 1 + index */
	const struct event_type *type; /* of the event at hand; one without fields where there is none; NULL: unknown */
	const char *event;             /* its name, or NULL */
	const char *location;          /* where there is no event: "AFTER", "ENTRY and EXIT" */
	bool event_only;               /* variables and keys are out of reach */
	bool lost;                     /* a part has an error, so that what seems to be missing may be there */
};

/* A type without fields but those of the header. */
extern const struct event_type lang_no_event;

/* Keys and variables become names; false: memory is short. */
bool lang_check_locals(struct lang_check *c);

/* Of all transitions: types, BY and COPY BY, and with them the kinds of the keys. */
void lang_check_keys(struct lang_check *c);

/* Of all transitions: guards, targets, blocks. */
void lang_check_transitions(struct lang_check *c, const struct lang_names *states);

/* Actions, in the scope as it is. */
void lang_check_block(struct lang_check *c, const struct lang_syntax_block *syntax, struct lang_block *block);

/* Whether anything in the block is told: WARN, EMIT, CALL. */
bool lang_block_reports(const struct lang_block *block);

/* "a, b": the machine's keys. */
const char *lang_key_list(struct lang_check *c);

#endif
