// SPDX-License-Identifier: BSD-2-Clause
/* Explanations: what they say, that JSON parses, that no name gets out of a drawing's label. */

#include "sample.h"

#include "base/alloc.h"
#include "program/explain/explain.h"

#include <errno.h>
#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

typedef void explain_fn(const struct program *program, uint32_t rule, const struct program_explain_facts *facts,
			struct text_buffer *out);

static const struct program_explain_facts facts = {
	.where = "in user space",
	.why = "a \"string\" is a key",
	.kernel_bytes = 1536,
	.user_space_bytes = 3 << 20,
};

static char *explained(explain_fn *explain, const struct program *program, uint32_t rule)
{
	struct text_buffer out = { 0 };
	char *text = NULL;

	explain(program, rule, &facts, &out);
	assert_int_equal(text_take(&out, &text), 0);
	return text;
}

static void assert_holds(const char *text, const char *part)
{
	if (!text || !strstr(text, part))
		fail_msg("no \"%s\" in:\n%s", part, text ? text : "");
}

static void text_reports_the_automaton(void **context)
{
	struct program *program = sample_program();
	char *text = explained(program_explain_text, program, RULE_PAIR);

	(void)context;
	assert_string_equal(
		text, "rule pair (sample.rule:1)\n"
		      "  PATTERN { [A a, B[] b, C] } WHERE { [tid] }\n"
		      "  semantics  SKIPTILLNEXT, AFTER MATCH KEEP, ON LOSS TAINT\n"
		      "  stream     A, B, C\n"
		      "  executed   in user space: a \"string\" is a key\n"
		      "  pool       1024 runs, each remembers 64 bytes; 1.5 KiB in the kernel; 3 MiB in user space\n"
		      "\n"
		      "  state 0 \"start\": a matching event opens a run\n"
		      "    A:a -> state 1   (opens)\n"
		      "      if    x > 3\n"
		      "      set   a.tid = tid\n"
		      "            a.x = x\n"
		      "            a.comm = comm\n"
		      "\n"
		      "  state 1 \"after a\": runs wait under tid = a.tid\n"
		      "    B[]:b -> state 2\n"
		      "      if    name LIKE \"c*\\n\" AND a.x < big\n"
		      "      set   b.len = b.len + 1\n"
		      "            b.max.real = max(b.max.real, real)\n"
		      "      hold  b.len <= 7\n"
		      "\n"
		      "  state 2 \"in \"b\" & \\c\": runs wait under tid = a.tid\n"
		      "    B[]:b -> state 2   (b again)\n"
		      "      if    name LIKE \"c*\\n\"\n"
		      "      set   b.len = b.len + 1\n"
		      "      hold  b.len <= 7\n"
		      "    B -> end   (too many)\n"
		      "    C -> match\n"
		      "\n"
		      "  a match\n"
		      "    returns its events\n"
		      "    returns a.x = a.x\n"
		      "    returns b.real / 2 = b.max.real / 2.0\n"
		      "    does EMIT alarm(x = a.x, ratio = b.max.real / 2.0)\n"
		      "    does CALL Message(\"now\", a.comm)\n");
	alloc_free(text);
	program_free(program);
}

static void text_reports_deadlines_streams_and_keys(void **context)
{
	struct program *program = sample_program();
	char *silence = explained(program_explain_text, program, RULE_SILENCE);
	char *strict = explained(program_explain_text, program, RULE_STRICT);
	char *dropping = explained(program_explain_text, program, RULE_DROPPING);

	(void)context;
	assert_holds(silence, "  semantics  SKIPTILLANY, WITHIN 1s, AFTER MATCH KEEP, ON LOSS DISCARD, ASYNCHRONOUS\n");
	assert_holds(silence, "state 1 \"quiet\": no key: every event is compared with every open run; they match when "
			      "the time is up\n");
	assert_holds(silence, "    B -> state 2, in place\n      if    x == a.x\n");
	assert_holds(silence, "    C -> end, forbidden   (C:c is forbidden)\n");
	assert_holds(silence, "    C -> end, forbidden\n");
	assert_holds(strict, "WITHIN 5ns");
	assert_holds(strict, "  stream     every event\n");
	assert_holds(strict, "no key: every event is compared with every open run; any other event ends them\n");
	assert_holds(dropping, "AFTER MATCH DROP");
	assert_holds(dropping, "runs wait under name = l.who, x = l.x\n");
	alloc_free(silence);
	alloc_free(strict);
	alloc_free(dropping);
	program_free(program);
}

