/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CMD_CTL_PRINT_H
#define CMD_CTL_PRINT_H

/* What people read of asterismd's replies. Members that are missing are shown as empty; nothing is trusted. command is
 * what to type to ask on. */

#include "base/text.h"

#include <jansson.h>

void ctl_print_units(const json_t *reply, const char *command);
void ctl_print_result(const json_t *reply, const char *command);

/* Appends a rule's transitions and their conditions, counted, from what asterism_rules_why gives: a line each. */
void ctl_put_transitions(const json_t *why, struct text_buffer *text);

#endif
