// SPDX-License-Identifier: BSD-2-Clause
/* `asterism help actions`, and the same as the section of docs/reactions.md. */

#include "cmd/help-actions.h"

#include "base/text.h"
#include "cli/help.h"
#include "react/react.h"

enum { CALL_BYTES = 200, LATE_BYTES = 400 };

static const char *action_location(const struct react_action *action)
{
	if (action->primitive == REACT_HOLD)
		return "in the kernel; answered by asterism";
	if (action->primitive == REACT_STACK)
		return "in the kernel";
	return action->primitive == REACT_NOT_IN_KERNEL ? "by asterism" : "in the kernel if possible, else by asterism";
}

static void append_aliases(const struct react_action *action, struct text_buffer *text)
{
	for (size_t i = 0; i < sizeof action->aliases / sizeof *action->aliases && action->aliases[i]; i++)
		text_printf(text, "%s%s", i ? ", " : "Also called ", action->aliases[i]);
}

static bool is_weaker_late(const struct react_action *action)
{
	return react_late_guarantee(action) != action->guarantee;
}

/* Where it is done, how often, and its other names. */
static void put_facts(const struct react_action *action, FILE *stream)
{
	char bytes[LATE_BYTES];
	struct text_buffer text;

	text_init_fixed(&text, bytes, sizeof bytes);
	text_printf(&text, "Done %s", action_location(action));
	if (action->per_second)
		text_printf(&text, " (asterism: at most %u times a second)", action->per_second);
	text_append(&text, action->aliases[0] ? ". " : "");
	append_aliases(action, &text);
	text_append(&text, ".");
	cli_help_text(bytes, 4, stream);
}

void help_actions(FILE *stream)
{
	fputs("Actions that a rule takes at a match with 'DO { CALL ACTION(...) }'. Those marked with * change\nthe "
	      "system: they need --allow-actions or a --policy, and are only reported otherwise.\n",
	      stream);
	for (size_t i = 0; react_actions[i]; i++) {
		const struct react_action *action = react_actions[i];
		char call[CALL_BYTES], late[LATE_BYTES];

		react_print(action, call, sizeof call);
		fprintf(stream, "\n%s %s\n", action->changes_system ? "*" : " ", call);
		cli_help_text(action->summary, 4, stream);
		put_facts(action, stream);
		cli_help_text(action->guarantee, 4, stream);
		if (is_weaker_late(action)) {
			snprintf(late, sizeof late, "By asterism: %s", react_late_guarantee(action));
			cli_help_text(late, 4, stream);
		}
	}
}

static void put_aliases(const struct react_action *action, FILE *stream)
{
	char bytes[CALL_BYTES];
	struct text_buffer text;

	text_init_fixed(&text, bytes, sizeof bytes);
	append_aliases(action, &text);
	if (text.length)
		fprintf(stream, "- %s.\n", bytes);
}

void help_actions_page(FILE *stream)
{
	for (size_t i = 0; react_actions[i]; i++) {
		const struct react_action *action = react_actions[i];
		char call[CALL_BYTES];

		react_print(action, call, sizeof call);
		fprintf(stream, "### %s\n`%s` %s.\n\n", action->name, call, action->summary);
		fprintf(stream, "- Done %s%s.\n", action_location(action),
			action->changes_system ? "; needs `--allow-actions` or a policy" : "");
		if (action->per_second)
			fprintf(stream, "- By asterism at most %u times a second for each statement.\n",
				action->per_second);
		put_aliases(action, stream);
		fprintf(stream, "- %s\n", action->guarantee);
		if (is_weaker_late(action))
			fprintf(stream, "- By asterism: %s\n", react_late_guarantee(action));
		putc('\n', stream);
	}
}
