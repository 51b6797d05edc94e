// SPDX-License-Identifier: BSD-2-Clause
/* `asterism profile`: a flat profile gets the calls of a simulated run. */

#include "base/diag.h"
#include "cli/print.h"
#include "cmd/options/commands.h"
#include "cmd/options/status.h"
#include "cmd/profile/profile-priv.h"

#include <string.h>

enum {
	RUN,
	RECORD,
	SIMULATE,
	COMPLETE,
	REPORT,
	ANNOTATE,
	CALLERS,
	DIFF,
	CHECK,
	EXPORT,
	IMPORT,
	OPERATIONS,
	WORD_BYTES = 24,
	OPERANDS_MAX = 3,
	OPTIONS_MAX = 17
};

static const struct cli_entry rows[OPERATIONS + 1] = {
	[RUN] = { "run -- COMMAND",
		  { "sample the command, run it again in a simulation, complete the one by the other, and report" } },
	[RECORD] = { "record -o SAMPLES -- COMMAND", { "sample the command and what it begins, without stacks" } },
	[SIMULATE] = { "simulate -o SIMULATION -- COMMAND",
		       { "run the command in valgrind's callgrind, some 50 times slower: which function calls which, "
			 "at "
			 "what cost" } },
	[COMPLETE] = { "complete SAMPLES SIMULATION",
		       { "give samples the calls of a simulation: costs of functions with all that they call" } },
	[REPORT] = { "report PROFILE", { "show what functions cost, and how far that is known" } },
	[ANNOTATE] = { "annotate PROFILE [FUNCTION]",
		       { "show in which lines of its source a function costs what, and what is called from there" } },
	[CALLERS] = { "callers FUNCTION PROFILE", { "show who calls a function, what it calls, and their costs" } },
	[DIFF] = { "diff PROFILE PROFILE", { "show how far two profiles are apart" } },
	[CHECK] = { "check STACKS SIMULATION",
		    { "judge folded stacks (main;work;malloc 12): which calls of them never happened; status 1 if "
		      "any" } },
	[EXPORT] = { "export PROFILE",
		     { "write a profile for others: callgrind (default), CSV, folded stacks, pprof, speedscope or "
		       "a flame graph" } },
	[IMPORT] = { "import FILE [PROGRAM]",
		     { "write callgrind's format, perf script's, pprof's, CSV, or gmon.out of a program as a "
		       "profile" } },
};

static const struct {
	profile_operation *run;
	size_t operands;
	unsigned options[OPTIONS_MAX]; /* ended by 0 */
	bool launches;
	size_t more; /* operands that may follow */
} operations[OPERATIONS] = {
	[RUN] = { profile_run_run,
		  0,
		  { OPTION_BETWEEN, OPTION_BY, OPTION_CACHE, OPTION_COLLAPSE, OPTION_CONTEXTS, OPTION_COST,
		    OPTION_COST_UNIT, OPTION_COUNT_EVENTS, OPTION_FORMAT_EVENTS, OPTION_FREQUENCY, OPTION_JITTER,
		    OPTION_MODE, OPTION_OUTPUT, OPTION_SET, OPTION_TWICE, OPTION_VERBOSE },
		  .launches = true },
	[RECORD] = { profile_record_run,
		     0,
		     { OPTION_BETWEEN, OPTION_COST, OPTION_COUNT_EVENTS, OPTION_FREQUENCY, OPTION_JITTER, OPTION_MODE,
		       OPTION_OUTPUT, OPTION_SET },
		     .launches = true },
	[SIMULATE] = { profile_simulate_run,
		       0,
		       { OPTION_CACHE, OPTION_CONTEXTS, OPTION_MODE, OPTION_OUTPUT, OPTION_TWICE },
		       .launches = true },
	[COMPLETE] = { profile_complete_run, 2, { OPTION_BY, OPTION_COLLAPSE, OPTION_MODE, OPTION_OUTPUT } },
	[REPORT] = { profile_report_run, 1, { OPTION_COST, OPTION_COST_UNIT, OPTION_FORMAT_EVENTS, OPTION_VERBOSE } },
	[ANNOTATE] = { profile_annotate_run,
		       1,
		       { OPTION_COST, OPTION_COST_UNIT, OPTION_FORMAT_EVENTS, OPTION_VERBOSE },
		       .more = 1 },
	[CALLERS] = { profile_callers_run, 2, { OPTION_COST, OPTION_COST_UNIT, OPTION_FORMAT_EVENTS } },
	[DIFF] = { profile_diff_run, 2, { OPTION_COST, OPTION_FORMAT_EVENTS, OPTION_VERBOSE } },
	[CHECK] = { profile_check_run, 2, { OPTION_FORMAT_EVENTS, OPTION_VERBOSE } },
	[EXPORT] = { profile_export_run, 1, { OPTION_EXPORT, OPTION_MODE, OPTION_OUTPUT } },
	[IMPORT] = { profile_import_run, 1, { OPTION_MODE, OPTION_OUTPUT }, .more = 1 },
};

