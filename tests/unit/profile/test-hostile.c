// SPDX-License-Identifier: BSD-2-Clause
/*
 * Profiles that somebody has changed here and there: reading comes to an end within a little memory, with one message
 * that has a line or with a profile that can be completed, written and read again.
 */

#include "read-text.h"
#include "../size.h"

#include "profile/complete.h"
#include "profile/read.h"
#include "profile/stacks.h"
#include "profile/stacks/paths.h"
#include "profile/write.h"

#include "base/alloc.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum { MUTANTS = 6000, LIMIT_MIB = 400, TEXT_BYTES = 4096 };

static const char *const seeds[] = {
	"# callgrind format\nversion: 1\npositions: instr line\nevents: Ir Dr\nsummary: 59 3\nob=(1) a\nfl=(1) a.c\n"
	"fn=(1) main\n0x1000 5 10 1\n+4 +1 20\n* -2 5 2\ncob=(2) c\ncfi=(3) m.c\ncfn=(2) f'main\ncalls=3 0x500 1\n"
	"* * 40 5\njcnd=1/2 +3 +1\n+1 *\nfn=(2)\n0x500 1 20\ncfn=(3) f'2'main\ncalls=9 1\n1 1 3\nfn=(3)\n1 1 4\n"
	"totals: 59 3\n",
	"# asterism profile\nversion: 1\ncompleted: 1\ndesc: method: quotient\ndesc: samples: 9\npositions: line\n"
	"events: cycles\nsummary: 9.5\nob=(1) ???\nfl=(1) x\nfn=(1) a\nflags=2\n7 4.5\ninclusive=+ 9.5\n"
	"deviation= 1.25\ncfn=(2) b\ncalls=1.5 0\n7 5\nedge=~\nfn=(2)\n0 5\ninclusive=~ 5\ndeviation= -\n"
	"cfn=(1)\ncalls=1 0\n1 0\ntotals: 9.5\n",
	"# period: 10\nfunction,object,cycles,\"x\"\n\"a, \"\"b\"\"\",x,30,1\nmain,,2.5,0\nf,,1e3,7\n",
	"  a b 12 [001] 3.250000:  100 cycles:u:   55aa main+0x1 (/bin/a b)\nt 7 4.123456: 7 s:t: \n\t 1 x (inlined)\n"
	"\t 2f f(int (*)(x)) (x.so+0x2f)\n\t 3 main (/bin/a)\n\nt 1 9.000001: 5 s:t: a=b\n\n 5f [unknown] ([x])\n",
	"main;f;f 12\nmain;g 1.5\n\n# no\nprog;f 3\n",
};
enum { SEEDS = sizeof seeds / sizeof *seeds, STACKS = SEEDS - 1 };

static unsigned drawn(unsigned below)
{
	return (unsigned)rand() % below;
}

/* A piece somewhere is another one, is missing, is there twice, or is a number that is too large. */
static size_t mutate(const char *seed, char text[TEXT_BYTES])
{
	static const char *const pieces[] = { "\n",
					      "(",
					      ")",
					      "(4294967295)",
					      "18446744073709551615",
					      "-",
					      "+",
					      "*",
					      "=",
					      ":",
					      ",",
					      "\"",
					      "'",
					      "'2",
					      "1e30",
					      "1e308",
					      "0x",
					      "calls=",
					      "fn=(1)",
					      "events: X",
					      "fn=",
					      "cfn=(2)",
					      "nan",
					      ";",
					      " ",
					      "\xff",
					      "\n\t",
					      "1.000000: ",
					      " (x)",
					      " cycles: " };
	size_t length = strlen(seed);

	memcpy(text, seed, length + 1);
	for (unsigned i = drawn(4) + 1; i; i--) {
		size_t at = drawn((unsigned)length + 1), cut = drawn(12) < length - at ? drawn(12) : 0;
		const char *piece = pieces[drawn(sizeof pieces / sizeof *pieces)];
		size_t added = drawn(3) ? strlen(piece) : 0;

		cut = cut < length - at ? cut : length - at;
		if (length + added >= TEXT_BYTES)
			break;
		memmove(text + at + added, text + at + cut, length - at - cut);
		memcpy(text + at, piece, added);
		length += added - cut;
		if (drawn(8) == 0 && length)
			text[drawn((unsigned)length)] = (char)drawn(256);
		if (drawn(16) == 0)
			length = drawn((unsigned)length + 1);
	}
	text[length] = 0;
	return length;
}

static void expect_message(const struct asterism_diag *diag)
{
	const struct asterism_message *message = asterism_diag_get(diag, asterism_diag_count(diag, ASTERISM_NOTE) - 1);

	assert_int_equal(asterism_diag_count(diag, ASTERISM_ERROR), 1);
	assert_int_equal(message->severity, ASTERISM_ERROR);
	assert_non_null(message->text);
}

