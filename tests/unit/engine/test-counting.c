// SPDX-License-Identifier: BSD-2-Clause
/*
 * Arrays that are counted as a whole: found where they should be, and with the results of stepping run by run. The
 * same rule is stepped run by run once it returns a value of the array's last event.
 */

#include "rig.h"
#include "../size.h"

#include "engine/engine-priv.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static const struct {
	const char *before, *after; /* of RETURN */
} rules[] = {
	{ "RULE t PATTERN { [A[>3]:a] }", "" },
	{ "RULE t PATTERN { [A[>3]:a] } WHERE { [x] }", "WITHIN 9ns" },
	{ "RULE t PATTERN { [A[>3]:a] } WHERE { [x] }", "WITHIN 40ns AFTER MATCH DROP" },
	{ "RULE t PATTERN { [A[>5]:a] } WHERE { [x] }", "WITHIN 40ns POOL 4" },
	{ "RULE t PATTERN { [A[>5]:a] } WHERE { [x] }", "WITHIN 40ns POOL 4 ON LOSS DISCARD" },
	{ "RULE t PATTERN { [A[>2]:a, B] } WHERE { [x] }", "" },
	{ "RULE t PATTERN { [A[>=2, <=4]:a, B] } WHERE { [x] }", "" },
	{ "RULE t PATTERN { [A[]:a, B] } WHERE { [x] }", "WITHIN 12ns" },
	{ "RULE t PATTERN { [A[=3]:a, ~B, C] } WHERE { [x] }", "" },
	{ "RULE t STRICTPARTITION PATTERN { [A[>2]:a] } WHERE { [x] }", "OVER { A, B }" },
	{ "RULE t STRICTSEQUENCE PATTERN { [A[>2]:a] }", "OVER { A, B }" },
	{ "RULE t PATTERN { [A[>3]:a] } WHERE { [x] }", "DO { EMIT D(x = a.len) }" },
};

enum { ROUNDS = 200 };

static uint64_t seed;

static uint32_t below(uint32_t limit)
{
	seed = seed * 6364136223846793005 + 1442695040888963407;
	return (uint32_t)((seed >> 33) % limit);
}

static void random_events(char *events, size_t size, uint32_t count)
{
	uint64_t ts = 1;
	size_t used = 0;

	for (uint32_t i = 0; i < count; i++) {
		char type = "AAAAAABC?"[below(9)];

		ts += below(4) ? below(3) : below(20);
		used += (size_t)snprintf(events + used, size - used, "%c%u@%llu ", type, 1 + below(2),
					 (unsigned long long)ts);
	}
}

static bool is_counted(const struct rig *rig)
{
	const struct program_rule *rule = &rig->program->rules[0];
	struct engine_counting counting;
	bool found = false;

	for (uint32_t i = 0; i < rule->class_count; i++)
		found |= engine_counting_find(rig->program, rule, i, &counting);
	return found;
}

static void compare(size_t index, const char *events)
{
	static struct rig counted, stepped;
	struct program_rule_stats a, b;
	char text[300];

	snprintf(text, sizeof text, "%s RETURN { a.len } %s", rules[index].before, rules[index].after);
	rig_open(&counted, text);
	snprintf(text, sizeof text, "%s RETURN { a.len, a.last.ts } %s", rules[index].before, rules[index].after);
	rig_open(&stepped, text);
	if (!is_counted(&counted))
		print_error("%s is not counted\n", rules[index].before);
	assert_true(is_counted(&counted));
	assert_false(is_counted(&stepped));
	assert_int_equal(rig_feed(&counted, events), 0);
	assert_int_equal(rig_feed(&stepped, events), 0);
	if (strcmp(counted.log, stepped.log) != 0)
		print_error("%s\n%s\n", rules[index].before, events);
	assert_string_equal(counted.log, stepped.log);
	a = rig_stats(&counted, 0);
	b = rig_stats(&stepped, 0);
	assert_memory_equal(&a, &b, sizeof a);
	rig_close(&counted);
	rig_close(&stepped);
}

static void counting_changes_nothing(void **state)
{
	static char events[1 << 14];

	(void)state;
	for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
		for (uint64_t round = 0; round < sized(ROUNDS, 5); round++) {
			seed = round;
			random_events(events, sizeof events, 5 + below(60));
			compare(i, events);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counting_changes_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
