/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef FUZZ_AST_CHECK_H
#define FUZZ_AST_CHECK_H

/* Aborts where something breaks a promise of lang/syntax/ast.h or lang/syntax/ast-machine.h. */

#include "lang/syntax/ast-machine.h"

void ast_promise(bool kept);

/* Whose expression it is: of a rule, or of a machine. */
struct ast_owner {
	const struct lang_rule *rule;
	const struct lang_machine *machine;
	const struct event_type *type; /* machine: of the event at hand; NULL: any, so only the header */
};

void ast_check_expr(const struct ast_owner *owner, const struct lang_expr *expr);
void ast_check_statement(const struct ast_owner *owner, const struct lang_statement *statement);
void ast_check_machine(const struct lang_machine *machine);

#endif
