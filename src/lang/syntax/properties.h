/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef LANG_SYNTAX_PROPERTIES_H
#define LANG_SYNTAX_PROPERTIES_H

/* What rules and machines say of their matches, after checking. */

#include "base/severity.h"

#include <stdint.h>

enum { LANG_TAGS_MAX = 64, LANG_EXCEPTIONS_MAX = 256 }; /* of one rule */

struct lang_expr;

/* Where all conditions hold, over what a match has, it is excepted. One that names what the match lacks does not. */
struct lang_exception {
	struct lang_expr **conditions;
	uint32_t count; /* at least 1 */
};

/* What matches mean to people. Texts are not empty and are shown as they are. */
struct lang_properties {
	enum severity severity;
	const char *description; /* or NULL */
	const char **tags;       /* all different */
	uint32_t tag_count;
	struct lang_exception *exceptions; /* of a rule; one of them is enough */
	uint32_t exception_count;
};

#endif
