/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CMD_HELP_ACTIONS_H
#define CMD_HELP_ACTIONS_H

/* What CALL can name, from the descriptors of the actions. */

#include <stdio.h>

/* For a terminal, and as a section of docs/reactions.md. */
void help_actions(FILE *stream);
void help_actions_page(FILE *stream);

#endif
