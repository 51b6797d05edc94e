// SPDX-License-Identifier: BSD-2-Clause
/* `asterism counters`: which counters there are, which of them this machine has, and what they say. */

#include "base/diag.h"
#include "cli/print.h"
#include "cmd/counters/counters-priv.h"
#include "cmd/options/commands.h"
#include "cmd/options/status.h"
#include "counters/installed.h"

#include <string.h>

typedef int operation(const struct cli_arguments *arguments, const struct counters *counters);

static const struct {
	unsigned option;
	operation *run;
} asked[] = {
	{ OPTION_EXPLAIN, counters_explain },
	{ OPTION_PLATFORM, counters_platform },
	{ OPTION_PROBE, counters_probe },
};

/* What the command line asks for; NULL: more or less than one thing. */
static operation *choose(const struct cli_arguments *arguments)
{
	const char *word = arguments->operand_count ? arguments->operands[0] : NULL;
	operation *found = NULL;
	size_t count = 0;

	for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
		if (!cli_has(arguments, asked[i].option))
			continue;
		found = asked[i].run;
		count++;
	}
	if (word && (strcmp(word, "read") == 0 || (strcmp(word, "cycles") == 0 && arguments->operand_count == 1))) {
		found = counters_read_types;
		count++;
	} else if (word) {
		found = counters_list;
		count += arguments->operand_count;
	}
	/* What only reading takes. */
	if (found != counters_read_types &&
	    (cli_has(arguments, OPTION_READ_INTERVAL) || cli_has(arguments, OPTION_READS) || arguments->launched))
		count = 2;
	return count > 1 ? NULL : found ? found : counters_list;
}

static int run(const struct cli_arguments *arguments)
{
	const struct cli_value *catalogs = &arguments->options[OPTION_CATALOG];
	operation *chosen = choose(arguments);
	struct asterism_diag *diag;
	struct counters *counters = NULL;
	int status = STATUS_USAGE;

	if (arguments->operand_count && strcmp(arguments->operands[0], "list") != 0 &&
	    strcmp(arguments->operands[0], "read") != 0 && strcmp(arguments->operands[0], "cycles") != 0) {
		cli_error("'asterism counters' cannot '%s'", arguments->operands[0]);
		cli_hint("'asterism counters --help' lists what it can");
		return STATUS_USAGE;
	}
	if (!chosen) {
		cli_error("'asterism counters' does only one thing at a time");
		cli_hint("'asterism counters --help' shows what");
		return STATUS_USAGE;
	}
	diag = asterism_diag_new();
	counters_load(catalogs->texts, catalogs->count, diag, &counters);
	cli_print(diag);
	asterism_diag_free(diag);
	if (counters)
		status = chosen(arguments, counters);
	counters_free(counters);
	return status;
}

static const struct cli_entry rows[] = {
	{ "list", { "list all types of counters, by class (default)" } },
	{ "read TYPE... [-- COMMAND]",
	  { "show by how much counters grow, and how fast: of the machine, or of the command and what it begins" } },
	{ "cycles [-- COMMAND]", { "show what cycles are lost to: branches, instructions, execution, data" } },
	{ NULL, { NULL } },
};

static const struct cli_example examples[] = {
	{ "asterism counters list", "Lists what CPUs and systems can count." },
	{ "asterism counters --explain INST_RETIRED_PER_CYCLE", "Explains the counter and its source." },
	{ "asterism counters --platform itanium", "Shows what an Itanium could count." },
	{ "asterism counters --probe", "Shows which of them this machine has." },
	{ "asterism counters read INST_RETIRED_PER_CYCLE -- ./program", "Shows how many instructions a cycle does." },
	{ "asterism counters read PAGED_PAGE_FAULTS PROCESSOR_INTERRUPTS --interval 1s",
	  "Shows page faults and interrupts each second." },
	{ NULL, NULL },
};

const struct cli_command cmd_counters = {
	.name = "counters",
	.summary = "list and read counters of the CPUs and the system",
	.operands = "[list | cycles | read TYPE... [-- COMMAND [ARGUMENT...]]]",
	.operands_max = 33,
	.launches = true,
	.description =
		"Counters of the CPUs and the system have a type each: what is counted, of which kind (single: once "
		"per cycle at most; duration: cycles or time of a condition; multi: several per cycle; threshold: "
		"cycles above a limit; gauge: a state, which is not summed), in which unit. Types are in classes, "
		"which inherit; derived ones follow from others by a formula.\n\n"
		"--probe opens and reads each source once: a type is available, approximate (its source counts "
		"something near it), or not here. Operands of a derived type are counted together, in one group of "
		"perf. Where the kernel has counted for a part of the time alone, values are scaled, and the part is "
		"shown; what it has not counted at all is status 3.\n\n"
		"Without a command, 'read' is of the whole machine, for which sources of perf need root, CAP_PERFMON "
		"or a kernel.perf_event_paranoid of 0; it reads once, after a second, or with --interval until "
		"--count readings are done or a signal comes. With a command it reads at its end, or with --interval "
		"meanwhile, and the status is that of the command. Files of /proc are always of the machine.\n\n"
		"With --catalog, types of that catalog are added to the shipped ones.",
	.words = &(const struct cli_section){ .title = "OPERATIONS", .heading = "Operations", .entries = rows },
	.options = { OPTION_CATALOG, OPTION_EXPLAIN, OPTION_FORMAT_EVENTS, OPTION_PLATFORM, OPTION_PROBE,
		     OPTION_READ_INTERVAL, OPTION_READS },
	.examples = examples,
	.run = run,
};
