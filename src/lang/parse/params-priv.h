/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef LANG_PARSE_PARAMS_PRIV_H
#define LANG_PARSE_PARAMS_PRIV_H

/* Parameters: PARAM name = constant, which names it in one file, and what is set instead. */

#include "lang/parse/parser-priv.h"
#include "lang/syntax/setting.h"

enum { LANG_PARAMS_MAX = 1024 }; /* of one file */

struct lang_param {
	struct lang_param *next;
	const char *name;
	struct diag_location location;
	struct lang_token
		value; /* what it is worth: INTEGER, REAL, STRING, TRUTH; WORD: a constant's name; BAD: unread */
	struct lang_token declared; /* what the file says it is */
	const char *text, *default_text;
};

/* Those of one file. */
struct lang_params {
	struct arena *arena; /* of the program */
	const char *file;    /* its name for settings: without folder and .rule; NULL where nothing was collected */
	struct lang_report *report;
	struct lang_param *first;
	uint32_t count;
};

/* Adds those that source, which is text, declares. Only memory is complained of. */
void lang_params_collect(struct lang_params *params, const struct diag_source *source, struct arena *scratch);

/* Those of all files that are read together. */
struct lang_params_of_all {
	struct lang_params *files;
	size_t count;
	struct arena *arena, *scratch; /* of the program, of the reading */
	struct lang_report *report;
};

/* Gives the parameters that setting names its value; source is the line in which the setting stands. */
void lang_params_set(const struct lang_params_of_all *all, const struct lang_setting *setting,
		     const struct diag_source *source);

/* The constant, or the name of one, that stands at location and takes all of it. False: reported. */
bool lang_parse_setting(const struct lang_params *params, const struct diag_location *location, struct arena *scratch,
			struct lang_token *value);

const struct lang_param *lang_params_find(const struct lang_params *params, const char *name);

#endif
