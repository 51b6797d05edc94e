/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef LANG_PARSE_H
#define LANG_PARSE_H

#include "base/diag.h"
#include "event/catalog.h"
#include "lang/syntax/ast.h"
#include "lang/syntax/setting.h"

/* One rule file. The text must stay valid while the unit and the diag are used for more files. */
struct lang_input {
	const char *file;   /* name for messages */
	const char *folder; /* where EVENTS "x" is looked for first; NULL: only installed catalogs */
	const char *text;
	size_t length;
	/*
	 * A text that begins with neither a keyword of a file nor a comment is a rule without its frame, a structure
	 * and what stands behind it: the rule's name. NULL: there is no such text.
	 */
	const char *bare_rule;
};

/* What a unit is made of. */
struct lang_sources {
	const struct lang_input *inputs;
	size_t input_count;
	const struct lang_setting *settings; /* of one parameter: the last counts */
	size_t setting_count;
	const struct lang_input *exceptions; /* files of lines `RULE: condition, ...` */
	size_t exception_count;
	bool wants_events; /* matches have their events, as with RETURN SEQUENCE, where the rule can */
};

/* A unit together with the memory of all its nodes. */
struct lang_program;

/*
 * Parses and checks the inputs as one unit: rules may use each other's EVENT declarations, no two rules share a name,
 * but each input has parameters of its own.
 * New event types go to catalog. Reports as many independent errors as it can find (at most 20, then says so).
 * Returns 0 and the program, or -EINVAL (the diag says why), -ENOMEM.
 */
int lang_read(const struct lang_input *inputs, size_t input_count, struct event_catalog *catalog,
	      struct asterism_diag *diag, struct lang_program **program);

/*
 * The same, with other values for parameters. A setting that no PARAM takes, or of another sort than its constant, is
 * an error with a place in the setting's line, or in a file called "--set". A time or a size may be set to a bare
 * number of ns or bytes, a real number to an integer, and a string needs no quotes.
 */
int lang_read_with(const struct lang_sources *sources, struct event_catalog *catalog, struct asterism_diag *diag,
		   struct lang_program **program);

const struct lang_unit *lang_program_unit(const struct lang_program *program);
void lang_program_free(struct lang_program *program);

#endif
