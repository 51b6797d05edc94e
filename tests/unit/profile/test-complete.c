// SPDX-License-Identifier: BSD-2-Clause
/* What functions cost with all that they call, against an example worked out by hand and laws that must hold. */

#include "read-text.h"

#include "base/alloc.h"
#include "profile/attach.h"
#include "profile/compare.h"
#include "profile/complete.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* D. Christopeit, "Vervollstaendigung von Profile-Messungen durch Kombination", 2004, tables 6.1 and 6.2. */
static const char simulation[] = "events: Ir\n"
				 "fn=(1) a\n1 30\ncfn=(2) b\ncalls=1 1\n1 19\ncfn=(3) c\ncalls=1 1\n1 20\n"
				 "fn=(2)\n1 12\ncfn=(4) d\ncalls=1 1\n1 4\ncfn=(5) e\ncalls=1 1\n1 3\n"
				 "fn=(3)\n1 10\ncfn=(4)\ncalls=3 1\n1 1\ncfn=(6) f\ncalls=1 1\n1 9\n"
				 "fn=(4)\n1 5\nfn=(5)\n1 3\nfn=(6)\n1 9\n";
static const char samples[] = "a,40\nb,8\nc,10\nd,7\ne,5\nf,3\n";

static struct profile *complete(const char *sampled_text, const char *simulated_text, enum profile_by by, bool collapse)
{
	const struct profile_completion completion = { .by = by, .collapse = collapse };
	struct profile *sampled = read_text(sampled_text), *simulated = read_text(simulated_text), *completed = NULL;

	assert_int_equal(profile_complete(sampled, simulated, &completion, NULL, &completed), 0);
	profile_free(sampled);
	profile_free(simulated);
	return completed;
}

static double number_of(const struct profile *profile, const char *key)
{
	return strtod(profile_get_info(profile, key), NULL);
}

static void test_example(void **state)
{
	struct profile *completed = complete(samples, simulation, PROFILE_BY_QUOTIENT, false);

	(void)state;
	near(inclusive_of(completed, "a"), 73, 1e-12);
	near(inclusive_of(completed, "b"), 18.6, 1e-12);
	near(inclusive_of(completed, "c"), 14.4, 1e-12);
	near(inclusive_of(completed, "d"), 7, 0);
	near(call_cost(completed, "b", "d"), 5.6, 1e-12);
	near(call_cost(completed, "c", "d"), 1.4, 1e-12);
	near(call_cost(completed, "a", "c"), 14.4, 1e-12);
	assert_int_equal(completed->functions[function_of(completed, "a")].origin, PROFILE_DERIVED);
	assert_int_equal(completed->functions[function_of(completed, "b")].origin, PROFILE_ESTIMATED);
	assert_int_equal(completed->functions[function_of(completed, "e")].origin, PROFILE_DERIVED);
	profile_free(completed);
}

/* gprof gives d by its calls: 1 of 4 are from b. */
static void test_calls(void **state)
{
	struct profile *completed = complete(samples, simulation, PROFILE_BY_CALL_COUNTS, false);

	(void)state;
	near(inclusive_of(completed, "b"), 8 + 7 / 4. + 5, 1e-12);
	near(inclusive_of(completed, "c"), 10 + 7 * 3 / 4. + 3, 1e-12);
	near(inclusive_of(completed, "a"), 73, 1e-12);
	profile_free(completed);
}

/*
 * 4/5 of d's samples and all others of b: w is 1 for b and e, .8 for d. Var = n (sum w^2 p - (sum w p)^2) with n 73.
 */
static void test_deviation(void **state)
{
	struct profile *completed = complete(samples, simulation, PROFILE_BY_QUOTIENT, false);
	double squares = (8 + 5 + .64 * 7) / 73, mean = 18.6 / 73;

	(void)state;
	near(*profile_deviation(completed, function_of(completed, "b")), sqrt(73 * (squares - mean * mean)), 1e-9);
	near(*profile_deviation(completed, function_of(completed, "a")), 0, 1e-6);
	profile_free(completed);
}

