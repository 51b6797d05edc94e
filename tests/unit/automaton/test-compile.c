// SPDX-License-Identifier: BSD-2-Clause
/* Rules that must compile to valid images, the keys their runs wait under, and patterns that must be refused. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "automaton/compile.h"
#include "base/alloc.h"
#include "lang/parse.h"
#include "program/load.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define EVENTS                                                                                           \
	"EVENT A { x: i32, y: u64, f: f64, s: string }\nEVENT B { x: i32, y: u64, f: f64, s: string }\n" \
	"EVENT C { x: i32, z: i64 }\nEVENT D { w: i32 }\nEVENT E { x: i32 }\n"

struct compiled {
	int err;
	struct asterism_diag *diag;
	struct program *program;
	struct event_catalog *catalog;
	struct lang_program *lang;
};

static void compile(struct compiled *compiled, const char *text)
{
	struct lang_input input = { .file = "t.rule", .text = text, .length = strlen(text) };
	void *bytes = NULL;
	size_t length;

	*compiled = (struct compiled){ .diag = asterism_diag_new(), .catalog = event_catalog_new() };
	assert_non_null(compiled->diag);
	assert_non_null(compiled->catalog);
	compiled->err = lang_read(&input, 1, compiled->catalog, compiled->diag, &compiled->lang);
	if (compiled->err)
		return;
	compiled->err = automaton_compile(lang_program_unit(compiled->lang), compiled->catalog, compiled->diag, &bytes,
					  &length);
	if (compiled->err)
		return;
	compiled->err = program_load(bytes, length, "t.astc", compiled->diag, &compiled->program);
	alloc_free(bytes);
}

static void release(struct compiled *compiled)
{
	program_free(compiled->program);
	lang_program_free(compiled->lang);
	event_catalog_free(compiled->catalog);
	asterism_diag_free(compiled->diag);
}

static void show(const struct compiled *compiled, const char *text)
{
	const struct asterism_message *message;

	fprintf(stderr, "%s\n", text);
	for (size_t i = 0; (message = asterism_diag_get(compiled->diag, i)); i++)
		fprintf(stderr, "  %u:%u: %s\n", message->line, message->column, message->text);
}

static const char *const good[] = {
	"RULE r PATTERN { A }",
	"RULE r PATTERN { [A, B] } WHERE { [x] }",
	"RULE r STRICTSEQUENCE PATTERN { [A, B] } WHERE { [x] } OVER { A, B, C }",
	"RULE r STRICTPARTITION PATTERN { [A, B] } WHERE { [x] } OVER { A, B, C, D }",
	"RULE r SKIPTILLANY PATTERN { [A, B] } WHERE { [x] } AFTER MATCH DROP",
	"RULE r PATTERN { [A:a, B:b] } WHERE { [tid], b.ts - a.ts > 1s, a.x < 300 } RETURN { a.x, b.ts - a.ts AS took "
	"}",
	"RULE r PATTERN { [A[]:a, B] } WHERE { a.len > 2 }",
	"RULE r PATTERN { [A[>2]:a, A, A[<4], B] }",
	"RULE r PATTERN { A[>1000]:a } WHERE { [pid] } WITHIN 1s",
	"RULE r PATTERN { [A:a, A[>=1]:b, A:c] } WHERE { [x], a.y & 16 != 0, c.y & 16 == 0 } RETURN { b.len, b.avg.x }",
	"RULE r PATTERN { [A, ~B:n, C] } WHERE { [x], n.x > 3 }",
	"RULE r PATTERN { [A, ~[B, C], E] } WHERE { [x] }",
	"RULE r SKIPTILLANY PATTERN { [A, ~[B, (C | [D, D])], E] }",
	"RULE r PATTERN { [A, ~[B, C], ~[B, D], E] }",
	"RULE r PATTERN { [A:a, ~B] } WHERE { [tid] } WITHIN 1s RETURN { a.x }",
	"RULE r PATTERN { [A, (B | [C, ~D])] } WITHIN 1s",
	"RULE r PATTERN { [A, B]{2,3} }",
	"RULE r PATTERN { [A, [B, C]+, E] }",
	"RULE r PATTERN { [A, [B, C]{70}, [B, D]{2,}, E] }",
	"RULE r PATTERN { [D, A[]:a]{2} } WHERE { a.len > 1 }",
	"RULE r PATTERN { [A, [B, C[]]{70}, [B, C[]]{1,1000000}, E] }",
	"RULE r PATTERN { [A, [B, C[]]{70}] }",
	"RULE r PATTERN { [A, [B, C]*, E] }",
	"RULE r PATTERN { [A, [B]?, C] }",
	"RULE r PATTERN { [[A, [B]{2}]{3}, C] }",
	"RULE r PATTERN { [D, [A, [B]*]+, C] }",
	"RULE r PATTERN { [([A, B] | [A, C]), E] }",
	"RULE r PATTERN { ([A, ~B, C] | [A, D]) }",
	"RULE r SKIPTILLANY PATTERN { ([A, ~B, C] | [A, ~(B | E), D, E] | [A, B]) }",
	"RULE r PATTERN { ([A, ~[B, C], C] | [A, ~[C, B], D]) }",
	"RULE r PATTERN { ([A, ~B:n, B:c, E] | [A, ~B:m, D]) } WHERE { n.x == 1, m.x == 2, c.x == 3 }",
	"RULE r PATTERN { ([A, B, C] | [A, B, D] | [A, E]) }",
	"RULE r PATTERN { [(A:a | B:b), C:c] } WHERE { c.x > a.x, c.x == b.x }",
	"RULE r PATTERN { [A, [(B:b | E), C:c]+, D] } WHERE { c.x > b.x }",
	"RULE r PATTERN { [A:f, B:x, C:e] } WHERE { f.x == x.tid, x.tid == e.tid }",
	"RULE r PATTERN { [A:a, B:b] } WHERE { b.x == a.x + 1 } RETURN SEQUENCE",
	"RULE r PATTERN { [A:a, B:b] } WHERE { a.s == b.s, a.f > 1.5, a.y IN { 1, 2 }, a.s LIKE \"x*\" }",
	"RULE r STRICTSEQUENCE PATTERN { [A, B] } OVER { * }",
	"RULE r PATTERN { [A:a, B] } DO { EMIT C(x = a.x) }\nRULE q PATTERN { [C, C] }",
	"RULE r PATTERN { [A:a, B] } DO { CALL DbgMessage(\"x\", a#TID, #PID) }",
	"RULE r PATTERN { [A, B[2..5]:b, C] } WHERE { b.x > 3, b.sum.x > 10 }",
	"MACHINE m KEY { x } STATE S { ON A -> T } STATE T { ON B -> S }",
	"MACHINE m KEY { k } VAR n: i8; STATE S { ON A BY { y } -> T { n = n + 1 } } STATE T { ON B BY { x } WHERE n > "
	"k "
	"-> END ON C BY { z } -> STAY }",
	"MACHINE m KEY { s } VAR t: string[8] = \"begin\"; VAR g: f64 = 1.5; STATE S { ON A -> T { t = s; g = f } } "
	"STATE T { ON A WHERE g < 2.0 { WARN \"{t} {s} {g}\" } AFTER 1s -> END }",
	"MACHINE m KEY { comm, tid } STATE S { ENTRY { WARN \"back\" } ON A -> T { CALL DbgMessage(\"x\", comm, #TID) "
	"} } "
	"STATE T { AFTER 1s -> S AFTER 2s { EMIT D(w = tid) } } ON E BY { *, tid } -> END",
	"MACHINE m KEY { x } STATE S { ON A WHERE s LIKE \"x*\" -> T } STATE T { ON A COPY BY { y } WHERE y IN { 1, 2 "
	"} -> S }",
	"MACHINE m KEY { x } STATE S { ON A { EMIT D(w = x) } }\nMACHINE n KEY { w } STATE S { ON D { EMIT E(x = w) } "
	"}\n"
	"RULE r PATTERN { E }",
	"MACHINE m KEY { x } TRAIL 16 VAR a: u8; VAR b: bool; VAR c: i32; VAR d: u64; STATE S { EXIT { WARN \"{a}\" } "
	"ON A WHERE y / x > 1 -> T { a = x; b = TRUE; c = y; d = x; WARN \"{d % x} and {d % x}\"; a = 2 } } STATE T { "
	"ON A -> "
	"T ON B -> S { WARN \"{{{a}}}\" } }",
};

static void test_good(void **state)
{
	char text[2048];

	(void)state;
	for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
		struct compiled compiled;

		snprintf(text, sizeof text, EVENTS "%s", good[i]);
		compile(&compiled, text);
		if (compiled.err)
			show(&compiled, good[i]);
		assert_int_equal(compiled.err, 0);
		release(&compiled);
	}
}

static const struct {
	const char *rule, *text;
} bad[] = {
	{ "RULE r PATTERN { (A | A) }", "two alternatives are equal: 'A' here and at line 6, column 19" },
	{ "RULE r PATTERN { [([A, B] | [A, B]), C] }",
	  "two alternatives are equal: 'B' here and at line 6, column 24" },
	{ "RULE r PATTERN { (A | [A, B]) }",
	  "one alternative is the beginning of the other: 'A' here and at line 6, column 19" },
	{ "RULE r PATTERN { ([A, B] | [A, B, C]) }",
	  "one alternative is the beginning of the other: 'B' here and at line 6, column 23" },
	{ "RULE r PATTERN { ([A:a, B] | [A, C]) }",
	  "alternatives begin with the same event: 'A' here and at line 6, column 20" },
	{ "RULE r PATTERN { ([A[>2], B] | [A, C]) }",
	  "alternatives begin with the same event: 'A' here and at line 6, column 20" },
	{ "RULE r PATTERN { [A:a, B] } DO { EMIT C(x = a.x) }\nRULE q PATTERN { [C:c, B] } DO { EMIT A(x = c.x) }",
	  "EMIT feeds itself: r -> q -> r" },
	{ "RULE r PATTERN { [A:a, B] } DO { EMIT A(x = a.x) }", "EMIT feeds itself: r -> r" },
};

static void test_bad(void **state)
{
	char text[2048];

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		struct compiled compiled;
		const struct asterism_message *message;
		int found = 0;

		snprintf(text, sizeof text, EVENTS "%s", bad[i].rule);
		compile(&compiled, text);
		assert_int_equal(compiled.err, -22);
		for (size_t j = 0; (message = asterism_diag_get(compiled.diag, j)); j++)
			found |= message->severity == ASTERISM_ERROR && !strcmp(message->text, bad[i].text);
		if (!found)
			show(&compiled, bad[i].rule);
		assert_true(found);
		release(&compiled);
	}
}

/* Rounds that close in different ways need a place each; the others share theirs, however many they are. */
static void test_too_large(void **state)
{
	struct compiled compiled;

	(void)state;
	compile(&compiled, EVENTS "RULE r PATTERN { [A, [B, C[]]{1100}] }");
	assert_int_equal(compiled.err, -E2BIG);
	assert_string_equal(asterism_diag_get(compiled.diag, 0)->text, "the pattern of rule 'r' is too large");
	release(&compiled);
	compile(&compiled, EVENTS "RULE r PATTERN { [A, [[C[]]{1000000000}]{1000000000}, B] }");
	assert_int_equal(compiled.err, -E2BIG);
	release(&compiled);
	compile(&compiled, EVENTS "RULE r PATTERN { [A, [D, [B, C[]]{1000000000}]{1000000000}, E] }");
	assert_int_equal(compiled.err, 0);
	release(&compiled);
}

