// SPDX-License-Identifier: BSD-2-Clause
/* Nothing is left out of an input that a rule looks at, and what no rule looks at is. */

#include "session/load/rules.h"
#include "session/replay/want.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define TYPES "EVENT A { x: i64, y: i64, z: i64, s: string }\nEVENT B { x: i64, y: i64 }\nEVENT C { x: i64 }\n"

/* The types and fields that the rule wants of A, B, C, as "A.x A.s B". */
static const char *wanted_by(const char *rule)
{
	static const char *const types[] = { "A", "B", "C" };
	static char text[200];
	char file[] = "/tmp/asterism-unit-XXXXXX";
	const char *name = file;
	struct session_rules *rules = NULL;
	struct replay_want want;
	int fd = mkstemp(file);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, TYPES, strlen(TYPES)), strlen(TYPES));
	assert_int_equal(write(fd, rule, strlen(rule)), strlen(rule));
	close(fd);
	assert_int_equal(session_rules_read(&name, 1, NULL, &rules), 0);
	unlink(file);
	assert_int_equal(replay_want_init(&want, session_rules_program(rules), NULL), 0);
	const struct event_want asked = replay_want_of(&want);

	text[0] = 0;
	for (unsigned i = 0; i < 3; i++) {
		const struct event_type *type = event_catalog_find(session_rules_catalog(rules), types[i]);

		if (!asked.wants(asked.context, type))
			continue;
		sprintf(text + strlen(text), " %s", type->name);
		for (uint32_t j = 0; j < type->field_count; j++)
			if (asked.wants_field(asked.context, type, j))
				sprintf(text + strlen(text), " %s.%s", type->name, type->fields[j].name);
	}
	replay_want_fini(&want);
	session_rules_free(rules);
	return text;
}

static void fields_are_those_that_rules_look_at(void **state)
{
	(void)state;
	assert_string_equal(wanted_by("RULE r PATTERN { A:a } RETURN { a.tid }\n"), " A");
	assert_string_equal(wanted_by("RULE r PATTERN { A:a } WHERE { a.y > 3 } RETURN { a.s }\n"), " A A.y A.s");
	assert_string_equal(wanted_by("RULE r PATTERN { [A:a, B:b] } WHERE { [x], b.ts - a.ts > 1s }\n"),
			    " A A.x B B.x");
	assert_string_equal(wanted_by("RULE r PATTERN { [A:a, ~B:b, A:c] } WHERE { b.y == a.x, c.z == 7 }\n"),
			    " A A.x A.z B B.y");
	assert_string_equal(wanted_by("RULE r PATTERN { [A:a, C:c] } WHERE { [x] } DO { EMIT B(x = a.z, y = 1) }\n"),
			    " A A.x A.z B C C.x");
}

static void sequences_keep_whole_events(void **state)
{
	(void)state;
	assert_string_equal(wanted_by("RULE r PATTERN { [A:a, B:b] } RETURN SEQUENCE\n"),
			    " A A.x A.y A.z A.s B B.x B.y");
}

static void others_may_be_part_of_an_over(void **state)
{
	(void)state;
	assert_string_equal(wanted_by("RULE r STRICTSEQUENCE PATTERN { [A:a, A:b] } OVER { * }\n"), " A B C");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fields_are_those_that_rules_look_at),
		cmocka_unit_test(sequences_keep_whole_events),
		cmocka_unit_test(others_may_be_part_of_an_over),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
