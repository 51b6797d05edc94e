// SPDX-License-Identifier: BSD-2-Clause
/* `asterism compile`: rule text in, program image or C header out. */

#include "cli/print.h"
#include "cmd/input/rules.h"
#include "cmd/options/commands.h"
#include "cmd/options/status.h"
#include "cmd/text/output.h"
#include "program/values-header.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int write_header(const struct cli_arguments *arguments, const char *output, const struct session_rules *rules)
{
	struct asterism_diag *diag = asterism_diag_new();
	char *text = NULL;
	size_t length = 0;
	FILE *stream = open_memstream(&text, &length);
	int status, result = stream ? program_write_values_header(stream, session_rules_program(rules), diag) : -ENOMEM;

	if (stream && fclose(stream) && !result)
		result = -ENOMEM;
	if (!diag || (result && !asterism_diag_count(diag, ASTERISM_ERROR)))
		cli_error("out of memory");
	else
		cli_print(diag);
	status = result ? cmd_status_of(result) : cmd_output_write(arguments, output, text, length);
	asterism_diag_free(diag);
	free(text);
	return status;
}

static int write_image(const struct cli_arguments *arguments, const char *output, const struct session_rules *rules)
{
	size_t length;
	const void *image = session_rules_image(rules, &length);

	if (strcmp(output, "-") == 0 && isatty(STDOUT_FILENO)) {
		cli_error("refusing to write a binary image to a terminal: name a file with -o");
		return STATUS_USAGE;
	}
	return cmd_output_write(arguments, output, image, length);
}

static int run_compile(const struct cli_arguments *arguments)
{
	const char *output = arguments->options[OPTION_OUTPUT].text;
	bool header = cli_has(arguments, OPTION_HEADER);
	struct session_rules *rules;
	int status;

	if (!output && !header) {
		cli_error("'asterism compile' needs -o FILE, the image to write");
		return STATUS_USAGE;
	}
	status = cmd_read_rules(arguments, arguments->operands, arguments->operand_count, &rules);
	if (status)
		return status;
	status = header ? write_header(arguments, output ? output : "-", rules) : write_image(arguments, output, rules);
	session_rules_free(rules);
	return status;
}

static const struct cli_example compile_examples[] = {
	{ "asterism compile slow-syscall.rule -o slow-syscall.astc",
	  "Compiles the rules once; every command takes the image in place of the text." },
	{ "asterism compile --header slow-syscall.rule -o slow-syscall.h",
	  "Writes the structure that a C program reads the rule's matches into." },
	{ NULL, NULL },
};

const struct cli_command cmd_compile = {
	.name = "compile",
	.summary = "compile rule files to a program image (.astc) or a C header",
	.operands = "{FILE | -r TEXT}... {-o FILE | --header}",
	.description = "Compiles the rule files to one program image. Every command takes an image in place of a rule "
		       "file. An image holds everything but the catalogs, works on every machine, and is validated "
		       "whenever it is read.\n\n--header writes a C and C++ header for programs that embed "
		       "libasterism, to standard output unless -o names a file. For each rule that returns values it "
		       "has a structure NAME_values, and a function NAME_values_get that fills it from a match. Names "
		       "are changed to valid identifiers; a text is an array as large as its field. The library "
		       "refuses to fill a structure that was generated from another version of the rule.",
	.options = { OPTION_EXCEPT, OPTION_HEADER, OPTION_MODE, OPTION_ORDER_BY, OPTION_OUTPUT, OPTION_QUIET,
		     OPTION_RULE, OPTION_SET },
	.examples = compile_examples,
	.operands_min = 1,
	.instead = OPTION_RULE,
	.run = run_compile,
};
