// SPDX-License-Identifier: BSD-2-Clause
/* `asterism compile`: rule text in, program image out. */

#include "cmd/commands.h"
#include "cmd/print.h"
#include "cmd/rules.h"
#include "cmd/status.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Writes the bytes and leaves no half-written file behind. */
static int write_image(const char *file, const void *bytes, size_t length)
{
	bool is_stdout = strcmp(file, "-") == 0;
	FILE *stream = is_stdout ? stdout : fopen(file, "wb");
	struct stat written;
	bool failed;

	if (!stream) {
		print_error("%s cannot be written: %m", file);
		return STATUS_USAGE;
	}
	failed = fwrite(bytes, 1, length, stream) != length;
	failed |= (is_stdout ? fflush(stream) : fclose(stream)) != 0;
	if (!failed)
		return STATUS_FINE;
	print_error("%s cannot be written: %m", file);
	if (!is_stdout && stat(file, &written) == 0 && S_ISREG(written.st_mode))
		unlink(file);
	return STATUS_USAGE;
}

static int run(const struct arguments *arguments)
{
	const char *output = arguments->options[OPTION_OUTPUT].text;
	struct session_rules *rules;
	size_t length;
	int status;

	if (!output) {
		print_error("'asterism compile' needs -o FILE, the image to write");
		return STATUS_USAGE;
	}
	status = cmd_read_rules(arguments->operands, arguments->operand_count, &rules);
	if (status)
		return status;
	const void *image = session_rules_image(rules, &length);

	if (strcmp(output, "-") == 0 && isatty(STDOUT_FILENO)) {
		print_error("an image is not for a terminal; name a file");
		status = STATUS_USAGE;
	} else {
		status = write_image(output, image, length);
	}
	session_rules_free(rules);
	return status;
}

static const struct command_example examples[] = {
	{ "asterism compile slow-syscall.rule -o slow-syscall.astc",
	  "Compiles the rules once; every command takes the image in place of the text." },
	{ NULL, NULL },
};

const struct command command_compile = {
	.name = "compile",
	.summary = "compile rule files to a program image (.astc)",
	.operands = "FILE... -o FILE",
	.description =
		"Compiles the rule files to one program image. An image can be used wherever a rule file can; it "
		"holds everything but the catalogs, does not depend on where it was made, and is validated "
		"whenever it is read.",
	.options = { OPTION_OUTPUT, OPTION_QUIET },
	.examples = examples,
	.operands_min = 1,
	.run = run,
};