/* Keys that differ between types are told apart; the second key of pair takes the pid. */
static void text_reports_keys_by_type(void **context)
{
	size_t length;
	void *image = sample_image(&length);
	struct program_key *key = sample_item(image, PROGRAM_KEYS, 1);
	struct program *program;
	char *text;

	(void)context;
	key->first_field = 16; /* the sample's spare index */
	sample_seal(image, length);
	assert_int_equal(program_load(image, length, "sample", NULL, &program), 0);
	text = explained(program_explain_text, program, RULE_PAIR);
	assert_holds(text, "runs wait under tid = a.tid of B; pid = a.tid of C\n");
	alloc_free(text);
	program_free(program);
	alloc_free(image);
}

/* A join's slot is called as its field; a source that is no more than the name is not said twice. */
static void text_does_not_say_things_twice(void **context)
{
	size_t length;
	void *image = sample_image(&length);
	struct program_slot *slot = sample_item(image, PROGRAM_SLOTS, 0);
	struct program_rule *rule = sample_item(image, PROGRAM_RULES, RULE_PAIR);
	const struct program_field *field = sample_item(image, PROGRAM_FIELDS, FIELD_TID);
	struct program *program;
	char *text;

	(void)context;
	slot->name = field->name;
	rule->source = rule->name;
	sample_seal(image, length);
	assert_int_equal(program_load(image, length, "sample", NULL, &program), 0);
	text = explained(program_explain_text, program, RULE_PAIR);
	assert_holds(text, "rule pair (sample.rule:1)\n  semantics");
	assert_holds(text, "state 1 \"after a\": runs wait under tid\n");
	alloc_free(text);
	program_free(program);
	alloc_free(image);
}

static void json_is_json_and_complete(void **context)
{
	struct program *program = sample_program();

	(void)context;
	for (uint32_t rule = 0; rule < SAMPLE_RULES; rule++) {
		char *text = explained(program_explain_json, program, rule);
		json_error_t error;
		json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, &error);

		if (!root)
			fail_msg("%s at %d in %s", error.text, error.position, text);
		assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1);
		assert_string_equal(json_string_value(json_object_get(root, "rule")),
				    program_text(program, program->rules[rule].name));
		assert_int_equal(json_array_size(json_object_get(root, "states")), program->rules[rule].state_count);
		assert_int_equal(json_array_size(json_object_get(root, "classes")), program->rules[rule].class_count);
		assert_string_equal(json_string_value(json_object_get(root, "why")), facts.why);
		json_decref(root);
		alloc_free(text);
	}
	program_free(program);
}

static void json_reports_transitions(void **context)
{
	struct program *program = sample_program();
	char *text = explained(program_explain_json, program, RULE_PAIR);

	(void)context;
	assert_holds(text,
		     "{\"type\":\"B\",\"target\":2,\"fit\":\"name LIKE \\\"c*\\\\n\\\" AND a.x < big\",\"actions\":["
		     "\"b.len = b.len + 1\",\"b.max.real = max(b.max.real, real)\"],\"hold\":\"b.len <= 7\","
		     "\"element\":1,\"forbid\":false,\"in_place\":false,\"note\":null}");
	assert_holds(text, "\"target\":\"match\"");
	assert_holds(text, "\"target\":\"end\"");
	assert_holds(text, "\"within_ns\":null,\"pool\":1024,\"slot_bytes\":64");
	assert_holds(text, "\"keys\":[{\"type\":\"B\",\"fields\":[\"tid\"]},{\"type\":\"C\",\"fields\":[\"tid\"]}]");
	assert_holds(text, "{\"name\":\"slot5\",\"kind\":\"u64\",\"offset\":48,\"bytes\":8}");
	assert_holds(text, "\"statements\":[\"EMIT alarm(x = a.x, ratio = b.max.real / 2.0)\",");
	alloc_free(text);
	program_free(program);
}

