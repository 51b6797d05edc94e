// SPDX-License-Identifier: BSD-2-Clause
/* What files mean: callgrind's format with all that shortens it, CSV, stacks; and what is said of wrong ones. */

#include "read-text.h"

#include "base/alloc.h"
#include "profile/complete.h"
#include "profile/read.h"
#include "profile/stacks.h"
#include "profile/stacks/paths.h"
#include "profile/write.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double self_of(const struct profile *profile, const char *name, unsigned event)
{
	return profile_self(profile, function_of(profile, name))[event];
}

static void test_short_forms(void **state)
{
	struct profile *profile =
		read_text("# callgrind format\nversion: 1\ncmd: ./a b\npositions: instr line\n"
			  "events: Ir Dr\nsummary: 60 9\n\nob=(1) /bin/a\nfl=(1) a.c\nfn=(1) main\n"
			  "0x1000 5 10 1\n+4 +1 20\n* -2 5 2\nfi=(2) b.h\n+0xc 90 1\nfe=(1)\n+1 7 4 6\n"
			  "cob=(2) libc.so\ncfi=(3) m.c\ncfn=(2) malloc\ncalls=3 0x500 1\n* * 40 5\n"
			  "jump=3 0x1010 9\n* *\njcnd=1/2 +3 +1\n+1 *\njfi=(4) x.c\n"
			  "ob=(2)\nfl=(4)\nfn=(2)\n0x500 1 20\ntotals: 60 9\n");
	const struct profile_function *main = &profile->functions[function_of(profile, "main")];

	(void)state;
	near(self_of(profile, "main", 0), 40, 0);
	near(self_of(profile, "main", 1), 9, 0);
	near(self_of(profile, "malloc", 0), 20, 0);
	near(call_cost(profile, "main", "malloc"), 40, 0);
	near(profile->edges[0].calls, 3, 0);
	assert_int_equal(main->line, 5);
	assert_int_equal(main->low, 0x1000);
	assert_int_equal(main->high, 0x1011);
	assert_string_equal(profile_get_text(profile, main->object), "/bin/a");
	assert_string_equal(profile_get_text(profile, profile->functions[function_of(profile, "malloc")].file), "m.c");
	assert_string_equal(profile_get_info(profile, "cmd"), "./a b");
	profile_free(profile);
}

/* Parts and threads add up; so do levels of recursion, whose calls are of the function to itself. */
static void test_parts(void **state)
{
	struct profile *profile =
		read_text("part: 1\nevents: Ir\nsummary: 3\nfn=(1) f\n1 1\ncfn=(2) f'2\ncalls=1 1\n1 2\n"
			  "fn=(2)\n1 2\ntotals: 3\npart: 2\nevents: Ir\nsummary: 4\nfn=(1) g\n1 4\n"
			  "totals: 4\n");

	(void)state;
	assert_int_equal(profile->function_count, 2);
	near(self_of(profile, "f", 0), 3, 0);
	near(self_of(profile, "g", 0), 4, 0);
	near(call_cost(profile, "f", "f"), 2, 0);
	assert_int_equal(profile->context_count, 0);
	profile_free(profile);
}

/* A template's name may have what parts callers. */
static void test_quotes_in_names(void **state)
{
	struct profile *profile = read_text("events: Ir\nfn=f<'a'>'g\n1 2\nfn=g\n1 1\ncfn=f<'a'>'g\ncalls=1 1\n1 2\n");

	(void)state;
	near(call_cost(profile, "g", "f<'a'>"), 2, 0);
	assert_int_equal(profile->contexts[0].length, 2);
	profile_free(profile);
}

static void test_cut_off(void **state)
{
	static const char text[] = "events: Ir\nsummary: 100\nfn=f\n1 75\n";
	const struct diag_source source = { .file = "cut", .text = text, .length = strlen(text) };
	struct asterism_diag *diag = asterism_diag_new();
	struct profile *profile;

	(void)state;
	assert_int_equal(profile_read(&source, diag, &profile), 0);
	near(profile->missing, .25, 1e-12);
	assert_int_equal(asterism_diag_count(diag, ASTERISM_WARNING), 1);
	assert_string_equal(asterism_diag_get(diag, 0)->text,
			    "cut is incomplete: its totals have 100 Ir, its lines 75");
	assert_non_null(asterism_diag_get(diag, 0)->hint);
	asterism_diag_free(diag);
	profile_free(profile);
}

