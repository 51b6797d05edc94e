// SPDX-License-Identifier: BSD-2-Clause
/* Which rules the kernel runs, the reasons why not, and what memory they take. Needs no privilege. */

#include "rules.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "ebpf/ebpf.h"
#include "ebpf/memory/layout.h"

#include <stdio.h>
#include <string.h>

#define EVENTS                                    \
	"EVENT A { x: i64, f: f64, s: string }\n" \
	"EVENT B { x: i64, f: f64, s: string }\n" \
	"EVENT C { y: i64 }\n"

#define SIXTY        "123456789012345678901234567890123456789012345678901234567890"
#define LONG_PATTERN "a LIKE pattern with text after a * has more than 62 other characters"

static const struct {
	const char *rule, *reason; /* reason NULL: it runs */
} cases[] = {
	{ "PATTERN { A: a } WHERE { a.x / 3 == 2, a.s LIKE \"ab*\" }", NULL },
	{ "PATTERN { [A: a, B: b] } WHERE { [tid], b.ts - a.ts > 1s } RETURN { a.f, b.x AS bx } WITHIN 2s", NULL },
	{ "SKIPTILLANY PATTERN { [A[]: a, ~C, B: b] } WHERE { a.len > 2, b.x > a.max.x } AFTER MATCH DROP", NULL },
	{ "STRICTSEQUENCE PATTERN { [A, B] } OVER { A, B, C }", NULL },
	{ "PATTERN { [A[]: a, B] } RETURN { a.avg.x AS average } DO { CALL Message(\"n\", a.len) }", NULL },
	{ "SYNCHRONOUS PATTERN { [A, B] }", NULL },
	{ "SKIPTILLNEXT PATTERN { [A, B] } OVER { * }", NULL },
	{ "PATTERN { [A, (B | [C, B]), ~C, A] } RETURN SEQUENCE", NULL },
	{ "PATTERN { [A[], B] } RETURN SEQUENCE", NULL },
	{ "ASYNCHRONOUS PATTERN { [A, B] }", NULL },
	{ "PATTERN { A: a } WHERE { a.f > 0.5 }", "it computes with floating-point numbers" },
	{ "PATTERN { [A[]: a, B] } RETURN { a.max.f AS most }", "it computes with floating-point numbers" },
	{ "PATTERN { A: a } WHERE { a.s LIKE \"*ab\" }", NULL },
	{ "PATTERN { A: a } WHERE { a.s LIKE \"*" SIXTY "ab*\" }", NULL },
	{ "PATTERN { A: a } WHERE { a.s LIKE \"*" SIXTY "abc\" }", LONG_PATTERN },
	{ "STRICTSEQUENCE PATTERN { [A, B] } OVER { * }",
	  "OVER { * } under strict semantics would need every event of the kernel" },
	{ "PATTERN { [A, B] } POOL 16777216", "its POOL is larger than 8388608" },
	{ "PATTERN { [A, B] } POOL 8388608", "its runs take more than 256 MiB" },
	{ "PATTERN { A } POOL 8388608", NULL }, /* no run outlives its event */
	{ "PATTERN { [A, B] } DO { EMIT C(y = 1) }", NULL },
	{ "PATTERN { A: a } DO { EMIT B(f = a.f * 2.0) }", NULL }, /* which nobody takes */
};

static void reasons_are_clear(void **state)
{
	char text[1024], reason[200];
	struct rules rules;
	(void)state;

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		const char *mode = strstr(cases[i].rule, "SYNCHRONOUS ") ? cases[i].rule : NULL;
		int mode_length = mode ? (int)(strchr(mode, ' ') - mode + 1) : 0;

		snprintf(text, sizeof text, EVENTS "%.*sRULE r %s\n", mode_length, cases[i].rule,
			 cases[i].rule + mode_length);
		rules_init(&rules, text);
		reason[0] = '\0';
		assert_int_equal(ebpf_can_run(rules.program, 0, reason, sizeof reason), !cases[i].reason);
		if (cases[i].reason)
			assert_string_equal(reason, cases[i].reason);
		rules_fini(&rules);
	}
}

