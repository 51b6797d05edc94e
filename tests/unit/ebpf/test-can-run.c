// SPDX-License-Identifier: BSD-2-Clause
/* Which rules the kernel runs, the reasons why not, and what memory they take. Needs no privilege. */

#include "rules.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "ebpf/ebpf.h"

#include <stdio.h>
#include <string.h>

#define EVENTS                                    \
	"EVENT A { x: i64, f: f64, s: string }\n" \
	"EVENT B { x: i64, f: f64, s: string }\n" \
	"EVENT C { y: i64 }\n"

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
	{ "PATTERN { [A[], B] } RETURN SEQUENCE", "it returns a SEQUENCE of more than a few events" },
	{ "ASYNCHRONOUS PATTERN { [A, B] }", NULL },
	{ "PATTERN { A: a } WHERE { a.f > 0.5 }", "it computes with floating-point numbers" },
	{ "PATTERN { [A[]: a, B] } RETURN { a.max.f AS most }", "it computes with floating-point numbers" },
	{ "PATTERN { A: a } WHERE { a.s LIKE \"*ab\" }", "a LIKE pattern has a * elsewhere than at its end" },
	{ "STRICTSEQUENCE PATTERN { [A, B] } OVER { * }",
	  "OVER { * } under strict semantics would need every event of the kernel" },
	{ "PATTERN { [A, B] } POOL 16777216", "its POOL is larger than 8388608" },
	{ "PATTERN { [A, B] } DO { EMIT C(y = 1) }", "it emits events" },
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

static void what_a_rule_emits_reaches_no_rule_in_the_kernel(void **state)
{
	char reason[200];
	struct rules rules;
	(void)state;

	rules_init(&rules, EVENTS "RULE one PATTERN { A } DO { EMIT C(y = 1) }\nRULE two PATTERN { [C, B] }\n"
				  "RULE three PATTERN { [A, B] }\n");
	assert_int_equal(ebpf_can_run(rules.program, 1, reason, sizeof reason), 0);
	assert_string_equal(reason, "its event C is emitted by a rule");
	assert_int_equal(ebpf_can_run(rules.program, 2, reason, sizeof reason), 1);
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
	assert_string_equal(reason, "memory is short");
	rules_fini(&rules);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reasons_are_clear),
		cmocka_unit_test(what_a_rule_emits_reaches_no_rule_in_the_kernel),
		cmocka_unit_test(pools_grow_with_their_rules),
		cmocka_unit_test(memory_that_is_short_is_a_reason),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
