/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CMD_TEXT_OBSTACLES_H
#define CMD_TEXT_OBSTACLES_H

/* What keeps rules out of the kernel, as messages with their places and what to write instead. */

#include "base/diag.h"
#include "program/load.h"

/* A rule and where its text is. */
struct obstacles_rule {
	const struct program *program;
	uint32_t rule;
	const struct diag_source *source; /* its text, where it is known */
	uint32_t line;                    /* of the rule */
};

/* Adds a note for each; none where the kernel can run the rule. */
void obstacles_add(const struct obstacles_rule *rule, struct asterism_diag *diag);

#endif