static void machines_run_where_rules_do(void **state)
{
	static const struct {
		const char *machine, *reason;
	} machines[] = {
		{ "KEY { x } STATE O { ON A -> C } STATE C { ON B -> END AFTER 1s -> O }", NULL },
		{ "KEY { x, s } STATE O { ON A -> C } ON B BY { *, s } -> END STATE C { }", NULL },
		{ "KEY { x } VAR f: f64; STATE O { ON A:a -> C { f = a.f * 2.0 } } STATE C { }",
		  "it computes with floating-point numbers" },
		{ "KEY { x } STATE O { ON A:a WHERE a.s LIKE \"*b\" -> C } STATE C { }", NULL },
		{ "KEY { x } STATE O { ON A:a WHERE a.s LIKE \"*" SIXTY "abc\" -> C } STATE C { }", LONG_PATTERN },
	};
	char text[1024], reason[200];
	struct rules rules;
	(void)state;

	for (size_t i = 0; i < sizeof machines / sizeof machines[0]; i++) {
		snprintf(text, sizeof text, EVENTS "MACHINE m %s\n", machines[i].machine);
		rules_init(&rules, text);
		reason[0] = '\0';
		assert_int_equal(ebpf_can_run(rules.program, 0, reason, sizeof reason), !machines[i].reason);
		if (machines[i].reason)
			assert_string_equal(reason, machines[i].reason);
		rules_fini(&rules);
	}
}

static void assert_place(const struct rules *rules, uint32_t rule, const char *expected)
{
	char reason[200] = "";

	assert_int_equal(ebpf_can_run(rules->program, rule, reason, sizeof reason), !expected);
	if (expected)
		assert_string_equal(reason, expected);
}

static void rules_that_emit_connects_stay_together(void **state)
{
	struct rules rules;
	(void)state;

	rules_init(&rules,
		   EVENTS "RULE one PATTERN { A } DO { EMIT C(y = 1) }\nRULE two PATTERN { [C, B] }\n"
			  "RULE three PATTERN { [C, B: b] } WHERE { b.f > 0.5 }\nRULE four PATTERN { [A, B] }\n");
	assert_place(&rules, 0,
		     "EMIT connects it with rule three, which cannot: it computes with floating-point numbers");
	assert_place(&rules, 1,
		     "EMIT connects it with rule three, which cannot: it computes with floating-point numbers");
	assert_place(&rules, 2, "it computes with floating-point numbers");
	assert_place(&rules, 3, NULL);
	rules_fini(&rules);
	rules_init(&rules, EVENTS "RULE one PATTERN { A } DO { EMIT C(y = 1) }\nRULE two PATTERN { [C, B] }\n");
	assert_place(&rules, 0, NULL);
	assert_place(&rules, 1, NULL);
	rules_fini(&rules);
}

static void what_a_taken_event_is_made_of_counts(void **state)
{
	struct rules rules;
	(void)state;

	rules_init(&rules,
		   EVENTS "RULE one PATTERN { A: a } DO { EMIT B(f = a.f * 2.0) }\nRULE two PATTERN { [B, C] }\n");
	assert_place(&rules, 0, "it computes with floating-point numbers");
	rules_fini(&rules);
}

static void what_a_rule_raises_may_not_come_back_to_it(void **state)
{
	struct rules rules;
	(void)state;

	rules_init(&rules, EVENTS "RULE one STRICTPARTITION PATTERN { [A, B] } WHERE { [tid] } OVER { A, B, C } "
				  "DO { EMIT C(y = 1) }\n");
	assert_place(&rules, 0, "the events that it emits come back to it in a cycle");
	rules_fini(&rules);
}

static void pools_grow_with_their_rules(void **state)
{
	struct rules rules;
	(void)state;

	rules_init(&rules, EVENTS "RULE single PATTERN { A }\nRULE small PATTERN { [A, B] } WHERE { [tid] } POOL 1000\n"
				  "RULE large PATTERN { [A, B] } WHERE { [tid] } POOL 100000\n");
	assert_true(ebpf_pool_bytes(rules.program, 0) < 1000);
	assert_true(ebpf_pool_bytes(rules.program, 1) > 1000 * 40);
	assert_true(ebpf_pool_bytes(rules.program, 2) > 90 * ebpf_pool_bytes(rules.program, 1) / 2);
	rules_fini(&rules);
}

static void memory_that_is_short_is_a_reason(void **state)
{
	char reason[200];
	struct rules rules;
	(void)state;

	rules_init(&rules, EVENTS "RULE r PATTERN { [A, B] }\n");
	alloc_fail_at(1);
	assert_int_equal(ebpf_can_run(rules.program, 0, reason, sizeof reason), 0);
	alloc_fail_at(0);
	assert_string_equal(reason, "out of memory");
	rules_fini(&rules);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(machines_run_where_rules_do),
		cmocka_unit_test(reasons_are_clear),
		cmocka_unit_test(rules_that_emit_connects_stay_together),
		cmocka_unit_test(what_a_taken_event_is_made_of_counts),
		cmocka_unit_test(what_a_rule_raises_may_not_come_back_to_it),
		cmocka_unit_test(pools_grow_with_their_rules),
		cmocka_unit_test(memory_that_is_short_is_a_reason),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
