/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef LANG_SYNTAX_PROPERTIES_H
#define LANG_SYNTAX_PROPERTIES_H

/* What rules and machines say of their matches, after checking. */

#include "base/severity.h"

#include <stdint.h>

/* What matches mean to people. Texts are not empty and are shown as they are. */
struct lang_properties {
	enum severity severity;
	const char *description; /* or NULL */
	const char **tags;       /* all different */
	uint32_t tag_count;
};

enum { LANG_TAGS_MAX = 64 }; /* of one rule */

#endif
