/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CMD_LIBRARY_PROPERTIES_H
#define CMD_LIBRARY_PROPERTIES_H

/* What the entries of the library say of their matches: read from their rules, all in one go. */

#include "base/severity.h"
#include "cmd/input/library.h"

#include <jansson.h>

struct library_properties {
	enum severity severity;  /* the highest of its rules and machines */
	json_t *tags;            /* texts: those of all of them, each once */
	const char *description; /* the first; or NULL */
};

/*
 * One for each entry of the library, in its order. Where its rules are wrong, which is told, they say nothing. NULL:
 * memory is short. The caller frees rules, which has the texts, after them.
 */
struct library_properties *library_properties_read(const struct library *library, struct session_rules **rules);
void library_properties_free(struct library_properties *properties, const struct library *library);

#endif
