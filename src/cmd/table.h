/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CMD_TABLE_H
#define CMD_TABLE_H

#include "cli/command.h"

/* asterism: its options and commands. */
extern const struct cli_program cmd_program;

/* The command name nearest to wanted, or NULL. */
const char *cmd_nearest(const char *wanted);

#endif
