/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CMD_TOP_RULES_H
#define CMD_TOP_RULES_H

/* Where rules come from: a session of top's own over the whole machine, or asterismd. */

#include "cmd/top/top.h"

struct top_rules;

/*
 * Loads the operands, each as a unit, and sets them to work, or takes asterismd at socket (NULL: none). Returns
 * STATUS_FINE, or the status to end with after saying why. *made is NULL where there is neither.
 */
int top_rules_new(const struct cli_arguments *arguments, const char *socket, struct top_rules **made);
void top_rules_free(struct top_rules *rules);

/* What to wait for, besides keys; -1: nothing. Readable: call top_rules_dispatch. */
int top_rules_fd(const struct top_rules *rules);

/* Both return as top_rules_new. */
int top_rules_dispatch(struct top_rules *rules);
int top_rules_look(struct top_rules *rules, struct top *top);

#endif
