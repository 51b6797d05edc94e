// SPDX-License-Identifier: BSD-2-Clause
/* The table of commands. A new one is a file with a descriptor and a row here. */

#include "cmd/table.h"

#include "base/diag.h"
#include "cmd/options/commands.h"

enum { COMMANDS_SHOWN_MAX = 64 };

static const struct cli_command *const commands[] = {
	&cmd_run,     &cmd_record,  &cmd_replay, &cmd_check, &cmd_compile,  &cmd_import,  &cmd_explain, &cmd_events,
	&cmd_rules,   &cmd_test,    &cmd_dump,   &cmd_stat,  &cmd_report,   &cmd_profile, &cmd_query,   &cmd_counters,
	&cmd_sensors, &cmd_monitor, &cmd_top,    &cmd_ctl,   &cmd_features, NULL,
};

static const struct cli_section statuses = {
	.title = "EXIT STATUS",
	.heading = "Exit status",
	.entries =
		(const struct cli_entry[]){
			{ "0", { "success" } },
			{ "1",
			  { "a rule matched and --fail-on-match was given; 'ctl next': nothing matched in time; "
			    "'profile check': a stack has a call that was never made" } },
			{ "2", { "usage error, or an error in a rule or an input" } },
			{ "3",
			  { "events were lost: matches may be missing or tainted; with 'monitor --strict' or 'monitor "
			    "--prove': events were lost or late" } },
			{ "4", { "a privilege or a feature of the kernel is missing" } },
			{ "other",
			  { "under 'run -- CMD' and 'monitor -- CMD': the status of CMD (128 plus the signal number if "
			    "a signal ended it)" } },
			{ NULL, { NULL } },
		},
};

static const struct cli_section environment = {
	.title = "ENVIRONMENT",
	.entries =
		(const struct cli_entry[]){
			{ "ASTERISM_CATALOGS",
			  { "A directory of event catalogs, searched before the installed and the built-in ones." } },
			{ "ASTERISM_COUNTERS",
			  { "For tests: a file of values to use instead of this machine's counters; lines are SOURCE = "
			    "VALUE VALUE@SHARE..." } },
			{ "ASTERISM_PMUS",
			  { "For tests: a directory of PMUs, instead of /sys/bus/event_source/devices." } },
			{ "ASTERISM_RULES",
			  { "The directory of the shipped rules, instead of the installed or built-in ones." } },
			{ "ASTERISM_SENSORS",
			  { "The socket of the sensor registry, for applications, too; 'off' turns sensors off "
			    "there." } },
			{ "ASTERISM_SENSORS_RING",
			  { "For applications: the size of each thread's ring of sensors, such as 1M (default: 128K, "
			    "also where the registry does not allow more)." } },
			{ "NO_COLOR", { "Turns colours off if set." } },
			{ NULL, { NULL } },
		},
};

static const struct cli_command itself = {
	.summary = "find patterns of several events in a running Linux system",
	.operands = "FILE...",
	.description = "asterism finds patterns of several events - X, then Y, without Z in between, within T, in the "
		       "same thread - at the moment they complete. Rules describe these patterns. They are compiled to "
		       "BPF programs that match inside the kernel, so that no event leaves it; the same rules find the "
		       "same matches in recorded events.",
	.options = { OPTION_HELP, OPTION_VERSION },
	.sections = (const struct cli_section *const[]){ &environment, NULL },
	.see_also = (const char *const[]){ "asterism-rules(5)", NULL },
};

/*
 * What the completion asks asterism itself: shipped rules, and the parameters of those on the line. Where @ parts
 * words, as it does unless somebody has changed that, what is completed stands behind it.
 */
static const char shell[] =
	"_asterism_names()\n{\n\techo all\n"
	"\t\"${COMP_WORDS[0]}\" rules 2>/dev/null | sed -n 's/^  @\\([^ ]*\\).*/\\1/p'\n}\n"
	"_asterism_parameters()\n{\n\tlocal word\n\tfor word in $COMP_LINE; do\n"
	"\t\tif [[ $word == @?* ]]; then\n\t\t\t\"${COMP_WORDS[0]}\" rules \"${word#@}\" 2>/dev/null |\n"
	"\t\t\t\tsed -n '/^Parameters (--set/,/^$/s/^  \\([^ ]*\\) *= .*/\\1/p' |\n"
	"\t\t\t\twhile read -r name; do echo \"$name=\" \"${word#@}.$name=\"; done\n\t\tfi\n\tdone\n}\n"
	"_asterism_settings()\n{\n\tcompopt -o nospace +o filenames\n"
	"\tCOMPREPLY=($(compgen -W \"$(_asterism_parameters)\" -- \"$word\"))\n}\n"
	"_asterism_operands()\n{\n\tif [[ $word == @* || $prev == @ ]]; then\n\t\tlocal at=@\n"
	"\t\t[[ $COMP_WORDBREAKS == *@* ]] && at=\n\t\tcompopt +o filenames\n"
	"\t\tCOMPREPLY=($(compgen -P \"$at\" -W \"$(_asterism_names)\" -- \"${word#@}\"))\n\telse\n"
	"\t\tCOMPREPLY=($(compgen -f -- \"$word\"))\n\tfi\n}\n";

const struct cli_program cmd_program = {
	.name = "asterism",
	.manual = '1',
	.options = option_rows,
	.option_count = OPTION_COUNT,
	.always = { OPTION_COLOR, OPTION_HELP },
	.itself = &itself,
	.commands = commands,
	.statuses = &statuses,
	.see_also = (const char *const[]){ "asterism(1)", "asterism-rules(5)", NULL },
	.shell = shell,
	.complete = "_asterism_operands",
};

_Static_assert((int)OPTION_COUNT <= (int)CLI_OPTIONS_MAX, "arguments have room for all options");

const char *cmd_nearest(const char *wanted)
{
	const char *names[COMMANDS_SHOWN_MAX];
	size_t count = 0;

	for (const struct cli_command *const *command = commands; *command && count < COMMANDS_SHOWN_MAX; command++)
		names[count++] = (*command)->name;
	return diag_nearest(wanted, names, count);
}
