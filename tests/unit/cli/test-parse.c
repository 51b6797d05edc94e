// SPDX-License-Identifier: BSD-2-Clause
/* Command lines of a program of the test's own, with and without commands: what they mean, and what is said of wrong
 * ones. */

#include "base/alloc.h"
#include "cli/arguments.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

enum { WORDS_MAX = 32, MESSAGE_BYTES = 512 };

enum { ALL = 1, BITS, COLOR, EVENTS, FILES, HELP, MOMENT, NUMBER, OUTPUT, SIZE, TIME, OPTIONS };

static int no_blank(const struct cli_value *before, const char *text, struct asterism_diag *diag)
{
	(void)diag;
	return before->count > 1 || strchr(text, ' ') ? -EINVAL : 0;
}

static const struct cli_option options[OPTIONS] = {
	[ALL] = { "all", 'a', CLI_FLAG, .help = "all" },
	[BITS] = { "bits", 0, CLI_BITS, "MODE", .help = "bits" },
	[COLOR] = { "color", 0, CLI_CHOICE, "WHEN", (const char *const[]){ "auto", "always", "never", NULL }, "color" },
	[EVENTS] = { "event", 'e', CLI_LIST, "EVENT,...", .help = "events" },
	[FILES] = { "file", 'f', CLI_TEXT, "FILE", .help = "files", .repeats = true, .check = no_blank },
	[HELP] = { "help", 'h', CLI_ANSWER, .help = "help" },
	[MOMENT] = { "from", 0, CLI_MOMENT, "TIME", .help = "moment" },
	[NUMBER] = { "number", 'n', CLI_NUMBER, "NUMBER", .help = "number", .repeats = true, .most = 1000 },
	[OUTPUT] = { "output", 'o', CLI_TEXT, "FILE", .help = "output" },
	[SIZE] = { "size", 0, CLI_SIZE, "SIZE", .help = "size", .most = 1 << 20 },
	[TIME] = { "for", 0, CLI_TIME, "TIME", .help = "time" },
};

static const struct cli_command run = {
	.name = "run",
	.operands = "FILE... [-- CMD]",
	.options = { ALL, BITS, EVENTS, FILES, MOMENT, NUMBER, OUTPUT, SIZE, TIME },
	.operands_min = 1,
	.launches = true,
};
static const struct cli_command two = { .name = "two", .operands = "A B", .operands_max = 2 };
static const struct cli_command alone = { .operands = "", .options = { ALL, NUMBER, HELP } };
static const struct cli_program program = {
	.name = "program",
	.options = options,
	.option_count = OPTIONS,
	.always = { COLOR, HELP },
	.itself = &alone,
	.commands = (const struct cli_command *const[]){ &run, &two, NULL },
};

/* Parses words with blanks between them; the words stay in place until the next call. */
static int parse(const struct cli_command *command, const char *line, struct cli_arguments *arguments,
		 struct asterism_diag *diag)
{
	static char text[256], *words[WORDS_MAX];
	int count = 0;

	snprintf(text, sizeof text, "%s", line);
	for (char *word = strtok(text, " "); word; word = strtok(NULL, " "))
		words[count++] = word;
	words[count] = NULL;
	*arguments = (struct cli_arguments){ .program = &program, .command = command };
	return cli_parse(arguments, count, words, diag);
}

static void expect_wrong(const struct cli_command *command, const char *line, const char *text, const char *hint)
{
	struct asterism_diag *diag = asterism_diag_new();
	struct cli_arguments arguments;
	const struct asterism_message *message;

	assert_int_equal(parse(command, line, &arguments, diag), -EINVAL);
	message = asterism_diag_get(diag, 0);
	assert_non_null(message);
	assert_string_equal(message->text, text);
	assert_int_equal(message->severity, ASTERISM_ERROR);
	if (hint)
		assert_string_equal(message->hint, hint);
	else
		assert_null(message->hint);
	assert_null(asterism_diag_get(diag, 1));
	cli_arguments_fini(&arguments);
	asterism_diag_free(diag);
}

static void test_values(void **state)
{
	struct cli_arguments arguments;

	(void)state;
	assert_int_equal(parse(&run, "x -aa --all --bits=640 --color never --from @12345678901234567 --size 2k -oF y",
			       &arguments, NULL),
			 0);
	assert_int_equal(arguments.options[ALL].number, 3);
	assert_int_equal(arguments.options[BITS].number, 0640);
	assert_int_equal(arguments.options[COLOR].number, 2);
	assert_int_equal(arguments.options[MOMENT].number, 12345678901234567);
	assert_int_equal(arguments.options[SIZE].number, 2048);
	assert_string_equal(arguments.options[OUTPUT].text, "F");
	assert_int_equal(arguments.operand_count, 2);
	assert_string_equal(arguments.operands[1], "y");
	assert_false(cli_has(&arguments, TIME));
	assert_null(arguments.launched);
	cli_arguments_fini(&arguments);
}