static const struct {
	const char *rule;
	bool never;
} optional[] = {
	{ "RULE r PATTERN { [A, [B]?, B] }", true },
	{ "RULE r PATTERN { [A, [B, [B]?]{2}, B] }", true },
	{ "RULE r PATTERN { [A, [B, [B]?]{2}, C] }", false }, /* left out in the first round only */
	{ "RULE r PATTERN { [A, [B, [C]?]{2}, C] }", false }, /* in the last one only */
};

static void test_never_taken(void **state)
{
	char text[2048];

	(void)state;
	for (size_t i = 0; i < sizeof optional / sizeof optional[0]; i++) {
		struct compiled compiled;
		const struct asterism_message *message;

		snprintf(text, sizeof text, EVENTS "%s", optional[i].rule);
		compile(&compiled, text);
		assert_int_equal(compiled.err, 0);
		message = asterism_diag_get(compiled.diag, 0);
		assert_int_equal(message != NULL, optional[i].never);
		if (message)
			assert_string_equal(message->text, "this optional part never takes an event");
		release(&compiled);
	}
}

/* The key that runs wait under in state 1. */
static const struct {
	const char *rule, *key;
} keys[] = {
	{ "RULE r PATTERN { [A, B] } WHERE { [x] }", "x" },
	{ "RULE r PATTERN { [A, B] }", "all runs" },
	{ "RULE r PATTERN { [A:f, B:x] } WHERE { f.x == x.tid }", "f.x" },
	{ "RULE r PATTERN { [A:f, ~C:c, B:x] } WHERE { f.x == x.tid, c.x == f.x }", "f.x" },
	{ "RULE r PATTERN { [A:f, ~C, B:x] } WHERE { f.x == x.tid }", "all runs" },
	{ "RULE r PATTERN { [A:a, B:b] } WHERE { a.y == b.x }", "all runs" },
	{ "RULE r STRICTSEQUENCE PATTERN { [A, B] } WHERE { [x] }", "all runs" },
	{ "RULE r STRICTPARTITION PATTERN { [A:a, B:b] } WHERE { [x], a.y == b.y }", "x" },
	{ "RULE r PATTERN { [A:a, B:b] } WHERE { [x], a.y == b.y } AFTER MATCH DROP", "x" },
};