/* Costs of stacks are finite, and none is larger than all. */
static void use_stacks(const struct diag_source *source, const struct profile *simulated)
{
	struct asterism_diag *diag = asterism_diag_new();
	struct profile_stacks stacks;

	if (profile_check_stacks(source, simulated, diag, &stacks))
		expect_message(diag);
	else
		assert_true(stacks.wrong <= stacks.total && stacks.unjudged <= stacks.total);
	profile_free(stacks.calls);
	asterism_diag_free(diag);
}

static void use(const struct profile *profile, enum profile_by by)
{
	const struct profile_completion completion = { .by = by, .collapse = by == PROFILE_BY_CALL_COUNTS };
	struct asterism_diag *diag = asterism_diag_new();
	struct profile *completed = NULL, *again = NULL;
	struct diag_source source = { .file = "again" };
	char *text = NULL;
	FILE *stream;

	if (profile_complete(profile, profile, &completion, diag, &completed)) {
		expect_message(diag);
	} else {
		stream = open_memstream(&text, &source.length);
		assert_int_equal(profile_write(stream, completed), 0);
		fclose(stream);
		source.text = text;
		assert_int_equal(profile_read(&source, diag, &again), 0);
		stream = fopen("/dev/null", "w");
		assert_int_equal(profile_write_callgrind(stream, completed), 0);
		double left_out;

		assert_int_equal(profile_write_folded(stream, completed, 1e-4, &left_out), 0);
		assert_int_equal(profile_write_speedscope(stream, completed, 1e-4, &left_out), 0);
		assert_int_equal(profile_write_pprof(stream, completed, 1e-4, &left_out), 0);
		assert_int_equal(profile_write_svg(stream, completed, 1e-4, &left_out), 0);
		fclose(stream);
	}
	free(text);
	profile_free(again);
	profile_free(completed);
	asterism_diag_free(diag);
}

static void test_mutants(void **state)
{
	struct profile *simulated = read_text(seeds[0]);
	char text[TEXT_BYTES];
	unsigned good = 0;

	(void)state;
	srand(1);
	for (unsigned i = 0; i < sized(MUTANTS, 4); i++) {
		struct diag_source source = { .file = "mutant", .text = text };
		struct asterism_diag *diag = asterism_diag_new();
		struct profile *profile = NULL;

		source.length = mutate(seeds[i % SEEDS], text);
		if (i % SEEDS == STACKS) {
			use_stacks(&source, simulated);
		} else if (profile_read(&source, diag, &profile)) {
			expect_message(diag);
			assert_null(profile);
		} else {
			good++;
			use(profile, (enum profile_by)(i / SEEDS % 3));
		}
		profile_free(profile);
		asterism_diag_free(diag);
	}
	assert_true(good > sized(MUTANTS, 4) / 20 && good < sized(MUTANTS, 4));
	profile_free(simulated);
}

/* A chain and a circle of many: nothing goes deeper with them. */
static void test_deep(void **state)
{
	const int functions = (int)sized(200000, 10);
	char *text;
	size_t length;
	FILE *stream = open_memstream(&text, &length);
	struct profile *profile;

	(void)state;
	fputs("events: Ir\n", stream);
	for (int i = 0; i < functions; i++)
		fprintf(stream, "fn=(%d) f%d\n1 1\ncfn=(%d)%s%d\ncalls=1 1\n1 %d\n", i + 1, i, i + 2,
			i + 2 > functions ? " g" : " f", i + 1, functions - i);
	fprintf(stream, "cfn=(%d)\ncalls=1 1\n1 1\n", functions / 2);
	fclose(stream);
	profile = read_text(text);
	free(text);
	use(profile, PROFILE_BY_QUOTIENT);
	profile_free(profile);
}

/* As many objects have a function of one name: none is sought among all the others. */
static void test_namesakes(void **state)
{
	const size_t functions = sized(500000, 10);
	char *text;
	size_t length, step = 0, count = 0;
	FILE *stream = open_memstream(&text, &length);
	struct profile *profile;

	(void)state;
	fputs("function,object,samples\n", stream);
	for (size_t i = 0; i < functions; i++)
		fprintf(stream, "f,o%zu,1\n", i);
	fclose(stream);
	profile = read_text(text);
	free(text);
	for (uint32_t function; (function = profile_find_name(profile, "f", &step)) != HASH_NONE; count++)
		assert_int_equal(function, count);
	assert_int_equal(count, functions);
	profile_free(profile);
}

static uint64_t peak_mib(void)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	return 0;
#else
	return LIMIT_MIB;
#endif
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_mutants), cmocka_unit_test(test_deep),
					    cmocka_unit_test(test_namesakes) };
	const struct rlimit limit = { LIMIT_MIB << 20, LIMIT_MIB << 20 };

	/* What asks for more than is allowed is to be seen here, and not by whom the kernel ends. */
	if (peak_mib())
		setrlimit(RLIMIT_AS, &limit);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
