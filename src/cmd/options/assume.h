/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CMD_OPTIONS_ASSUME_H
#define CMD_OPTIONS_ASSUME_H

/* Probabilities that --assume gives other values. */

#include "cmd/options/options.h"

struct cmd_assumption {
	const char *rule; /* its name, which is rule_length long; 0: all rules */
	size_t rule_length;
	uint32_t name; /* 2: p2 */
	double value;
};

/* [RULE.]pN=P. Returns whether text is that; it has to outlive read. */
bool cmd_assumption_read(const char *text, struct cmd_assumption *read);

/* The check of the option. */
int cmd_assumption_check(const struct cli_value *before, const char *text, struct asterism_diag *diag);

#endif