/*
 * A reader of the part of the DOT language that drawings use: outside of quotes only letters, digits and `={};[],->`
 * with blanks, every statement ended, every bracket closed. Returns the number of statements, 0 when it is not DOT.
 */
static unsigned read_dot(const char *text)
{
	unsigned statements = 0, brackets = 0, braces = 0;
	bool quoted = false;

	for (const char *at = text; *at; at++) {
		if (quoted) {
			if (*at == '\\')
				at++;
			else if (*at == '"')
				quoted = false;
			else if (*at == '\n')
				return 0;
			continue;
		}
		quoted = *at == '"';
		brackets += *at == '[';
		if (*at == ']' && brackets-- == 0)
			return 0;
		braces += *at == '{';
		if (*at == '}' && braces-- == 0)
			return 0;
		if (*at == ';' && brackets)
			return 0;
		statements += *at == ';';
		if (*at == '\n' && at != text && !strchr(";{}", at[-1]))
			return 0;
	}
	return quoted || brackets || braces ? 0 : statements;
}

static void drawings_are_dot(void **context)
{
	struct program *program = sample_program();

	(void)context;
	for (uint32_t rule = 0; rule < SAMPLE_RULES; rule++) {
		char *text = explained(program_explain_dot, program, rule);

		assert_holds(text, "digraph \"");
		assert_true(read_dot(text) > 5);
		alloc_free(text);
	}
	program_free(program);
}

static void drawings_escape_and_style(void **context)
{
	struct program *program = sample_program();
	char *pair = explained(program_explain_dot, program, RULE_PAIR);
	char *silence = explained(program_explain_dot, program, RULE_SILENCE);

	(void)context;
	assert_holds(pair, "digraph \"pair\" {\n");
	assert_holds(pair, "s2 [label=\"2 in \\\"b\\\" &amp; \\\\c\\nruns wait under tid = a.tid\"];");
	assert_holds(pair, "s1 -> s2 [label=\"B[]:b\\nif name LIKE \\\"c*\\\\n\\\" AND a.x < big\\nb.len = b.len + 1");
	assert_holds(pair, "s2 -> match [label=\"C\"];");
	assert_holds(pair, "s2 -> end [label=\"B\", color=gray50, fontcolor=gray50];");
	assert_holds(pair, "match [shape=doublecircle");
	assert_holds(silence, "s1 -> end [label=\"C\", style=dashed, color=red, fontcolor=red];");
	assert_holds(silence, "s1 -> s2 [label=\"B\\nif x == a.x\", style=dotted];");
	assert_holds(silence, "s1 -> match [label=\"after 1s\", style=bold];");
	alloc_free(pair);
	alloc_free(silence);
	program_free(program);
}

static void short_memory_is_reported(void **context)
{
	explain_fn *const all[] = { program_explain_text, program_explain_dot, program_explain_json };
	struct program *program = sample_program();

	(void)context;
	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		unsigned long n = 1;
		int result;

		do {
			struct text_buffer out = { 0 };
			char *text = NULL;

			alloc_fail_at(n++);
			all[i](program, RULE_PAIR, &facts, &out);
			result = text_take(&out, &text);
			alloc_fail_at(0);
			assert_true(result == 0 || result == -ENOMEM);
			alloc_free(text);
		} while (result);
		assert_true(n > 3);
	}
	program_free(program);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_reports_the_automaton), cmocka_unit_test(text_reports_deadlines_streams_and_keys),
		cmocka_unit_test(text_reports_keys_by_type),  cmocka_unit_test(text_does_not_say_things_twice),
		cmocka_unit_test(json_is_json_and_complete),  cmocka_unit_test(json_reports_transitions),
		cmocka_unit_test(drawings_are_dot),           cmocka_unit_test(drawings_escape_and_style),
		cmocka_unit_test(short_memory_is_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