static void test_keys(void **state)
{
	char text[2048];

	(void)state;
	for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
		struct compiled compiled;
		const struct program_rule *rule;

		snprintf(text, sizeof text, EVENTS "%s", keys[i].rule);
		compile(&compiled, text);
		if (compiled.err)
			show(&compiled, keys[i].rule);
		assert_int_equal(compiled.err, 0);
		rule = &compiled.program->rules[0];
		const struct program_state *waiting = &compiled.program->states[rule->first_state + 1];
		const struct program_class *class = &compiled.program->classes[rule->first_class + waiting->class];

		assert_string_equal(program_text(compiled.program, class->label), keys[i].key);
		release(&compiled);
	}
}

static void test_memory(void **state)
{
	unsigned long n = 0;
	int err;

	(void)state;
	do {
		struct event_catalog *catalog = event_catalog_new();
		struct asterism_diag *diag = asterism_diag_new();
		struct lang_program *lang = NULL;
		const char *text = EVENTS "RULE r PATTERN { [A:a, ~[B, C], (B | [C, D]), [E]{2}, [C[]]{65}, D] } WHERE "
					  "{ [tid], a.x > 1 }";
		struct lang_input input = { .file = "t", .text = text, .length = strlen(text) };
		void *bytes = NULL;
		size_t length;

		assert_int_equal(lang_read(&input, 1, catalog, diag, &lang), 0);
		alloc_fail_at(++n);
		err = automaton_compile(lang_program_unit(lang), catalog, diag, &bytes, &length);
		alloc_fail_at(0);
		assert_true(err == 0 || err == -12);
		alloc_free(bytes);
		lang_program_free(lang);
		asterism_diag_free(diag);
		event_catalog_free(catalog);
	} while (err);
	assert_true(n > 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good),        cmocka_unit_test(test_bad),  cmocka_unit_test(test_too_large),
		cmocka_unit_test(test_never_taken), cmocka_unit_test(test_keys), cmocka_unit_test(test_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