/* Where the simulation has no cost, calls count, and it is told. */
static void test_no_cost(void **state)
{
	struct profile *completed =
		complete("g,10\nm,1\n",
			 "events: Ir\nfn=m\n1 5\ncfn=x\ncalls=1 1\n1 4\ncfn=y\ncalls=1 1\n1 4\n"
			 "fn=x\n1 4\ncfn=g\ncalls=3 1\n1 0\nfn=y\n1 4\ncfn=g\ncalls=1 1\n1 0\nfn=g\n1 0\n",
			 PROFILE_BY_QUOTIENT, false);

	(void)state;
	near(inclusive_of(completed, "x"), 7.5, 1e-12);
	near(inclusive_of(completed, "y"), 2.5, 1e-12);
	near(inclusive_of(completed, "m"), 11, 1e-12);
	assert_true(completed->functions[function_of(completed, "g")].flags & PROFILE_BY_CALLS);
	near(number_of(completed, "by-calls"), 10 / 11., 1e-12);
	profile_free(completed);
}

/* A part of what was sampled is not simulated: it keeps its cost, and nobody else gets it. */
static void test_unattached(void **state)
{
	struct profile *completed = complete("a,40\nkernel,10\n", simulation, PROFILE_BY_QUOTIENT, false);

	(void)state;
	near(inclusive_of(completed, "a"), 40, 1e-12);
	near(inclusive_of(completed, "kernel"), 10, 0);
	assert_true(completed->functions[function_of(completed, "kernel")].flags & PROFILE_UNATTACHED);
	near(number_of(completed, "unattached"), .2, 1e-12);
	near(number_of(completed, "root"), 40, 1e-12);
	profile_free(completed);
}

static const char circle[] = "events: Ir\nfn=m\n1 2\ncfn=p\ncalls=1 1\n1 30\ncfn=q\ncalls=1 1\n1 10\n"
			     "fn=p\n1 10\ncfn=q\ncalls=5 1\n1 20\nfn=q\n1 10\ncfn=p\ncalls=4 1\n1 0\n"
			     "cfn=leaf\ncalls=9 1\n1 20\nfn=leaf\n1 20\ncfn=leaf\ncalls=1 1\n1 5\n";

static void test_circle(void **state)
{
	struct profile *completed = complete("m,1\np,10\nq,10\nleaf,20\n", circle, PROFILE_BY_QUOTIENT, false);

	(void)state;
	near(inclusive_of(completed, "m"), 41, 1e-12);
	near(inclusive_of(completed, "p"), 30, 1e-12); /* 30 of 40 in the simulation */
	near(inclusive_of(completed, "q"), 30, 1e-12);
	near(inclusive_of(completed, "leaf"), 20, 1e-12);
	assert_true(completed->functions[function_of(completed, "p")].flags & PROFILE_IN_CYCLE);
	assert_false(completed->functions[function_of(completed, "leaf")].flags & PROFILE_IN_CYCLE);
	assert_int_equal(completed->functions[function_of(completed, "p")].origin, PROFILE_ESTIMATED);
	near(number_of(completed, "largest-cycle"), 40 / 41., 1e-12);
	profile_free(completed);
	completed = complete("m,1\np,10\nq,10\nleaf,20\n", circle, PROFILE_BY_QUOTIENT, true);
	assert_int_equal(completed->function_count, 3);
	near(inclusive_of(completed, "<cycle 1: p, q>"), 40, 1e-12);
	near(call_cost(completed, "m", "<cycle 1: p, q>"), 40, 1e-12);
	profile_free(completed);
}