/* An option that an operation has no use for is no option of it. */
static int check_options(const struct cli_arguments *arguments, size_t operation)
{
	for (const unsigned *option = cmd_profile.options; *option; option++) {
		const unsigned *taken = operations[operation].options;

		while (*taken && *taken != *option)
			taken++;
		if (*taken || !cli_has(arguments, *option))
			continue;
		cli_error("'asterism profile %s' does not take --%s", arguments->operands[0],
			  option_rows[*option].name);
		cli_hint("try 'asterism profile --help'");
		return STATUS_USAGE;
	}
	return STATUS_FINE;
}

static int run(const struct cli_arguments *arguments)
{
	const char *typed = arguments->operands[0], *known[OPERATIONS], *nearest;
	char names[OPERATIONS][WORD_BYTES];

	for (size_t i = 0; i < OPERATIONS; i++) {
		size_t length = strcspn(rows[i].term, " ");

		memcpy(names[i], rows[i].term, length);
		names[i][length] = 0;
		known[i] = names[i];
		if (strcmp(names[i], typed) != 0)
			continue;
		if (arguments->operand_count > operations[i].operands &&
		    arguments->operand_count <= operations[i].operands + operations[i].more + 1 &&
		    operations[i].launches == !!arguments->launched)
			return check_options(arguments, i) ? STATUS_USAGE
							   : operations[i].run(arguments, arguments->operands + 1);
		if (operations[i].launches) {
			cli_error("'asterism profile %s' takes a command behind '--'", typed);
			cli_hint("asterism profile %s", rows[i].term);
			return STATUS_USAGE;
		}
		cli_error("'asterism profile %s' takes %zu operand%s", typed, operations[i].operands,
			  operations[i].operands == 1 ? "" : "s");
		cli_hint("asterism profile %s", rows[i].term);
		return STATUS_USAGE;
	}
	nearest = diag_nearest(typed, known, OPERATIONS);
	cli_error("'asterism profile' cannot '%s'", typed);
	if (nearest)
		cli_hint("did you mean %s?", nearest);
	else
		cli_hint("'asterism profile --help' lists what it can");
	return STATUS_USAGE;
}

static const struct cli_example examples[] = {
	{ "asterism profile run -- ./program", "Shows what its functions cost with all that they call." },
	{ "asterism profile record -F 2000 -o samples -- ./program", "Samples it 2,000 times a second." },
	{ "asterism profile record --between slow.rule -o samples -- ./server",
	  "Keeps what was sampled within matches of a rule: slow requests alone." },
	{ "asterism profile run --between slow.rule -- ./program",
	  "Shows what functions cost within matches, with all that they call." },
	{ "asterism profile complete samples.csv callgrind.out.123 -o completed",
	  "Shares sampled costs among callers as the simulation does." },
	{ "asterism profile report completed", "Shows what functions cost with all that they call." },
	{ "asterism profile report --unit seconds completed", "Shows the same in seconds." },
	{ "asterism profile annotate completed malloc", "Shows which lines of malloc cost how much." },
	{ "asterism profile callers malloc completed", "Shows who calls malloc, and what that costs." },
	{ "asterism profile check stacks.folded callgrind.out.123",
	  "Judges stacks of perf record -g: were all of their calls ever made?" },
	{ "asterism profile export -t callgrind -o callgrind.out.completed completed",
	  "Writes it for callgrind_annotate and KCachegrind." },
	{ "asterism profile export -t svg -o flames.svg completed", "Draws a flame graph of estimated stacks." },
	{ NULL, NULL },
};

const struct cli_command cmd_profile = {
	.name = "profile",
	.summary = "complete a flat profile with the calls of a simulated run",
	.operands = "OPERATION [OPERAND...] [-- COMMAND [ARGUMENT...]]",
	.operands_min = 1,
	.operands_max = OPERANDS_MAX,
	.description =
		"Samples without stacks say what functions cost themselves, but not who called them. A simulated run "
		"of the same program with the same work (valgrind --tool=callgrind) knows all calls, but not what "
		"they cost on this machine. 'complete' joins the two: of what a function costs each caller gets the "
		"share that it has in the simulation. Where perf record -g gives stacks that can be trusted, this is "
		"not needed; 'check' says whether they can be.\n\n"
		"SAMPLES is what perf script prints, CSV (lines of function,cost) or callgrind's format, SIMULATION "
		"callgrind's format, PROFILE "
		"any of them or what 'complete' has written; - is standard input.\n\n"
		"Values are marked: = is measured, ~ follows from what is measured, and what rests on the simulation's "
		"shares is estimated, with the sampling error behind +-. That other models come to something else is "
		"shown apart from it.\n\n"
		"A file that is not whole is read as far as it goes, with status 3.",
	.words = &(const struct cli_section){ .title = "OPERATIONS", .heading = "Operations", .entries = rows },
	.options = { OPTION_BETWEEN, OPTION_BY, OPTION_CACHE, OPTION_COLLAPSE, OPTION_CONTEXTS, OPTION_COST,
		     OPTION_COST_UNIT, OPTION_COUNT_EVENTS, OPTION_EXPORT, OPTION_FORMAT_EVENTS, OPTION_FREQUENCY,
		     OPTION_JITTER, OPTION_MODE, OPTION_OUTPUT, OPTION_SET, OPTION_TWICE, OPTION_VERBOSE },
	.examples = examples,
	.launches = true,
	.run = run,
};