static void test_csv(void **state)
{
	struct profile *profile = read_text(
		"\xef\xbb\xbf# period: 10\nfunction, object, cycles\n\"a, \"\"b\"\"\",x,30\r\n\n c ,,2.5e0\n");

	(void)state;
	near(self_of(profile, "a, \"b\"", 0), 30, 0);
	near(self_of(profile, "c", 0), 2.5, 0);
	near(profile->samples, 3.25, 1e-12);
	assert_string_equal(profile_get_text(profile, profile->events[0]), "cycles");
	profile_free(profile);
}

static void test_wrong(void **state)
{
	(void)state;
	expect_wrong("events: Ir\nfn=f\n1 x\n", 3, "expected a cost: a number that is not negative");
	expect_wrong("events: Ir\nfn=f\n1 1 2\n", 3, "there are more costs than event types");
	expect_wrong("events: Ir\n\n1 1\n", 3, "a cost without a 'fn=' before it");
	expect_wrong("events: Ir\nfn=(7)\n", 2, "the number is used before its name is defined");
	expect_wrong("events: Ir\nfn=(99999999999) f\n", 2, "the name's number is larger than the file");
	expect_wrong("events: Ir\nfn=f\ncalls=1 1\n", 3, "calls without a 'cfn=' before them");
	expect_wrong("events: Ir\nfn=f\ncfn=g\ncalls=1 1\n", 4, "the file ends after calls, without their cost");
	expect_wrong("events: Ir\nfn=f\ncfn=g\ncalls=1 1\nfn=h\n", 5,
		     "expected the position of the calls or the jump in the next line");
	expect_wrong("events: Ir\nfn=f\n1 18446744073709551616\n", 3, "the number does not fit into 64 bits");
	expect_wrong("events: Ir\nxyz=1\n", 2, "callgrind's format has no 'xyz='");
	expect_wrong("events: Ir\nfn=f\nevents: Dr\n", 3, "this part has different event types from the one before");
	expect_wrong("version: 1\n", 1, "the file has no line 'events:'");
	expect_wrong("a,1\nb\n", 2, "fewer than 2 columns");
	expect_wrong("a,1\nb,-1\n", 2, "expected a cost: a number that is not negative");
	expect_wrong("a,1\nb,1,2\n", 2, "more than 2 columns");
	expect_wrong("a,1\n\"b,1\n", 2, "the quote is not closed on this line");
	expect_wrong("a,1\nb,1e31\n", 2, "the cost is larger than 1e30");
	expect_wrong("hello\n", 1, "this is not callgrind's format, nor perf script's, nor CSV");
}

/* What is written is read as the same. */
static void test_written(void **state)
{
	const struct profile_completion completion = { .by = PROFILE_BY_QUOTIENT };
	struct profile *sampled = read_text("# period: 3\nx,0.1\ng,0.7\n(1)odd,5\n");
	struct profile *simulated = read_text("events: Ir\nob=o\nfl=o\nfn=x\n7 1\ncfn=g\ncalls=1 1\n1 3\nfn=y\n1 1\n"
					      "cfn=g\ncalls=1 1\n1 2\nfn=g\n1 5\n");
	struct profile *completed, *again;
	char *text;
	size_t length;
	FILE *stream = open_memstream(&text, &length);

	(void)state;
	assert_int_equal(profile_complete(sampled, simulated, &completion, NULL, &completed), 0);
	assert_int_equal(profile_write(stream, completed), 0);
	fclose(stream);
	again = read_text(text);
	free(text);
	assert_true(again->is_completed);
	assert_int_equal(again->function_count, completed->function_count);
	near(again->samples, completed->samples, 0);
	for (uint32_t i = 0; i < completed->function_count; i++) {
		uint32_t other = function_of(again, profile_name(completed, i));

		near(*profile_inclusive(again, other), *profile_inclusive(completed, i), 0);
		near(*profile_self(again, other), *profile_self(completed, i), 0);
		assert_int_equal(again->functions[other].flags, completed->functions[i].flags);
		assert_int_equal(again->functions[other].origin, completed->functions[i].origin);
		assert_int_equal(again->functions[other].line, completed->functions[i].line);
		if (!isnan(*profile_deviation(completed, i)))
			near(*profile_deviation(again, other), *profile_deviation(completed, i), 0);
	}
	near(call_cost(again, "y", "g"), call_cost(completed, "y", "g"), 0);
	profile_free(again);
	profile_free(completed);
	profile_free(simulated);
	profile_free(sampled);
}

