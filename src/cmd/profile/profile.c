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
	OPTIONS_MAX = 19
};

static const struct cli_entry rows[OPERATIONS + 1] = {
	[RUN] = { "run -- COMMAND", { "sample the command, simulate it, complete the samples, and report" } },
	[RECORD] = { "record -o SAMPLES -- COMMAND", { "sample the command and its descendants, without stacks" } },
	[SIMULATE] = { "simulate -o SIMULATION -- COMMAND",
		       { "run the command in valgrind's callgrind, about 50 times slower, to get its call graph" } },
	[COMPLETE] = { "complete SAMPLES SIMULATION",
		       { "split sampled costs among callers as in the simulation, to get inclusive costs" } },
	[REPORT] = { "report PROFILE", { "list functions with inclusive and self cost, and how well they are known" } },
	[ANNOTATE] = { "annotate PROFILE [FUNCTION]", { "show self cost by source line, and the calls made there" } },
	[CALLERS] = { "callers FUNCTION PROFILE", { "show callers and callees of a function, with costs" } },
	[DIFF] = { "diff PROFILE PROFILE", { "compare two profiles" } },
	[CHECK] = { "check STACKS SIMULATION",
		    { "check folded stacks (main;work;malloc 12) for calls that never happened; status 1 if any" } },
	[EXPORT] = { "export PROFILE",
		     { "write a profile for other tools: callgrind (default), CSV, folded stacks, pprof, speedscope or "
		       "a flame graph" } },
	[IMPORT] = { "import FILE [PROGRAM]",
		     { "convert callgrind's format, output of perf script, pprof, CSV, or gmon.out of a program to a "
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
		       OPTION_OUTPUT, OPTION_SAMPLED_REGISTERS, OPTION_SAMPLES, OPTION_SET },
		     .launches = true },
	[SIMULATE] = { profile_simulate_run,
		       0,
		       { OPTION_CACHE, OPTION_CONTEXTS, OPTION_MODE, OPTION_OUTPUT, OPTION_TWICE },
		       .launches = true },
	[COMPLETE] = { profile_complete_run,
		       2,
		       { OPTION_BY, OPTION_COLLAPSE, OPTION_MODE, OPTION_OUTPUT, OPTION_SAMPLED_THREAD } },
	[REPORT] = { profile_report_run,
		     1,
		     { OPTION_COST, OPTION_COST_UNIT, OPTION_FORMAT_EVENTS, OPTION_SAMPLED_THREAD,
		       OPTION_SAMPLED_THREADS, OPTION_VERBOSE } },
	[ANNOTATE] = { profile_annotate_run,
		       1,
		       { OPTION_COST, OPTION_COST_UNIT, OPTION_FORMAT_EVENTS, OPTION_VERBOSE },
		       .more = 1 },
	[CALLERS] = { profile_callers_run, 2, { OPTION_COST, OPTION_COST_UNIT, OPTION_FORMAT_EVENTS } },
	[DIFF] = { profile_diff_run, 2, { OPTION_COST, OPTION_FORMAT_EVENTS, OPTION_VERBOSE } },
	[CHECK] = { profile_check_run, 2, { OPTION_FORMAT_EVENTS, OPTION_VERBOSE } },
	[EXPORT] = { profile_export_run, 1, { OPTION_COST, OPTION_EXPORT, OPTION_MODE, OPTION_OUTPUT } },
	[IMPORT] = { profile_import_run, 1, { OPTION_MODE, OPTION_OUTPUT }, .more = 1 },
};

/* An option that an operation has no use for is no option of it. */
static int check_profile_options(const struct cli_arguments *arguments, size_t operation)
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

static int run_profile(const struct cli_arguments *arguments)
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
			return check_profile_options(arguments, i)
				       ? STATUS_USAGE
				       : operations[i].run(arguments, arguments->operands + 1);
		if (operations[i].launches) {
			cli_error("'asterism profile %s' needs a command after '--'", typed);
			cli_hint("asterism profile %s", rows[i].term);
			return STATUS_USAGE;
		}
		cli_error("'asterism profile %s' takes %zu operand%s", typed, operations[i].operands,
			  operations[i].operands == 1 ? "" : "s");
		cli_hint("asterism profile %s", rows[i].term);
		return STATUS_USAGE;
	}
	nearest = diag_nearest(typed, known, OPERATIONS);
	cli_error("'asterism profile' has no operation '%s'", typed);
	if (nearest)
		cli_hint("did you mean %s?", nearest);
	else
		cli_hint("'asterism profile --help' lists the operations");
	return STATUS_USAGE;
}

static const struct cli_example examples[] = {
	{ "asterism profile run -- ./program", "Shows the inclusive cost of its functions." },
	{ "asterism profile record -F 2000 -o samples -- ./program", "Samples it 2,000 times a second." },
	{ "asterism profile record --between slow.rule -o samples -- ./server",
	  "Keeps samples within matches of a rule: only slow requests." },
	{ "asterism profile run --between slow.rule -- ./program",
	  "Shows the inclusive cost of functions within matches." },
	{ "asterism profile complete samples.csv callgrind.out.123 -o completed",
	  "Splits sampled costs among callers as in the simulation." },
	{ "asterism profile report completed", "Shows the inclusive cost of functions." },
	{ "asterism profile report --unit seconds completed", "Shows the same in seconds." },
	{ "asterism profile report --threads samples", "Shows which threads and processes cost how much." },
	{ "asterism profile annotate completed malloc", "Shows which lines of malloc cost how much." },
	{ "asterism profile callers malloc completed", "Shows the callers of malloc, and what their calls cost." },
	{ "asterism profile check stacks.folded callgrind.out.123",
	  "Checks stacks of perf record -g for calls that never happened." },
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
		"Samples without stacks show the self cost of functions, but not which callers cause it. A simulated "
		"run "
		"of the same program with the same work (valgrind --tool=callgrind) knows all calls, but not what they "
		"cost on this machine. 'complete' combines the two: it splits the cost of each function among its "
		"callers, in the same proportions as in the simulation. If perf record -g gives stacks that you can "
		"trust, you do not need this; 'check' shows whether they are plausible.\n\n"
		"SAMPLES is the output of perf script, CSV (lines of function,cost) or callgrind's format. SIMULATION "
		"is "
		"callgrind's format. PROFILE is any of them, or the output of 'complete'; - is standard input.\n\n"
		"A mark shows how well a value is known: = is measured, ~ follows from measured values, and +- is "
		"estimated with the simulation's call graph, with its sampling error. Lines 'model' show how far the "
		"results of other models differ.\n\n"
		"An incomplete file is read as far as possible, with status 3.",
	.words = &(const struct cli_section){ .title = "OPERATIONS", .heading = "Operations", .entries = rows },
	.options = { OPTION_BETWEEN,
		     OPTION_BY,
		     OPTION_CACHE,
		     OPTION_COLLAPSE,
		     OPTION_CONTEXTS,
		     OPTION_COST,
		     OPTION_COST_UNIT,
		     OPTION_COUNT_EVENTS,
		     OPTION_EXPORT,
		     OPTION_FORMAT_EVENTS,
		     OPTION_FREQUENCY,
		     OPTION_JITTER,
		     OPTION_MODE,
		     OPTION_OUTPUT,
		     OPTION_SAMPLED_REGISTERS,
		     OPTION_SAMPLED_THREAD,
		     OPTION_SAMPLED_THREADS,
		     OPTION_SAMPLES,
		     OPTION_SET,
		     OPTION_TWICE,
		     OPTION_VERBOSE },
	.examples = examples,
	.launches = true,
	.run = run_profile,
};