/* A function's cost follows the callers of its callers, which edges cannot tell. */
static void test_contexts(void **state)
{
	static const char contexts[] =
		"events: Ir\nfn=main\n1 1\ncfn=x'main\ncalls=1 1\n1 10\ncfn=y'main\ncalls=1 1\n1 90\n"
		"fn=x'main\n1 0\ncfn=w'x'main\ncalls=1 1\n1 10\nfn=y'main\n1 0\ncfn=w'y'main\ncalls=1 1\n1 90\n"
		"fn=w'x'main\n1 0\ncfn=s'w'x'main\ncalls=1 1\n1 10\nfn=w'y'main\n1 0\ncfn=t'w'y'main\ncalls=1 1\n1 90\n"
		"fn=s'w'x'main\n1 10\nfn=t'w'y'main\n1 80\ncfn=t'2'w'y'main\ncalls=1 1\n1 0\nfn=t'2'w'y'main\n1 10\n";
	struct profile *completed = complete("s,50\nt,50\n", contexts, PROFILE_BY_CONTEXTS, false);

	(void)state;
	near(inclusive_of(completed, "x"), 50, 1e-9);
	near(inclusive_of(completed, "y"), 50, 1e-9);
	near(inclusive_of(completed, "main"), 100, 1e-9);
	near(call_cost(completed, "w", "s"), 50, 1e-9);
	near(number_of(completed, "too-short"), 0, 1e-12);
	profile_free(completed);
	completed = complete("s,50\nt,50\n", contexts, PROFILE_BY_QUOTIENT, false);
	near(inclusive_of(completed, "x"), 10, 1e-9);
	profile_free(completed);
}

/* A program of count functions whose later ones are called by earlier ones; its costs are consistent. */
static struct profile *make_simulation(unsigned count, bool with_circles, uint32_t seed)
{
	struct profile *profile = profile_new();
	double *inclusive = calloc(count, sizeof *inclusive);
	uint32_t number, edge;

	srand(seed);
	assert_int_equal(profile_add_event(profile, "Ir", 2), 0);
	for (unsigned i = 0; i < count; i++) {
		char name[16];

		snprintf(name, sizeof name, "f%u", i);
		assert_int_equal(profile_text(profile, name, strlen(name), &number), 0);
		assert_int_equal(profile_function(profile, number, 0, &number), 0);
		inclusive[i] = *profile_self(profile, number) = rand() % 1000 + 1;
	}
	/* From the last on: all of it goes to up to five earlier ones. */
	for (unsigned i = count - 1; i > 0; i--) {
		double rest = inclusive[i];

		for (unsigned k = rand() % 5, caller; k + 1 > 0 && rest > 0; k--) {
			double part = k ? rest * (rand() % 100) / 100 : rest;

			caller = (unsigned)rand() % i;
			assert_int_equal(profile_edge(profile, caller, i, 1 + rand() % 9, &edge), 0);
			*profile_cost(profile, edge) += part;
			inclusive[caller] += part;
			rest -= part;
			if (!k)
				break;
		}
		if (with_circles && rand() % 4 == 0)
			assert_int_equal(profile_edge(profile, i, (unsigned)rand() % i, 1, &edge), 0);
	}
	free(inclusive);
	return profile;
}

static double sum_out(const struct profile *profile, uint32_t function)
{
	double sum = *profile_self(profile, function);

	for (uint32_t i = 0; i < profile->edge_count; i++)
		sum += profile->edges[i].caller == function ? *profile_cost(profile, i) : 0;
	return sum;
}

/* Of its own costs the simulation's inclusive costs come out. */
static void test_identity(void **state)
{
	(void)state;
	for (uint32_t seed = 1; seed < 40; seed++) {
		const struct profile_completion completion = { .by = PROFILE_BY_QUOTIENT };
		struct profile *profile = make_simulation(3 + seed * 7, false, seed), *completed;

		assert_int_equal(profile_complete(profile, profile, &completion, NULL, &completed), 0);
		for (uint32_t i = 0; i < profile->function_count; i++) {
			double wanted = sum_out(profile, i);

			near(*profile_inclusive(completed, i), wanted, 1e-12 * wanted);
		}
		for (uint32_t i = 0; i < profile->edge_count; i++)
			near(*profile_cost(completed, i), *profile_cost(profile, i), 1e-12 * profile_total(profile, 0));
		profile_free(completed);
		profile_free(profile);
	}
}