static void test_stacks(void **state)
{
	static const char text[] = "prog;main;a;b 5\nprog;main;b 2\nmain;a;b;kernel_[k] 1\na;b 1\nmain 1\n";
	const struct diag_source source = { .file = "stacks", .text = text, .length = strlen(text) };
	struct profile *simulated = read_text("events: Ir\nfn=main\n1 1\ncfn=a\ncalls=1 1\n1 2\nfn=a\n1 1\n"
					      "cfn=b\ncalls=1 1\n1 1\nfn=b\n1 1\n");
	struct profile_stacks stacks;

	(void)state;
	assert_int_equal(profile_check_stacks(&source, simulated, NULL, &stacks), 0);
	near(stacks.total, 10, 0);
	near(stacks.wrong, 2, 0);
	near(stacks.unjudged, 1, 0);
	near(stacks.rootless, 1, 0);
	near(call_cost(stacks.calls, "main", "b"), 2, 0);
	profile_free(stacks.calls);
	profile_free(simulated);
}

static double cost_of(const struct profile *profile, const char *function, const char *event)
{
	return profile_self(profile, function_of(profile, function))[profile_find_event(profile, event)];
}

/* Samples without stacks, with stacks, of several events, and with names that have blanks and brackets. */
static void test_perf(void **state)
{
	struct profile *profile =
		read_text("# a comment\n"
			  "   a b: 12 12  3.250000:       100 cycles:u:      55aa main+0x1f (/bin/a b)\n"
			  "beef 12 [001]  3.250000:        10 sched:sched_switch: prev_comm=x prev_pid=3: 4\n"
			  "\t  7f inner (inlined)\n\t  7f f(int (*)(x), y) (/lib/x.so)\n\t  55aa main (/bin/a b)\n\n"
			  "beef 12/13     3.250000:         7 cycles:ppp: \n\t  1a2 [unknown] (/lib/x.so+0x1a2)\n\n"
			  "t 12  3.250000: 5 cycles:u: \n\n");

	(void)state;
	assert_int_equal(profile->event_count, 2);
	near(cost_of(profile, "main", "cycles"), 100, 0);
	near(cost_of(profile, "main", "sched:sched_switch"), 0, 0);
	near(cost_of(profile, "f(int (*)(x), y)", "sched:sched_switch"), 10, 0);
	near(cost_of(profile, "0x1a2", "cycles"), 7, 0);
	near(cost_of(profile, "[unknown]", "cycles"), 5, 0);
	assert_string_equal(profile_get_text(profile, profile->functions[function_of(profile, "main")].object),
			    "/bin/a b");
	near(profile->samples, 3, 0);
	profile_free(profile);
	/* The fields that are needed alone: with stacks, and without. */
	profile = read_text("\t 1 f (x)\n\t 2 main (x)\n\n\t 1 f (x)\n\n\t 2 main (x)\n\n");
	near(cost_of(profile, "f", "samples"), 2, 0);
	near(cost_of(profile, "main", "samples"), 1, 0);
	profile_free(profile);
	profile = read_text("   1 f (x)\n   2 main (x)\n   1 f (x)\n");
	near(cost_of(profile, "f", "samples"), 2, 0);
	profile_free(profile);
	expect_wrong("   1 f (x)\nf,1\n", 2, "this is neither a sample nor a function of its stack");
}

