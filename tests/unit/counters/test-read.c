// SPDX-License-Identifier: BSD-2-Clause
/* Catalogs of counters: what they say, and what is wrong with them. */

#include "counters/counters.h"
#include "counters/installed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static struct counters *read_text(const char *text)
{
	const struct diag_source source = { .file = "text", .text = text, .length = strlen(text) };
	struct asterism_diag *diag = asterism_diag_new();
	struct counters *counters = counters_new();

	if (counters_read(counters, &source, diag) || counters_finish(counters, diag))
		fail_msg("%s", asterism_diag_get(diag, 0)->text);
	asterism_diag_free(diag);
	return counters;
}

static void expect_wrong(const char *text, unsigned line, unsigned column, const char *wanted)
{
	const struct diag_source source = { .file = "text", .text = text, .length = strlen(text) };
	struct asterism_diag *diag = asterism_diag_new();
	struct counters *counters = counters_new();
	int result = counters_read(counters, &source, diag);

	if (!result)
		result = counters_finish(counters, diag);
	assert_int_equal(result, -EINVAL);
	assert_int_equal(asterism_diag_count(diag, ASTERISM_NOTE), 1);
	assert_string_equal(asterism_diag_get(diag, 0)->text, wanted);
	assert_int_equal(asterism_diag_get(diag, 0)->line, line);
	assert_int_equal(asterism_diag_get(diag, 0)->column, column);
	counters_free(counters);
	asterism_diag_free(diag);
}

/* The numbers of types in print, inherited ones apart. */
static void test_shipped(void **state)
{
	struct asterism_diag *diag = asterism_diag_new();
	struct counters *counters = NULL;
	size_t basic = 0, derived = 0;

	(void)state;
	assert_int_equal(counters_load(NULL, 0, diag, &counters), 0);
	for (size_t i = 0; i < counters->type_count; i++) {
		const struct counter_type *type = &counters->types[i];

		assert_non_null(type->doc);
		if (type->base == HASH_NONE)
			*(type->is_derived ? &derived : &basic) += 1;
	}
	assert_int_equal(basic, 122);
	assert_int_equal(derived, 64);
	counters_free(counters);
	asterism_diag_free(diag);
}

#define COUNT(name) "COUNTER " name " \"x\" KIND multi UNIT count\n"

static const char inheriting[] =
	"CLASS A\n" COUNT("X") COUNT("Y") "DERIVED S = X + Y\nCLASS B EXTENDS A\nCLASS C ABSTRACT\n" COUNT(
		"Z") "  ON linux: perf hardware cpu-cycles\nCLASS D EXTENDS C\n";

static void test_inheritance(void **state)
{
	struct counters *counters = read_text(inheriting);
	const struct counter_type *sum = counters_find(counters, "B.S");

	(void)state;
	assert_non_null(sum);
	assert_string_equal(counters->types[sum->formulas->steps[0].type].name, "B.X");
	assert_string_equal(counters->types[counters_find(counters, "S")->formulas->steps[0].type].name, "X");
	assert_non_null(counters_find(counters, "A.X"));
	assert_null(counters_find(counters, "A.Z"));
	/* An abstract class hands its sources down. */
	assert_non_null(counters_find(counters, "D.Z")->sources);
	counters_free(counters);
}

static void test_formulas(void **state)
{
	struct counters *counters = read_text(
		"CLASS A\n" COUNT("X") COUNT("Y") "DERIVED F = X - Y - 2 * (Y + 1) / 4\nDERIVED R = X / (Y - Y)\n");
	const double values[4] = { 100, 7 };
	const struct counter_type *ratio = counters_find(counters, "R");

	(void)state;
	assert_true(fabs(counters_formula_value(counters_find(counters, "F")->formulas, values) - 89) < 1e-12);
	assert_true(isnan(counters_formula_value(ratio->formulas, values)));
	assert_true(ratio->is_ratio);
	assert_string_equal(ratio->unit, "ratio");
	counters_free(counters);
}

/* Of alternatives the best one counts; what is not stated is not "no". */
static void test_historic(void **state)
{
	struct counters *counters =
		read_text("CLASS A\n" COUNT("X") "HISTORIC p6 yes, itanium no, 604e approximate\n" COUNT(
			"Y") "HISTORIC p6 no, itanium yes, 604e yes\nDERIVED S = X + Y\nDERIVED E = X\n= Y\n");
	const unsigned char *sum = counters_find(counters, "S")->computed;
	const unsigned char *either = counters_find(counters, "E")->computed;

	(void)state;
	assert_int_equal(sum[COUNTER_P6], COUNTER_NO);
	assert_int_equal(sum[COUNTER_604E], COUNTER_APPROXIMATE);
	assert_int_equal(sum[COUNTER_WIN2000], COUNTER_UNSTATED);
	assert_int_equal(either[COUNTER_P6], COUNTER_YES);
	assert_int_equal(either[COUNTER_ITANIUM], COUNTER_YES);
	counters_free(counters);
}

static void test_sources(void **state)
{
	struct counters *counters =
		read_text("CLASS A\n" COUNT("X") "ON linux: perf cache LL write miss APPROXIMATES \"y\"\n"
						 "ON linux: file \"/proc/stat\" field cpu column 2+3 TIMES 10\n");
	const struct counter_source *source = counters_find(counters, "X")->sources;

	(void)state;
	assert_string_equal(source->text, "perf cache LL write miss");
	assert_string_equal(source->approximates, "y");
	assert_int_equal(source->config, 2 | 1 << 8 | 1 << 16);
	assert_int_equal(source->next->columns, 1 << 2 | 1 << 3);
	assert_true(source->next->times == 10);
	counters_free(counters);
}

