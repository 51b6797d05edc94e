// SPDX-License-Identifier: BSD-2-Clause
/* `asterism import`: a state machine in SMC's language in, rule text out. What is written has been checked as rules
 * are. */

#include "base/alloc.h"
#include "base/diag.h"
#include "base/embedded.h"
#include "cli/print.h"
#include "cmd/input/rules.h"
#include "cmd/options/commands.h"
#include "cmd/options/status.h"
#include "cmd/text/output.h"
#include "session/load/input.h"
#include "smc/smc.h"

#include <stdio.h>
#include <string.h>

enum { NAME_BYTES = 300 };

extern const struct embedded_file machines_embedded[];

static bool find_shipped_binding(const char *class, struct diag_source *binding)
{
	char name[NAME_BYTES];
	const struct embedded_file *file;

	snprintf(name, sizeof name, "%s.bind", class);
	file = embedded_find(machines_embedded, name);
	if (file)
		*binding = (struct diag_source){ .file = EMBEDDED_FOLDER,
						 .text = embedded_text(file, NULL),
						 .length = file->length };
	return file;
}

static int read_import_source(const char *file, size_t limit, struct asterism_diag *diag, struct diag_source *source,
			      char **text)
{
	int result = session_input_read(file, limit, diag, text, &source->length);

	source->file = session_input_name(file);
	source->text = *text;
	return result;
}

/* The rule is judged as it stands, so that nothing is written that does not run. */
static int write_rule(const struct cli_arguments *arguments, const char *rule)
{
	const char *output = arguments->options[OPTION_OUTPUT].text;
	const struct session_rules_file file = { .path = output && strcmp(output, "-") != 0 ? output
											    : "the translation",
						 .text = rule,
						 .length = strlen(rule) };
	struct session_rules *rules;
	int status = cmd_read_files(arguments, &file, 1, &rules);

	if (status) {
		cli_error("the translation of %s is not a valid rule: its binding has an error",
			  arguments->operands[0]);
		return status;
	}
	session_rules_free(rules);
	return cmd_output_write(arguments, output ? output : "-", rule, strlen(rule));
}

static int run_import(const struct cli_arguments *arguments)
{
	const char *bind = arguments->options[OPTION_BIND].text, *output = arguments->options[OPTION_OUTPUT].text;
	struct smc_input input = { .find = find_shipped_binding };
	struct asterism_diag *diag = asterism_diag_new();
	char *machine = NULL, *binding = NULL, *rule = NULL;
	int result;

	if (bind && output && cmd_is_same_file(bind, output)) {
		cli_error("refusing to overwrite %s, which this command reads", output);
		asterism_diag_free(diag);
		return STATUS_USAGE;
	}
	result = read_import_source(arguments->operands[0], SMC_BYTES_MAX, diag, &input.machine, &machine);
	if (!result && bind)
		result = read_import_source(bind, SMC_BINDING_BYTES_MAX, diag, &input.binding, &binding);
	if (!result)
		result = smc_translate(&input, diag, &rule);
	if (diag)
		cli_print(diag);
	else
		cli_error("out of memory");
	result = result ? cmd_status_of(result) : write_rule(arguments, rule);
	alloc_free(machine);
	alloc_free(bind ? binding : (char *)input.binding.text); /* a shipped one is for us to free */
	alloc_free(rule);
	asterism_diag_free(diag);
	return result;
}

static const struct cli_example import_examples[] = {
	{ "asterism import fd.sm -o fd.rule", "Translates fd.sm, with the binding that is shipped for class fd." },
	{ "asterism import door.sm --bind door.bind | asterism replay - trace.jsonl",
	  "Translates door.sm with a binding of your own, and runs the machine over a trace." },
	{ NULL, NULL },
};

const struct cli_command cmd_import = {
	.name = "import",
	.summary = "translate a state machine of SMC (.sm) into a machine for rules",
	.operands = "FILE.sm [--bind FILE] [-o FILE]",
	.operands_min = 1,
	.operands_max = 1,
	.description =
		"Translates a state machine in the language of SMC, the State Machine Compiler: states with Entry and "
		"Exit, transitions with arguments, guards and actions, nil, Default, several maps. Guards and actions "
		"are calls of a host program. A binding says what they and the transitions mean here, one line for "
		"each. asterism ships bindings for the classes fd, chroot, locks, rt and tcp.\n\nWhat cannot be "
		"translated is an error with its location: a call without a binding, push and pop, C beyond "
		"comparisons of arguments, an action for all instances at once. %{ %}, %header, %include and %declare "
		"concern only the host program and are skipped. The output was checked as by 'asterism check'.",
	.options = { OPTION_BIND, OPTION_MODE, OPTION_OUTPUT },
	.examples = import_examples,
	.run = run_import,
};
