// SPDX-License-Identifier: BSD-2-Clause
/* Decides how actions are described. */

#include "cmd/help-actions.h"

#include "cli/help.h"
#include "react/react.h"

enum { CALL_BYTES = 200, LATE_BYTES = 400 };

static const char *location_of(const struct react_action *action)
{
	if (action->primitive == REACT_HOLD)
		return "in the kernel; answered by asterism";
	if (action->primitive == REACT_STACK)
		return "in the kernel";
	return action->primitive == REACT_NOT_IN_KERNEL ? "by asterism" : "in the kernel, else by asterism";
}

static void put_aliases(const struct react_action *action, const char *before, FILE *stream)
{
	for (size_t i = 0; i < sizeof action->aliases / sizeof *action->aliases && action->aliases[i]; i++)
		fprintf(stream, "%s%s", i ? ", " : before, action->aliases[i]);
}

static bool is_weaker_late(const struct react_action *action)
{
	return react_late_guarantee(action) != action->guarantee;
}

void help_actions(FILE *stream)
{
	fputs("The actions that 'DO { CALL ACTION(...) }' in a rule can take at a match. Actions marked with *\nchange "
	      "the system: they need --allow-actions or a --policy; otherwise they are only reported.\n",
	      stream);
	for (size_t i = 0; react_actions[i]; i++) {
		const struct react_action *action = react_actions[i];
		char call[CALL_BYTES], late[LATE_BYTES];

		react_print(action, call, sizeof call);
		fprintf(stream, "\n%s %s\n", action->changes_system ? "*" : " ", call);
		cli_help_text(action->summary, 4, stream);
		fprintf(stream, "    Done %s.", location_of(action));
		put_aliases(action, " Also called ", stream);
		if (action->aliases[0])
			putc('.', stream);
		if (action->per_second)
			fprintf(stream, " By asterism at most %u times a second.", action->per_second);
		putc('\n', stream);
		cli_help_text(action->guarantee, 4, stream);
		if (is_weaker_late(action)) {
			snprintf(late, sizeof late, "By asterism: %s", react_late_guarantee(action));
			cli_help_text(late, 4, stream);
		}
	}
}

void help_actions_page(FILE *stream)
{
	for (size_t i = 0; react_actions[i]; i++) {
		const struct react_action *action = react_actions[i];
		char call[CALL_BYTES];

		react_print(action, call, sizeof call);
		fprintf(stream, "### %s\n`%s` %s.\n\n", action->name, call, action->summary);
		fprintf(stream, "- Done %s%s.\n", location_of(action),
			action->changes_system ? "; needs `--allow-actions` or a policy" : "");
		if (action->per_second)
			fprintf(stream, "- By asterism at most %u times a second for each statement.\n",
				action->per_second);
		put_aliases(action, "- Also called ", stream);
		fprintf(stream, "%s- %s\n", action->aliases[0] ? ".\n" : "", action->guarantee);
		if (is_weaker_late(action))
			fprintf(stream, "- By asterism: %s\n", react_late_guarantee(action));
		putc('\n', stream);
	}
}
