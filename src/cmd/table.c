// SPDX-License-Identifier: BSD-2-Clause
/* Decides which commands there are. A new one is a file with a descriptor and a row here. */

#include "cmd/options/command.h"
#include "cmd/options/commands.h"

#include "base/diag.h"

#include <string.h>

enum { COMMANDS_SHOWN_MAX = 64 };

const struct command *const commands[] = {
	&command_run,     &command_record, &command_replay,   &command_check, &command_compile,
	&command_explain, &command_events, &command_rules,    &command_test,  &command_dump,
	&command_stat,    &command_ctl,    &command_features, NULL,
};

const struct command *command_find(const char *name)
{
	for (const struct command *const *command = commands; *command; command++) {
		if (strcmp((*command)->name, name) == 0)
			return *command;
	}
	return NULL;
}

const char *command_nearest(const char *wanted)
{
	const char *names[COMMANDS_SHOWN_MAX];
	size_t count = 0;

	for (const struct command *const *command = commands; *command && count < COMMANDS_SHOWN_MAX; command++)
		names[count++] = (*command)->name;
	return diag_nearest(wanted, names, count);
}
