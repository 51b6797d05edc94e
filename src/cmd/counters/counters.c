// SPDX-License-Identifier: BSD-2-Clause
/* `asterism counters`: which counters there are, which of them this machine has, and what they say. */

#include "base/diag.h"
#include "cli/print.h"
#include "cmd/counters/counters-priv.h"
#include "cmd/options/commands.h"
#include "cmd/options/status.h"
#include "counters/installed.h"

#include <string.h>

bool counters_want_json(const struct cli_arguments *arguments)
{
	return arguments->options[OPTION_FORMAT_EVENTS].number == 1;
}

const struct counter_type *counters_wanted(const struct counters *counters, const char *name)
{
	const struct counter_type *type = counters_find(counters, name);
	const char *names[COUNTERS_MAX], *nearest;

	if (type)
		return type;
	for (size_t i = 0; i < counters->type_count; i++)
		names[i] = counters->types[i].name;
	nearest = diag_nearest(name, names, counters->type_count);
	cli_error("no counter is called '%s'", name);
	if (nearest)
		cli_hint("did you mean %s?", nearest);
	else
		cli_hint("'asterism counters list' shows them all");
	return NULL;
}

typedef int operation(const struct cli_arguments *arguments, const struct counters *counters);

static const struct {
	unsigned option;
	operation *run;
} asked[] = {
	{ OPTION_EXPLAIN, counters_explain },
	{ OPTION_PLATFORM, counters_platform },
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
	if (word && strcmp(word, "list") == 0 && arguments->operand_count == 1) {
		found = counters_list;
		count++;
	} else if (word) {
		count = 2;
	}
	return count > 1 ? NULL : found ? found : counters_list;
}

static int run(const struct cli_arguments *arguments)
{
	const struct cli_value *catalogs = &arguments->options[OPTION_CATALOG];
	operation *chosen = choose(arguments);
	struct asterism_diag *diag;
	struct counters *counters = NULL;
	int status = STATUS_USAGE;

	if (arguments->operand_count && strcmp(arguments->operands[0], "list") != 0) {
		cli_error("'asterism counters' cannot '%s'", arguments->operands[0]);
		cli_hint("'asterism counters --help' lists what it can");
		return STATUS_USAGE;
	}
	if (!chosen) {
		cli_error("'asterism counters' does one thing at a time");
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
	{ NULL, { NULL } },
};

static const struct cli_example examples[] = {
	{ "asterism counters list", "Lists what processors and systems count." },
	{ "asterism counters --explain INST_RETIRED_PER_CYCLE", "Shows what it is, and where it comes from." },
	{ "asterism counters --platform itanium", "Shows what an Itanium could count." },
	{ NULL, NULL },
};

const struct cli_command cmd_counters = {
	.name = "counters",
	.summary = "list the counters of processor and system",
	.operands = "[list]",
	.operands_max = 1,
	.description =
		"Counters of processors and systems have a type each: what is counted, of which kind (single: once "
		"per cycle at most; duration: cycles or time of a condition; multi: several per cycle; threshold: "
		"cycles above a limit; gauge: a state, which is not summed), in which unit. Types are in classes, "
		"which inherit; derived ones follow from others by a formula.\n\n"
		"With --catalog, types of that catalog are added to the shipped ones.",
	.words = &(const struct cli_section){ .title = "OPERATIONS", .heading = "Operations", .entries = rows },
	.options = { OPTION_CATALOG, OPTION_EXPLAIN, OPTION_FORMAT_EVENTS, OPTION_PLATFORM },
	.examples = examples,
	.run = run,
};
