/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CMD_OPTIONS_SETTINGS_H
#define CMD_OPTIONS_SETTINGS_H

/* The parameters of rules that --set gives other values. */

#include "cmd/options/options.h"
#include "lang/parse.h"

struct cmd_settings {
	struct lang_setting *rows; /* what one file is given comes after what all are given, and so prevails */
	size_t count;
	char **names;
};

/* The check of the option: NAME=VALUE, and no name has two values. */
int cmd_settings_check(const struct cli_value *before, const char *text, struct asterism_diag *diag);

/* All of a command line, which must outlive them. Returns 0 or -ENOMEM; cmd_settings_fini either way. */
int cmd_settings_init(struct cmd_settings *settings, const struct cli_arguments *arguments);
void cmd_settings_fini(struct cmd_settings *settings);

#endif
