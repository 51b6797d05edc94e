// SPDX-License-Identifier: BSD-2-Clause
/* Catalogs of counters that somebody has changed here and there: reading comes to an end within a little memory. */

#include "counters/counters.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum { MUTANTS = 6000, LIMIT_MIB = 400, TEXT_BYTES = 4096, CLASSES = 500, TYPES = 7 };

static const char seed[] =
	"# x\nCLASS A ABSTRACT \"a\"\nCLASS B EXTENDS A\nCOUNTER X \"x\" KIND multi UNIT count\n"
	"  ON linux: perf hardware cpu-cycles APPROXIMATES \"y\"\n  ON linux: file \"/proc/stat\" field cpu column 2+3 "
	"TIMES 10\n"
	"  HISTORIC p6 yes, itanium no, 604e approximate\n  NOTE \"n\"\nCOUNTER G \"g\" KIND gauge UNIT q\n"
	"  ON linux: file \"/proc/net/snmp\" table Tcp Out\n  ON linux: tracepoint a:b\n"
	"DERIVED D \"d\" = (X + 2) * X / (X - 1)\n  = B.X\nCLASS C EXTENDS B\nINHERITED X\n  HISTORIC win2000 yes\n"
	"DERIVED E\n  = D / G\nCOUNTER R \"r\" KIND multi\n  ON linux: perf raw:r1a8\n  ON linux: perf "
	"pmu:a_0:e=1,u=2\n"
	"  ON linux: file \"/sys/a\" value TIMES 2\n";

static unsigned drawn(unsigned below)
{
	return (unsigned)rand() % below;
}

static size_t mutate(char text[TEXT_BYTES])
{
	static const char *const pieces[] = {
		"\n",         "(",       ")",     "\"",     "+",         "*",        "/",  ".",
		",",          " ",       "X",     "D",      "E",         "A",        "B.", "18446744073709551615",
		"raw:",       "pmu:",    "1e308", "CLASS ", "EXTENDS C", "DERIVED ", "= ", "KIND gauge",
		"INHERITED ", "column ", "\xff",  "#",      "\t"
	};
	size_t length = sizeof seed - 1;

	memcpy(text, seed, sizeof seed);
	for (unsigned i = drawn(3) + 1; i; i--) {
		size_t at = drawn((unsigned)length + 1), cut = drawn(6);
		const char *piece = pieces[drawn(sizeof pieces / sizeof *pieces)];
		size_t added = drawn(3) ? strlen(piece) : 0;

		cut = cut < length - at ? cut : length - at;
		memmove(text + at + added, text + at + cut, length - at - cut);
		memcpy(text + at, piece, added);
		length += added - cut;
		if (drawn(8) == 0 && length)
			text[drawn((unsigned)length)] = (char)drawn(256);
	}
	return length;
}

/* Whether it can be read; else there is one message. */
static bool use(const char *text, size_t length)
{
	const struct diag_source source = { .file = "mutant", .text = text, .length = length };
	struct asterism_diag *diag = asterism_diag_new();
	struct counters *counters = counters_new();
	int result = counters_read(counters, &source, diag);
	double values[COUNTERS_MAX];

	if (!result)
		result = counters_finish(counters, diag);
	assert_int_equal(asterism_diag_count(diag, ASTERISM_ERROR), result ? 1 : 0);
	for (size_t i = 0; !result && i < counters->type_count; i++) {
		uint32_t index = counters->order[i];

		values[index] = 1;
		if (counters->types[index].formulas)
			values[index] = counters_formula_value(counters->types[index].formulas, values);
	}
	counters_free(counters);
	asterism_diag_free(diag);
	return !result;
}

static void test_mutants(void **state)
{
	char text[TEXT_BYTES];
	unsigned good = 0;

	(void)state;
	srand(1);
	for (unsigned i = 0; i < MUTANTS; i++)
		good += use(text, mutate(text));
	assert_true(good > MUTANTS / 50 && good < MUTANTS);
}

static void put_formula(FILE *stream, const char *name)
{
	for (int i = 0; i < COUNTER_STEPS_MAX / 2 - 1; i++)
		fprintf(stream, "%s+", name);
	fprintf(stream, "%s\n", name);
}

/* As many classes, copies and formulas as there can be. */
static void test_many(void **state)
{
	char *text;
	size_t length;
	FILE *stream = open_memstream(&text, &length);

	(void)state;
	fputs("CLASS A\nCOUNTER X \"\" KIND multi\n", stream);
	for (int i = 0; i < TYPES - 1; i++) {
		fprintf(stream, "DERIVED D%d\n", i);
		for (int k = 0; k < COUNTER_FORMULAS_MAX; k++) {
			fputs("= ", stream);
			put_formula(stream, "X");
		}
	}
	for (int i = 0; i < CLASSES; i++)
		fprintf(stream, "CLASS C%d EXTENDS A\n", i);
	fclose(stream);
	assert_true(use(text, length));
	free(text);
}

/* A chain of formulas of which each has the one before several times. */
static void test_chain(void **state)
{
	char *text, name[16] = "X";
	size_t length;

	(void)state;
	for (int links = 60; links < 4000; links *= 50) {
		FILE *stream = open_memstream(&text, &length);

		fputs("CLASS A\nCOUNTER X \"\" KIND multi\n", stream);
		strcpy(name, "X");
		for (int i = 0; i < links; i++) {
			fprintf(stream, "DERIVED D%d = ", i);
			put_formula(stream, name);
			snprintf(name, sizeof name, "D%d", i);
		}
		fclose(stream);
		assert_true(use(text, length));
		free(text);
	}
	/* From the last one on it is too deep. */
	FILE *stream = open_memstream(&text, &length);

	fputs("CLASS A\nCOUNTER X \"\" KIND multi\n", stream);
	for (int i = 100; i; i--)
		fprintf(stream, "DERIVED D%d = D%d\n", i, i - 1);
	fputs("DERIVED D0 = X\n", stream);
	fclose(stream);
	assert_false(use(text, length));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_mutants), cmocka_unit_test(test_many),
					    cmocka_unit_test(test_chain) };
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
	const struct rlimit limit = { LIMIT_MIB << 20, LIMIT_MIB << 20 };

	setrlimit(RLIMIT_AS, &limit);
#endif
	return cmocka_run_group_tests(tests, NULL, NULL);
}
