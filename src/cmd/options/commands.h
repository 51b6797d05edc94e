/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CMD_OPTIONS_COMMANDS_H
#define CMD_OPTIONS_COMMANDS_H

/* A command is one file with one const descriptor, plus one row in table.c. */

#include "cmd/options/options.h"

extern const struct cli_command cmd_check;
extern const struct cli_command cmd_compile;
extern const struct cli_command cmd_counters;
extern const struct cli_command cmd_ctl;
extern const struct cli_command cmd_dump;
extern const struct cli_command cmd_events;
extern const struct cli_command cmd_explain;
extern const struct cli_command cmd_features;
extern const struct cli_command cmd_import;
extern const struct cli_command cmd_monitor;
extern const struct cli_command cmd_profile;
extern const struct cli_command cmd_query;
extern const struct cli_command cmd_record;
extern const struct cli_command cmd_replay;
extern const struct cli_command cmd_report;
extern const struct cli_command cmd_run;
extern const struct cli_command cmd_rules;
extern const struct cli_command cmd_sensors;
extern const struct cli_command cmd_stat;
extern const struct cli_command cmd_test;
extern const struct cli_command cmd_top;

#endif
