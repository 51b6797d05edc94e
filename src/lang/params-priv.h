/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef LANG_PARAMS_PRIV_H
#define LANG_PARAMS_PRIV_H

/* Parameters: PARAM name = constant, and what is set instead. */

#include "lang/parse.h"
#include "lang/parser-priv.h"

enum { LANG_PARAMS_MAX = 1024 }; /* of one unit */

struct lang_param {
	struct lang_param *next;
	const char *name;
	struct diag_place place;
	struct lang_token value;    /* what it is worth: INTEGER, REAL, STRING, TRUTH, or BAD where it cannot be read */
	struct lang_token declared; /* what the file says it is */
	const char *text, *default_text;
};

struct lang_params {
	struct arena *arena; /* of the program */
	struct lang_report *report;
	struct lang_param *first;
	uint32_t count;
};

/* Adds those that source, which is text, declares. Only memory is complained of. */
void lang_params_collect(struct lang_params *params, const struct diag_source *source, struct arena *scratch);

/* Gives the parameter that setting names its value; setting's source is the text "name=value". */
void lang_params_set(struct lang_params *params, const struct lang_setting *setting, const struct diag_source *source,
		     struct arena *scratch);

/* The constant that stands at place and takes all of it. False: reported. */
bool lang_parse_setting(struct lang_params *params, const struct diag_place *place, struct arena *scratch,
			struct lang_token *value);

const struct lang_param *lang_params_find(const struct lang_params *params, const char *name);

#endif