/* Of estimated stacks the costs add up, to those of functions as well. */
static void test_folded(void **state)
{
	struct profile *completed, *simulated = read_text("events: Ir\nfn=m\n1 10\ncfn=a\ncalls=1 1\n1 30\ncfn=b\n"
							  "calls=1 1\n1 60\nfn=a\n1 10\ncfn=b\ncalls=1 1\n1 20\n"
							  "fn=b\n1 80\n");
	const struct profile_completion completion = { .by = PROFILE_BY_QUOTIENT };
	char *text;
	size_t length;
	FILE *stream = open_memstream(&text, &length);
	double left_out;

	(void)state;
	assert_int_equal(profile_complete(simulated, simulated, &completion, NULL, &completed), 0);
	assert_int_equal(profile_write_folded(stream, completed, 1e-4, &left_out), 0);
	fclose(stream);
	assert_string_equal(text, "m;a;b 20\nm;a 10\nm;b 60\nm 10\n");
	near(left_out, 0, 1e-12);
	free(text);
	profile_free(completed);
	profile_free(simulated);
}

/* Reading with each allocation failing is told, and leaves nothing behind. */
static void test_no_memory(void **state)
{
	static const char *const texts[] = {
		"events: Ir\nob=(1) o\nfl=(1) f\nfn=(1) f'g\n1 1\ncfn=(2) h'f'g\ncalls=1 1\n1 1\nfn=g\n1 1\n",
		"# asterism profile\ncompleted: 1\nevents: Ir\nfn=(1) f\n1 1\ninclusive=~ 1\ndeviation= 1\n",
		"# period: 1\nfunction,object,Ir\nf,o,1\n",
		"t 1 1.000000: 5 cycles: 1 f (x)\n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		const struct diag_source source = { .file = "text", .text = texts[i], .length = strlen(texts[i]) };
		int result = -ENOMEM;

		for (unsigned long n = 1; result; n++) {
			struct asterism_diag *diag = asterism_diag_new();
			struct profile *profile = NULL;

			alloc_fail_at(n);
			result = profile_read(&source, diag, &profile);
			alloc_fail_at(0);
			assert_true(result == 0 ? profile != NULL : result == -ENOMEM && !profile);
			assert_int_equal(asterism_diag_count(diag, ASTERISM_ERROR), result ? 1 : 0);
			profile_free(profile);
			asterism_diag_free(diag);
		}
	}
}

/* Without places all costs of functions and calls are the same, and no line is kept. */
static void test_functions(void **state)
{
	static const char text[] =
		"events: Ir\nob=o\nfl=a.c\nfn=m\n1 10\n2 5\ncfn=a\ncalls=2 7\n2 30\nfn=a\n7 20\n8 10\n";
	const struct diag_source source = { .file = "text", .text = text, .length = strlen(text) };
	struct profile *whole = read_text(text), *profile = NULL;

	(void)state;
	assert_int_equal(profile_read_functions(&source, NULL, &profile), 0);
	assert_true(whole->spot_count == 4 && whole->call_count == 1);
	assert_true(profile->spot_count == 0 && profile->call_count == 0);
	assert_int_equal(profile->function_count, whole->function_count);
	near(*profile_self(profile, function_of(profile, "m")), 15, 0);
	near(*profile_self(profile, function_of(profile, "a")), 30, 0);
	near(call_cost(profile, "m", "a"), 30, 0);
	profile_free(whole);
	profile_free(profile);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_short_forms),
		cmocka_unit_test(test_parts),
		cmocka_unit_test(test_quotes_in_names),
		cmocka_unit_test(test_cut_off),
		cmocka_unit_test(test_csv),
		cmocka_unit_test(test_wrong),
		cmocka_unit_test(test_written),
		cmocka_unit_test(test_perf),
		cmocka_unit_test(test_stacks),
		cmocka_unit_test(test_folded),
		cmocka_unit_test(test_functions),
		cmocka_unit_test(test_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
