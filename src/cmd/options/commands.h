/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CMD_OPTIONS_COMMANDS_H
#define CMD_OPTIONS_COMMANDS_H

/* The descriptors that table.c lists, each in the file of its command. */

#include "cmd/options/command.h"

extern const struct command command_check;
extern const struct command command_compile;
extern const struct command command_ctl;
extern const struct command command_dump;
extern const struct command command_events;
extern const struct command command_explain;
extern const struct command command_features;
extern const struct command command_record;
extern const struct command command_replay;
extern const struct command command_run;
extern const struct command command_rules;
extern const struct command command_stat;
extern const struct command command_test;

#endif
