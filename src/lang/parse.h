/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef LANG_PARSE_H
#define LANG_PARSE_H

#include "base/diag.h"
#include "event/catalog.h"
#include "lang/ast.h"

/* One rule file. The text must stay valid while the unit and the diag are used for more files. */
struct lang_input {
	const char *file;   /* name for messages */
	const char *folder; /* where EVENTS "x" is looked for first; NULL: only installed catalogs */
	const char *text;
	size_t length;
};

/* Another value for what the inputs call PARAM name = ...; text is a constant as rules write it. */
struct lang_setting {
	const char *name, *text;
};

/* A unit together with the memory of all its nodes. */
struct lang_program;

/*
 * Parses and checks the inputs as one unit: rules may use each other's EVENT declarations, no two rules share a name.
 * New event types go to catalog. Reports as many independent errors as it can find (at most 20, then says so).
 * Returns 0 and the program, or -EINVAL (the diag says why), -ENOMEM.
 */
int lang_read(const struct lang_input *inputs, size_t input_count, struct event_catalog *catalog,
	      struct asterism_diag *diag, struct lang_program **program);

const struct lang_unit *lang_program_unit(const struct lang_program *program);
void lang_program_free(struct lang_program *program);

#endif
