// SPDX-License-Identifier: BSD-2-Clause
/* Which rules can be divided by a key, by how much of one, and where the events go. */

#include "base/alloc.h"
#include "session/executor/key.h"
#include "session/load/rules.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static const char types_text[] = "EVENT A { x: i64, y: i64, s: string }\nEVENT B { x: i64, y: i64, s: string }\n"
				 "EVENT C { x: i64, y: i64, s: string }\nEVENT D { y: i64, s: string }\n"
				 "EVENT M { x: i64, y: i64 }\n";

static struct session_rules *read_rule(const char *text)
{
	char file[] = "/tmp/asterism-unit-XXXXXX";
	const char *name = file;
	struct session_rules *rules = NULL;
	int fd = mkstemp(file);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, types_text, strlen(types_text)), strlen(types_text));
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
	assert_int_equal(session_rules_read(&name, 1, NULL, &rules), 0);
	unlink(file);
	return rules;
}

static uint32_t parts_of(const char *text)
{
	struct session_rules *rules = read_rule(text);
	struct shard_key key;
	uint32_t count;

	assert_int_equal(shard_key_init(&key, session_rules_program(rules), 0), 0);
	count = key.part_count;
	shard_key_fini(&key);
	session_rules_free(rules);
	return count;
}

static void finds_keys(void **state)
{
	static const struct {
		const char *text;
		uint32_t parts;
	} cases[] = {
		{ "RULE r PATTERN { [A:a, B:b] } WHERE { [x] }", 1 },
		{ "RULE r PATTERN { [A:a, B:b] } WHERE { [pid], [tid], b.ts - a.ts > 1s }", 2 },
		{ "RULE r PATTERN { [A:a, B:b] } WHERE { [s] }", 1 },
		{ "RULE r PATTERN { [A:a, B[]:b, C:c] } WHERE { [tid] } WITHIN 1s RETURN SEQUENCE", 1 },
		{ "RULE r PATTERN { [A:a, ~B:b, C:c] } WHERE { [tid], b.x > a.x }", 1 },
		{ "RULE r PATTERN { [A:a, (B:b | C:c), A:d] } WHERE { [tid] }", 1 },
		{ "RULE r PATTERN { ([A:a, B:b] | [C:c, B:d]) } WHERE { [x] }", 1 },
		{ "RULE r SKIPTILLANY PATTERN { [A:a, B:b, C:c] } WHERE { [x], [y] }", 2 },
		{ "RULE r STRICTPARTITION PATTERN { [A:a, B:b] } WHERE { [tid] } OVER { * }", 1 },
		{ "RULE r STRICTPARTITION PATTERN { [A:a, B:b] } WHERE { [x] } OVER { A, B, C, D }", 1 },
		{ "RULE r PATTERN { [A:a, B:b] } WHERE { [tid] } AFTER MATCH DROP POOL 5", 1 },
		{ "RULE r PATTERN { [A:a, B:b] } WHERE { [tid] } DO { EMIT M(x = 1) }", 1 }, /* the caller looks */
		/* Correlations: by other fields than the join's. */
		{ "RULE r PATTERN { [A:a, B:b] } WHERE { a.x == b.tid }", 1 },
		{ "RULE r PATTERN { [A:a, B:b, C:c] } WHERE { a.x == b.y, a.x == c.tid }", 1 },
		{ "RULE r PATTERN { [A:a, B:b, C:c] } WHERE { [tid], a.x == b.y }", 1 },
		/* The join is not the key of what follows alone. */
		{ "RULE r PATTERN { [A:a, B:b, C:c] } WHERE { [x], b.y == c.y }", 1 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		uint32_t parts = parts_of(cases[i].text);

		if (parts != cases[i].parts)
			print_error("%s: %u\n", cases[i].text, parts);
		assert_int_equal(parts, cases[i].parts);
	}
}

static void finds_no_keys(void **state)
{
	static const char *const cases[] = {
		"RULE r PATTERN { A:a } WHERE { a.x == 3 }",                  /* no runs */
		"RULE r PATTERN { [A:a, B:b] }",                              /* no join */
		"RULE r PATTERN { [A:a, B:b] } WHERE { a.x < b.x }",          /* no equality */
		"RULE r PATTERN { [A:a, B:b] } WHERE { NOT (a.x != b.x) }",   /* a relation */
		"RULE r STRICTSEQUENCE PATTERN { [A:a, B:b] } WHERE { [x] }", /* all events matter */
		"RULE r PATTERN { [A:a, ~B:b] } WHERE { [x] } WITHIN 1s",     /* ends with time */
		"RULE r STRICTPARTITION PATTERN { [A:a, B:b] }",              /* one partition */
		/* The key changes on the way. */
		"RULE r PATTERN { [A:a, B:b, C:c] } WHERE { a.x == b.x, b.y == c.y }",
		/* In one state there is none. */
		"RULE r PATTERN { [A:a, B:b, C:c] } WHERE { a.x == b.x }",
		"RULE r PATTERN { [A:a, ~D:d, B:b] } WHERE { a.x == b.x }",
		/* An event of one type would have two. */
		"RULE r PATTERN { [A:a, B:b, B:c] } WHERE { a.x == b.x, a.x == c.y }",
		/* An event that waits is found by another field than the one it opens with. */
		"RULE r PATTERN { [A:a, A:b] } WHERE { a.x == b.y }",
		/* Computed, not carried. */
		"RULE r PATTERN { [A:a, B:b] } WHERE { b.x == a.x + 1 }",
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		uint32_t parts = parts_of(cases[i]);

		if (parts)
			print_error("%s: %u\n", cases[i], parts);
		assert_int_equal(parts, 0);
	}
}

static uint32_t share_of(const struct session_rules *rules, const struct shard_key *key, const char *type,
			 const int64_t fields[2])
{
	struct {
		struct event_header header;
		int64_t x, y;
		char s[16];
	} record = { .header = { .tid = (uint32_t)fields[1] }, .x = fields[0], .y = -fields[0], .s = "text" };

	record.header.type = program_type_find(session_rules_program(rules), type);
	return shard_key_shard(key, &record.header, 4);
}

static void deals_out_by_the_key_alone(void **state)
{
	struct session_rules *rules = read_rule("RULE r PATTERN { [A:a, B:b] } WHERE { a.x == b.tid }");
	struct shard_key key;
	uint32_t counts[4] = { 0 };

	(void)state;
	assert_int_equal(shard_key_init(&key, session_rules_program(rules), 0), 0);
	for (int64_t i = 0; i < 4000; i++) {
		uint32_t shard = share_of(rules, &key, "A", (int64_t[]){ i, rand() });

		assert_in_range(shard, 0, 3);
		counts[shard]++;
		assert_int_equal(shard, share_of(rules, &key, "A", (int64_t[]){ i, rand() }));
		assert_int_equal(shard, share_of(rules, &key, "B", (int64_t[]){ rand(), i }));
		assert_int_equal(share_of(rules, &key, "C", (int64_t[]){ i, i }), PROGRAM_NONE);
		assert_int_equal(share_of(rules, &key, "unknown", (int64_t[]){ i, i }), PROGRAM_NONE);
	}
	for (int i = 0; i < 4; i++)
		assert_in_range(counts[i], 800, 1200);
	shard_key_fini(&key);
	session_rules_free(rules);
}

/* OVER { * } under STRICTPARTITION: an event of any type ends a run of its partition. */
static void deals_out_unknown_types(void **state)
{
	struct session_rules *rules =
		read_rule("RULE r STRICTPARTITION PATTERN { [A:a, B:b] } WHERE { [tid] } OVER { * }");
	struct shard_key key;

	(void)state;
	assert_int_equal(shard_key_init(&key, session_rules_program(rules), 0), 0);
	for (int64_t i = 0; i < 100; i++) {
		uint32_t shard = share_of(rules, &key, "A", (int64_t[]){ 0, i });

		assert_int_equal(shard, share_of(rules, &key, "unknown", (int64_t[]){ 7, i }));
		assert_int_equal(shard, share_of(rules, &key, "D", (int64_t[]){ 7, i }));
	}
	shard_key_fini(&key);
	session_rules_free(rules);
}

static void survives_lack_of_memory(void **state)
{
	struct session_rules *rules = read_rule("RULE r PATTERN { [A:a, B:b] } WHERE { [x] }");
	int result = -ENOMEM;
	unsigned long n = 1;

	(void)state;
	for (; result == -ENOMEM; n++) {
		struct shard_key key;

		alloc_fail_at(n);
		result = shard_key_init(&key, session_rules_program(rules), 0);
		alloc_fail_at(0);
		shard_key_fini(&key);
	}
	assert_int_equal(result, 0);
	assert_true(n > 3);
	session_rules_free(rules);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_keys),
		cmocka_unit_test(finds_no_keys),
		cmocka_unit_test(deals_out_by_the_key_alone),
		cmocka_unit_test(deals_out_unknown_types),
		cmocka_unit_test(survives_lack_of_memory),
	};

	return cmocka_run_group_tests_name("session-key", tests, NULL, NULL);
}
