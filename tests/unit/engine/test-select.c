// SPDX-License-Identifier: BSD-2-Clause
/*
 * Many rules on one event type: those that a constant guard selects and those that it does not find the same matches in
 * the same order as rules that are asked one by one. A guard written as a negated inequality selects nothing.
 */

#include "rig.h"

#include "engine/engine-priv.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

enum { ROUNDS = 100, RULES = 40, TEXT_BYTES = 1 << 14 };

static uint64_t seed;

static uint32_t below(uint32_t limit)
{
	seed = seed * 6364136223846793005 + 1442695040888963407;
	return (uint32_t)((seed >> 33) % limit);
}

static int add(char *text, int used, const char *format, ...) __attribute__((format(printf, 3, 4)));

static int add(char *text, int used, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	used += vsnprintf(text + used, (size_t)(TEXT_BYTES - used), format, args);
	va_end(args);
	assert_true(used < TEXT_BYTES);
	return used;
}

/* One more condition on the event called name. */
static int add_condition(char *text, int used, bool selects, uint32_t kind)
{
	const char *before = selects ? "" : "NOT (", *equals = selects ? "==" : "!=", *after = selects ? "" : ")";

	switch (kind) {
	case 0:
		return add(text, used, "%sa.x %s %u%s", before, equals, below(6), after);
	case 1:
		return add(text, used, "%sa.s %s \"%u\"%s", before, equals, below(6), after);
	case 2:
		return add(text, used, "%sa.tid %s %u%s", before, equals, below(3), after);
	case 3:
		return add(text, used, "a.x > %u", below(6));
	default:
		return add(text, used, "10 / a.x == %u", below(6));
	}
}

static void make_rules(char *text, bool selects)
{
	int used = 0;

	for (int i = 0; i < RULES; i++) {
		static const char *const patterns[] = { "A:a", "[A:a, B]", "[A:a, A]", "(A:a | B)" };

		used = add(text, used, "RULE r%d PATTERN { %s } ", i, patterns[below(4)]);
		for (uint32_t j = 0, count = below(3); j < count; j++) {
			used = add(text, used, j ? ", " : "WHERE { ");
			used = add_condition(text, used, selects, below(5));
			used = add(text, used, j + 1 == count ? " } " : "");
		}
		used = add(text, used, below(8) ? "\n" : "DO { EMIT C() }\n");
	}
	add(text, used, "RULE c PATTERN { C }\n");
}

static uint32_t selectors_of(const struct rig *rig)
{
	return rig->engine->dispatch[program_type_find(rig->program, "A")].selector_count;
}

static void selecting_changes_nothing(void **state)
{
	static struct rig selected, asked;
	static char text[TEXT_BYTES];
	uint32_t selectors = 0;

	(void)state;
	for (uint64_t round = 0; round < ROUNDS; round++) {
		seed = round;
		make_rules(text, true);
		rig_open(&selected, text);
		seed = round;
		make_rules(text, false);
		rig_open(&asked, text);
		selectors += selectors_of(&selected);
		assert_int_equal(selectors_of(&asked), 0);
		for (int i = 0; i < 40; i++) {
			char event[32];

			snprintf(event, sizeof event, "%c%u#%u", "AAB?"[below(4)], below(6), below(3));
			assert_int_equal(rig_feed(&selected, event), 0);
			assert_int_equal(rig_feed(&asked, event), 0);
			assert_string_equal(selected.log, asked.log);
			rig_forget(&selected);
			rig_forget(&asked);
		}
		for (uint32_t i = 0; i < RULES; i++) {
			struct program_rule_stats a = rig_stats(&selected, i), b = rig_stats(&asked, i);

			assert_memory_equal(&a, &b, sizeof a);
		}
		rig_close(&selected);
		rig_close(&asked);
	}
	assert_true(selectors > ROUNDS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(selecting_changes_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
