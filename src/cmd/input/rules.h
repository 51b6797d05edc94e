/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CMD_INPUT_RULES_H
#define CMD_INPUT_RULES_H

#include "cmd/options/options.h"
#include "session/load/rules.h"

/* Reads rules from files, or from what stands for them. Returns as cmd_read_rules. */
int cmd_read_files(const struct cli_arguments *arguments, const struct session_rules_file *files, size_t count,
		   struct session_rules **rules);

/*
 * Reads the rule files, @name for shipped ones, and the texts of -r, with the parameters of --set, and prints what the
 * diag holds, warnings included. Returns STATUS_FINE and the rules, or the status to end with.
 */
int cmd_read_rules(const struct cli_arguments *arguments, const char *const *files, size_t count,
		   struct session_rules **rules);

/* The same for the catalog of Linux events alone. */
int cmd_read_catalog(struct event_catalog **catalog);

/* Reads every --catalog into it. Returns 0; -EINVAL, -ENOMEM, with a sentence. */
int cmd_add_catalogs(const struct cli_arguments *arguments, struct event_catalog *catalog, struct asterism_diag *diag);

/* The exit status that stands for a negative result of a session function. */
int cmd_status_of(int result);

#endif