static void test_several(void **state)
{
	struct cli_arguments arguments;

	(void)state;
	assert_int_equal(parse(&run, "x -e a,b -o A -n 3 --event c -f p --number=4 -o B -f q --for 2min -- CMD -a",
			       &arguments, NULL),
			 0);
	assert_string_equal(arguments.options[EVENTS].text, "a,b,c");
	assert_string_equal(arguments.options[OUTPUT].text, "B");
	assert_int_equal(arguments.options[NUMBER].count, 2);
	assert_int_equal(arguments.options[NUMBER].numbers[0], 3);
	assert_int_equal(arguments.options[NUMBER].numbers[1], 4);
	assert_int_equal(arguments.options[NUMBER].number, 4);
	assert_string_equal(arguments.options[FILES].texts[0], "p");
	assert_string_equal(arguments.options[FILES].texts[1], "q");
	assert_int_equal(arguments.options[OUTPUT].count, 0);
	assert_int_equal(arguments.options[TIME].number, 120000000000);
	assert_int_equal(arguments.options[ALL].number, 0);
	assert_string_equal(arguments.launched[0], "CMD");
	assert_string_equal(arguments.launched[1], "-a");
	cli_arguments_fini(&arguments);
	assert_int_equal(parse(&two, "-- --color -", &arguments, NULL), 0);
	assert_string_equal(arguments.operands[0], "--color");
	cli_arguments_fini(&arguments);
}

static void test_answers(void **state)
{
	static const char *const lines[] = { "--help --nonsense", "-h -Z", "-hZ", "x y z --help" };
	struct cli_arguments arguments;

	(void)state;
	for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
		assert_int_equal(parse(&two, lines[i], &arguments, NULL), 0);
		assert_true(cli_has(&arguments, HELP));
		cli_arguments_fini(&arguments);
	}
	expect_wrong(&two, "--nonsense --help", "'program two' has no option --nonsense", "try 'program two --help'");
}

static void test_wrong(void **state)
{
	static const char usage[] = "try 'program run --help'";

	(void)state;
	expect_wrong(&run, "x --colr=never", "'program run' has no option --colr=never", "did you mean --color?");
	expect_wrong(&run, "x -aZ", "'program run' has no option -Z", usage);
	expect_wrong(&run, "x --color=nevr", "--color cannot be 'nevr'", "did you mean 'never'?");
	expect_wrong(&run, "x --color=blue", "--color cannot be 'blue'", "use one of: auto, always or never");
	expect_wrong(&run, "x --all=1", "--all takes no value", usage);
	expect_wrong(&run, "x -o", "--output needs a value: FILE", usage);
	expect_wrong(&run, "x --", "a command must follow '--'", usage);
	expect_wrong(&run, "-a", "'program run' needs FILE... [-- CMD]", usage);
	expect_wrong(&run, "- -", "standard input ('-') can be read only once", usage);
	expect_wrong(&run, "x -n 0", "--number: '0' is not a NUMBER", "use a whole number, 1 or greater");
	expect_wrong(&run, "x -n 1001", "--number: '1001' is too large", "use at most 1000");
	expect_wrong(&run, "x --size 2M", "--size: '2M' is too large", "use at most 1048576 bytes");
	expect_wrong(&run, "x --size 5Q", "--size: invalid size '5Q'",
		     "use a number of bytes, or a number with a unit: 64K, 500M, 2G");
	expect_wrong(&two, "a b c", "'program two' takes A B; 'c' is one too many", "try 'program two --help'");
	expect_wrong(&two, "-n 3", "'program two' has no option -n", "try 'program two --help'");
}

static void test_program_alone(void **state)
{
	struct cli_arguments arguments;

	(void)state;
	assert_int_equal(parse(&alone, "-an 3", &arguments, NULL), 0);
	assert_int_equal(arguments.options[NUMBER].number, 3);
	cli_arguments_fini(&arguments);
	expect_wrong(&alone, "--al", "'program' has no option --al", "did you mean --all?");
	expect_wrong(&alone, "--color never", "'program' has no option --color", "try 'program --help'");
	expect_wrong(&alone, "more", "'program' takes no arguments, but got 'more'", "try 'program --help'");
}

static void test_checks(void **state)
{
	struct cli_arguments arguments;

	(void)state;
	assert_int_equal(parse(&run, "x -f a -f b -f c", &arguments, NULL), -EINVAL);
	cli_arguments_fini(&arguments);
}

static void test_no_memory(void **state)
{
	struct cli_arguments arguments;
	unsigned long n = 0;
	int result;

	(void)state;
	do {
		alloc_fail_at(++n);
		result = parse(&run, "x -e a -e b -n 3 -f p -- CMD", &arguments, NULL);
		alloc_fail_at(0);
		cli_arguments_fini(&arguments);
		assert_true(result == 0 || result == -ENOMEM);
	} while (result);
	assert_true(n > 4);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values),    cmocka_unit_test(test_several),       cmocka_unit_test(test_answers),
		cmocka_unit_test(test_wrong),     cmocka_unit_test(test_program_alone), cmocka_unit_test(test_checks),
		cmocka_unit_test(test_no_memory),
	};

	return cmocka_run_group_tests_name("cli-parse", tests, NULL, NULL);
}
