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
static operation *choose_operation(const struct cli_arguments *arguments)
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

static int run_counters(const struct cli_arguments *arguments)
{
	const struct cli_value *catalogs = &arguments->options[OPTION_CATALOG];
	operation *chosen = choose_operation(arguments);
	struct asterism_diag *diag;
	struct counters *counters = NULL;
	int status = STATUS_USAGE;

	if (arguments->operand_count && strcmp(arguments->operands[0], "list") != 0 &&
	    strcmp(arguments->operands[0], "read") != 0 && strcmp(arguments->operands[0], "cycles") != 0) {
		cli_error("'asterism counters' has no operation '%s'", arguments->operands[0]);
		cli_hint("'asterism counters --help' lists the operations");
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
	{ "list", { "list all counter types, by class (default)" } },
	{ "read TYPE... [-- COMMAND]",
	  { "show how much counters grow, and their rates: of the whole machine, or of a command and its "
	    "descendants" } },
	{ "cycles [-- COMMAND]",
	  { "show what CPU cycles are lost to: branches, waiting for instructions, execution, data" } },
	{ NULL, { NULL } },
};

static const struct cli_example examples[] = {
	{ "asterism counters list", "Lists the types that CPUs and systems can count." },
	{ "asterism counters --explain INST_RETIRED_PER_CYCLE", "Explains a type, and shows its source." },
	{ "asterism counters --platform itanium", "Shows which types an Itanium could count." },
	{ "asterism counters --probe", "Shows which types this machine has." },
	{ "asterism counters read INST_RETIRED_PER_CYCLE -- ./program",
	  "Shows the instructions per cycle of a program." },
	{ "asterism counters read PAGED_PAGE_FAULTS PROCESSOR_INTERRUPTS --interval 1s",
	  "Shows page faults and interrupts of the machine, every second." },
	{ NULL, NULL },
};

const struct cli_command cmd_counters = {
	.name = "counters",
	.summary = "list and read counters of the CPUs and the system",
	.operands = "[list | cycles | read TYPE... [-- COMMAND [ARGUMENT...]]]",
	.operands_max = 33,
	.launches = true,
	.description = "Each counter of the CPUs and the system has a type. The type has a name, a kind and a unit. "
		       "The kinds are single (at most once per cycle), duration (cycles or time while a condition "
		       "holds), multi (several times per cycle), threshold (cycles in which a limit is exceeded) and "
		       "gauge (a state, which is not summed). A derived type is computed from other types by a "
		       "formula. Classes group types, and inherit types from other classes.\n\n--probe opens and reads "
		       "each source once. A type is then available, approximate or not here. Approximate means that "
		       "the source counts something similar.\n\n'read' counts the whole machine, for one second. With "
		       "--interval it reads repeatedly, until a signal ends it or --count readings are done. perf "
		       "sources need root, CAP_PERFMON, or a kernel.perf_event_paranoid of 0 to count the whole "
		       "machine.\n\nWith a command, 'read' counts the command and its descendants. It reads once when "
		       "the command ends, or at each --interval. The exit status is that of the command. A source in "
		       "/proc still counts the whole machine.\n\nThe operands of a derived type are counted together, "
		       "as one perf group. If the CPU has too few counters, the kernel multiplexes them. Values are "
		       "then scaled, and the share of the time that was counted is shown. If a type was never counted, "
		       "the status is 3.\n\n--catalog adds the types of a catalog to the shipped ones.",
	.words = &(const struct cli_section){ .title = "OPERATIONS", .heading = "Operations", .entries = rows },
	.options = { OPTION_CATALOG, OPTION_EXPLAIN, OPTION_FORMAT_EVENTS, OPTION_PLATFORM, OPTION_PROBE,
		     OPTION_READ_INTERVAL, OPTION_READS },
	.examples = examples,
	.run = run_counters,
};