/* Whatever calls whom, no cost gets lost: what is sampled is the root's or unattached. */
static void test_mass(void **state)
{
	(void)state;
	for (uint32_t seed = 1; seed < 60; seed++) {
		const struct profile_completion completion = { .by = seed % 2 ? PROFILE_BY_QUOTIENT
									      : PROFILE_BY_CALL_COUNTS };
		struct profile *profile = make_simulation(2 + seed * 5, true, seed), *completed;
		struct profile *sampled = make_simulation(10 + seed * 6, false, seed + 1000);
		double total = profile_total(sampled, 0);

		assert_int_equal(profile_complete(sampled, profile, &completion, NULL, &completed), 0);
		near(profile_total(completed, 0), total, 1e-9 * total);
		near(number_of(completed, "root") + number_of(completed, "unattached") * total, total, 1e-9 * total);
		for (uint32_t i = 0; i < completed->function_count; i++) {
			assert_true(*profile_inclusive(completed, i) >= *profile_self(completed, i) * (1 - 1e-12));
			assert_true(*profile_inclusive(completed, i) <= total * (1 + 1e-9));
		}
		profile_free(completed);
		profile_free(sampled);
		profile_free(profile);
	}
}

/* All event types at once, each by its own shares where the simulation has it. */
static void test_events(void **state)
{
	struct profile *completed = complete("function,Dr,faults\ng,12,8\n",
					     "events: Ir Dr\nfn=x\n1 1 1\ncfn=g\ncalls=1 1\n1 10 30\n"
					     "fn=y\n1 1 1\ncfn=g\ncalls=1 1\n1 30 10\nfn=g\n1 40 40\n",
					     PROFILE_BY_QUOTIENT, false);
	const double *x = profile_inclusive(completed, function_of(completed, "x"));

	(void)state;
	near(x[0], 9, 1e-12);
	near(x[1], 2, 1e-12);
	profile_free(completed);
}

static void test_names(void **state)
{
	static const char *const names[][2] = {
		{ "memcpy@plt", "memcpy" },
		{ "memcpy@@GLIBC_2.14", "memcpy" },
		{ "__memcmp_evex_movbe", "memcmp" },
		{ "__memcmp_avx2_movbe", "memcmp" },
		{ "__strlen_sse2", "strlen" },
		{ "foo.constprop.0", "foo" },
		{ "__foo", "__foo" },
		{ "my_avx_filter", "my_avx_filter" },
		{ "__libc_start_call_main", "(below main)" },
	};
	char canonical[PROFILE_CANONICAL_BYTES];

	(void)state;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		profile_canonical(names[i][0], canonical);
		assert_string_equal(canonical, names[i][1]);
	}
}

/* The variant for another processor is the same function; what the kernel has of that name is not. */
static void test_attach(void **state)
{
	struct profile *sampled = read_text("function,object,n\n__memcmp_evex_movbe,libc.so.6,1\n"
					    "memcpy,[kernel.kallsyms],1\nmemcpy,/lib/libc.so.6,1\nnew,x,1\n");
	struct profile *simulated = read_text("events: Ir\nob=/usr/lib/libc.so.6\nfn=__memcmp_avx2_movbe\n1 1\n"
					      "fn=memcpy\n1 1\nob=other\nfn=memcpy\n1 9\n");
	uint32_t to[4];

	(void)state;
	assert_int_equal(profile_attach(sampled, simulated, to), 0);
	assert_int_equal(to[0], 0);
	assert_int_equal(to[1], HASH_NONE);
	assert_int_equal(to[2], 1);
	assert_int_equal(to[3], HASH_NONE);
	profile_free(sampled);
	profile_free(simulated);
}

/* What has no name is found by its address in the object; a part of a function may lie beyond others. */
static void test_addresses(void **state)
{
	struct profile *sampled = read_text("function,object,n\n0x1004,/bin/a,1\n0x2008,a,1\n0x3000,a,1\n0x1004,b,1\n"
					    "0x500,a,1\n0x9000,a,1\n0x1004,,1\n");
	struct profile *simulated =
		read_text("positions: instr\nevents: Ir\nob=/usr/bin/a\nfn=0x1000\n0x1000 1\n0x1008 1\n"
			  "0x8000 1\nfn=0x2000\n0x2000 1\n+8 1\n");
	static const uint32_t wanted[] = { 0, 1, 0, HASH_NONE, HASH_NONE, HASH_NONE, HASH_NONE };
	uint32_t to[7];

	(void)state;
	assert_int_equal(profile_attach(sampled, simulated, to), 0);
	for (size_t i = 0; i < 7; i++)
		assert_int_equal(to[i], wanted[i]);
	profile_free(sampled);
	profile_free(simulated);
}