static void test_pmu_sources(void **state)
{
	struct counters *counters =
		read_text("CLASS A\n" COUNT("X") "ON linux: perf raw:r01B7\nON linux: perf raw:439 TIMES 2\n"
						 "ON linux: perf raw:0x1b7 APPROXIMATES \"y\"\n"
						 "ON linux: perf pmu:uncore_imc_0:cas_count_read TIMES 64\n"
						 "ON linux: perf pmu:i915_0000_03_00.0:event=1,inv,umask=0x3\n"
						 "ON linux: file \"/sys/x\" value TIMES 3\n");
	const struct counter_source *source = counters_find(counters, "X")->sources;

	(void)state;
	for (int i = 0; i < 3; i++, source = source->next) {
		assert_int_equal(source->from, COUNTER_PERF);
		assert_int_equal(source->perf_type, 4);
		assert_int_equal(source->config, 0x1b7);
	}
	assert_int_equal(source->from, COUNTER_PMU);
	assert_string_equal(source->path, "uncore_imc_0");
	assert_string_equal(source->field, "cas_count_read");
	assert_true(source->times == 64);
	assert_string_equal(source->next->path, "i915_0000_03_00.0");
	assert_string_equal(source->next->field, "event=1,inv,umask=0x3");
	assert_int_equal(source->next->next->rows, COUNTER_VALUE);
	assert_true(source->next->next->times == 3);
	counters_free(counters);
}

static void test_wrong_pmu_sources(void **state)
{
	static const char *const raw[] = { "", "r", "0x", "r1g", "-1", "1a8", "r10000000000000000", "r 1" };
	static const char *const pmus[] = { "",      "a",         "a:",    ":b",    ".:b",   "..:type", "a/b:c",
					    "a:b/c", "a:../type", "a:b.c", "a:b:c", "a:b,c", "a:b=?" };
	char text[128];

	(void)state;
	for (size_t i = 0; i < sizeof raw / sizeof *raw; i++) {
		snprintf(text, sizeof text, "CLASS A\n" COUNT("X") "ON linux: perf raw:%s\n", raw[i]);
		expect_wrong(text, 3, 16, "a raw event is raw:rHEX or raw:NUMBER, of 64 bits");
	}
	for (size_t i = 0; i < sizeof pmus / sizeof *pmus; i++) {
		snprintf(text, sizeof text, "CLASS A\n" COUNT("X") "ON linux: perf pmu:%s\n", pmus[i]);
		expect_wrong(text, 3, 16, "an event of a PMU is pmu:PMU:EVENT or pmu:PMU:TERM=NUMBER,TERM=NUMBER");
	}
}

static void test_wrong(void **state)
{
	(void)state;
	expect_wrong("CLASS A\n" COUNT("X") "DERIVED D = X + Z\n", 3, 17, "unknown counter Z");
	expect_wrong("CLASS A\nDERIVED D = E\nDERIVED E = D\n", 3, 13, "a cycle: D is computed from itself");
	expect_wrong("CLASS A\nDERIVED D = D\n", 2, 13, "a cycle: D is computed from itself");
	expect_wrong("CLASS A\nCOUNTER G \"x\" KIND gauge\nDERIVED D = G + 1\n", 3, 15,
		     "a gauge is a state and cannot be summed");
	expect_wrong("CLASS A\nCOUNTER G \"x\" KIND gauge\n" COUNT("X") "DERIVED D = 2 * G\nDERIVED E = X - D / X\n", 5,
		     15, "a gauge is a state and cannot be summed");
	expect_wrong("CLASS A EXTENDS A\n", 1, 17, "class A is not declared before this one");
	expect_wrong("CLASS A\nCLASS A\n", 2, 7, "the class A already exists");
	expect_wrong("CLASS A\n" COUNT("X") COUNT("X"), 3, 9, "the counter X already exists");
	expect_wrong(COUNT("X"), 1, 9, "this counter belongs to no class");
	expect_wrong("CLASS A\nON linux: perf\n", 2, 4, "this line belongs to no counter");
	expect_wrong("CLASS A\nDERIVED D\n", 2, 9, "D has no formula");
	expect_wrong("CLASS A\nDERIVED D = (1\n", 2, 15, "expected )");
	expect_wrong("CLASS A\n" COUNT("X") "ON linux: perf hardware cycles\n", 3, 25, "expected an event of perf");
	expect_wrong("CLASS A\n" COUNT("X") "ON linux: file \"/etc/shadow\" field x\n", 3, 30,
		     "counters are read only from files below /proc and /sys");
	expect_wrong("CLASS A\n" COUNT("X") "ON linux: tracepoint ../x\n", 3, 22, "a tracepoint is SYSTEM:NAME");
	expect_wrong("CLASS A\n" COUNT("X") "CLASS B\nINHERITED X\n", 4, 11, "no class that B extends has X");
	expect_wrong("CLASS A\nCOUNTER X \"x\n", 2, 11, "the text is not closed");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shipped),     cmocka_unit_test(test_inheritance),
		cmocka_unit_test(test_formulas),    cmocka_unit_test(test_historic),
		cmocka_unit_test(test_sources),     cmocka_unit_test(test_wrong),
		cmocka_unit_test(test_pmu_sources), cmocka_unit_test(test_wrong_pmu_sources),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
