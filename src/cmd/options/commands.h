/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CMD_OPTIONS_COMMANDS_H
#define CMD_OPTIONS_COMMANDS_H

/* A command is one file with one const descriptor, plus one row in table.c. */

#include "cmd/options/options.h"

extern const struct cli_command command_check;
extern const struct cli_command command_compile;
extern const struct cli_command command_ctl;
extern const struct cli_command command_dump;
extern const struct cli_command command_events;
extern const struct cli_command command_explain;
extern const struct cli_command command_features;
extern const struct cli_command command_record;
extern const struct cli_command command_replay;
extern const struct cli_command command_run;
extern const struct cli_command command_rules;
extern const struct cli_command command_stat;
extern const struct cli_command command_test;

#endif