/* The root of the sum of squares; the first is brought to the size of the second. */
static void test_delta(void **state)
{
	struct profile *a = read_text("x,1\ny,2\nz,1\n"), *b = read_text("x,20\ny,10\nw,10\n");
	struct profile_comparison comparison;

	(void)state;
	assert_int_equal(profile_compare(a, 0, b, 0, &comparison), 0);
	near(comparison.factor, 10, 0);
	near(comparison.delta, sqrt(100 + 100 + 100 + 100), 1e-12);
	assert_int_equal(comparison.count, 4);
	alloc_free(comparison.pairs);
	profile_free(a);
	profile_free(b);
}

/* Every allocation that fails is told, and nothing is left behind. */
static void complete_without_memory(const char *samples_text, bool collapse)
{
	const struct profile_completion completion = { .by = PROFILE_BY_QUOTIENT, .collapse = collapse };
	struct profile *sampled = read_text(samples_text), *simulated = read_text(circle), *completed = NULL;
	int result = -ENOMEM;

	for (unsigned long n = 1; result; n++) {
		alloc_fail_at(n);
		result = profile_complete(sampled, simulated, &completion, NULL, &completed);
		alloc_fail_at(0);
		assert_true(result == 0 || (result == -ENOMEM && !completed));
	}
	profile_free(completed);
	profile_free(sampled);
	profile_free(simulated);
}

static void test_no_memory(void **state)
{
	(void)state;
	complete_without_memory(samples, true);
	complete_without_memory(circle, false);
}

/* Lines of samples are kept, and calls from lines come to what their edges cost. */
static void test_spots(void **state)
{
	static const char sampled[] = "events: Ir\nfn=m\n7 3\n8 4\nfn=p\n1 30\nfn=leaf\n2 10\n3 13\n";
	static const char simulated[] = "events: Ir\nfl=f\nfn=m\n1 5\ncfn=p\ncalls=1 1\n2 30\ncfn=p\ncalls=2 1\n3 10\n"
					"cfn=leaf\ncalls=1 1\n4 20\nfn=p\n1 20\ncfn=leaf\ncalls=4 1\n2 20\n"
					"fn=leaf\n1 40\n";
	struct profile *completed = complete(sampled, simulated, PROFILE_BY_QUOTIENT, false);
	double self = 0, called = 0, costs = 0;

	(void)state;
	assert_int_equal(completed->call_count, 4);
	for (uint32_t i = 0; i < completed->spot_count; i++)
		self += *profile_spot_self(completed, i);
	for (uint32_t i = 0; i < completed->call_count; i++)
		called += *profile_call_cost(completed, i);
	for (uint32_t i = 0; i < completed->edge_count; i++)
		costs += *profile_cost(completed, i);
	near(self, 60, 1e-12);
	near(called, costs, 1e-9);
	/* Of the two lines that call p the first has three quarters. */
	near(*profile_call_cost(completed, 0), 3 * *profile_call_cost(completed, 1), 1e-9);
	profile_free(completed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_example),   cmocka_unit_test(test_calls),      cmocka_unit_test(test_deviation),
		cmocka_unit_test(test_no_cost),   cmocka_unit_test(test_unattached), cmocka_unit_test(test_circle),
		cmocka_unit_test(test_contexts),  cmocka_unit_test(test_identity),   cmocka_unit_test(test_mass),
		cmocka_unit_test(test_events),    cmocka_unit_test(test_names),      cmocka_unit_test(test_attach),
		cmocka_unit_test(test_addresses), cmocka_unit_test(test_delta),      cmocka_unit_test(test_spots),
		cmocka_unit_test(test_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
