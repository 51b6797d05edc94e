// SPDX-License-Identifier: BSD-2-Clause
/* Of which rules the values are those of one process. */

#include "compiled.h"

#include "base/alloc.h"
#include "program/whose.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const char types[] = "EVENT lock { mutex: addr } EVENT woken { target_tid: u32, target_pid: u32, mutex: addr } "
			    "EVENT held { mutex: addr } ";

/* Whether the values of the last rule are those of one process. */
static bool is_one(const char *rules)
{
	struct program *program = compiled(types, rules);
	struct program_whose *whose = NULL;

	assert_int_equal(program_find_whose(program, &whose), 0);
	bool found = whose[program->rule_count - 1].is_one;

	alloc_free(whose);
	program_free(program);
	return found;
}

static void patterns_of_one_process(void **state)
{
	(void)state;
	assert_true(is_one("RULE r PATTERN { lock:a } RETURN { a.mutex }"));
	assert_true(is_one("RULE r PATTERN { [lock:a, lock:b] } WHERE { [pid] } RETURN { a.mutex }"));
	assert_true(is_one("RULE r PATTERN { [lock:a, woken:b] } WHERE { [tid] } RETURN { a.mutex }"));
	assert_true(is_one("RULE r PATTERN { [lock:a, ~woken:n, lock[]:b] } WHERE { [pid], [mutex] } WITHIN 1s "
			   "RETURN { a.mutex }"));
}

static void patterns_of_several(void **state)
{
	(void)state;
	assert_false(is_one("RULE r PATTERN { [lock:a, lock:b] } RETURN { a.mutex }"));
	assert_false(is_one("RULE r PATTERN { [lock:a, lock:b] } WHERE { [mutex] } RETURN { a.mutex }"));
	assert_false(is_one("RULE r PATTERN { [lock:a, woken:b] } WHERE { b.target_pid == a.pid } RETURN { b.mutex }"));
	assert_false(is_one("RULE r PATTERN { lock[]:a } WITHIN 1s RETURN { a.last.mutex }"));
}

static void machines(void **state)
{
	(void)state;
	assert_true(is_one("MACHINE m KEY { tid } VAR was: addr; STATE A { ON lock:e -> B { was = e.mutex } } "
			   "STATE B { ON woken BY { target_tid } -> A AFTER 1ms -> A { WARN \"{was}\" } }"));
	assert_true(is_one("MACHINE m KEY { pid, mutex } STATE A { ON lock:e -> A { WARN \"{mutex}\" } }"));
	/* What others see of a mutex is at their address. */
	assert_false(
		is_one("MACHINE m KEY { tid } VAR was: addr; STATE A { ON lock -> B } "
		       "STATE B { ON woken:w BY { target_tid } { was = w.mutex } ON lock -> A { WARN \"{was}\" } }"));
	assert_false(is_one("MACHINE m KEY { tid } VAR was: addr; STATE A { ON woken:w BY { target_tid } -> B } "
			    "STATE B { ON lock:e -> A { was = e.mutex; WARN \"{was}\" } }"));
	assert_false(is_one("MACHINE m KEY { mutex } STATE A { ON lock:e -> A { WARN \"{mutex}\" } }"));
}

static void what_is_raised(void **state)
{
	(void)state;
	assert_true(is_one("RULE q PATTERN { lock:a } DO { EMIT held(mutex = a.mutex) } RETURN NOTHING "
			   "RULE r PATTERN { held:h } RETURN { h.mutex }"));
	assert_false(is_one("RULE q PATTERN { [lock:a, lock:b] } DO { EMIT held(mutex = a.mutex) } RETURN NOTHING "
			    "RULE r PATTERN { held:h } RETURN { h.mutex }"));
}

/* The thread that a machine's match names may be one that told it of its own. */
static void the_match_names_another(void **state)
{
	struct program *program =
		compiled(types, "RULE r PATTERN { [lock:a, lock:b] } WHERE { [pid] } RETURN { a.mutex }");
	struct program_whose *whose = NULL;
	uint64_t slots[16] = { 0 };
	struct program_match match = { .pid = 7, .slots = slots };

	(void)state;
	assert_int_equal(program_find_whose(program, &whose), 0);
	assert_true(whose[0].has_slot && program->rules[0].slot_bytes <= sizeof slots);
	assert_false(program_has_own_values(program, &match, whose));
	slots[program_slots(program, &program->rules[0])[whose[0].slot].offset / sizeof *slots] = 7;
	assert_true(program_has_own_values(program, &match, whose));
	alloc_free(whose);
	program_free(program);
}

/* The process that value index of the last rule is from, by slots that have their number in them; 0: unknown. */
static uint32_t owner_of(const char *rules, uint32_t index, char *name, size_t size)
{
	struct program *program = compiled(types, rules);
	const struct program_rule *rule = &program->rules[program->rule_count - 1];
	uint64_t words[64];
	struct program_match match = { .rule = program->rule_count - 1, .slots = words };
	struct program_owner owner = { .pid = 0 };

	assert_true(rule->slot_bytes <= sizeof words);
	for (uint32_t i = 0; i < sizeof words / sizeof *words; i++)
		words[i] = i + 1;
	if (!program_find_owner(program, &match, program_returns(program, rule)[index].node, &owner))
		owner.pid = 0;
	*name = '\0';
	for (uint32_t i = 0; i < rule->slot_count; i++)
		if (owner.pid && program_slots(program, rule)[i].offset / sizeof *words == owner.pid - 1)
			snprintf(name, size, "%s", program_text(program, program_slots(program, rule)[i].name));
	program_free(program);
	return owner.pid;
}

#define assert_owner(rules, index, slot)                   \
	do {                                               \
		char name[64];                             \
		owner_of(rules, index, name, sizeof name); \
		assert_string_equal(name, slot);           \
	} while (0)

static void each_value_has_its_process(void **state)
{
	static const char both[] = "RULE r PATTERN { [lock:a, lock:b] } WHERE { a.pid != b.pid } "
				   "RETURN { a.mutex AS x, b.mutex AS y, b.mutex + 8 AS z, a.mutex + b.mutex AS sum }";

	(void)state;
	assert_owner(both, 0, "a.pid");
	assert_owner(both, 1, "b.pid");
	assert_owner(both, 2, "b.pid");
	assert_owner(both, 3, "");
	assert_owner("RULE r PATTERN { [lock:a, (woken:b | lock:c)] } WHERE { [mutex] } RETURN { b.mutex }", 0,
		     "b.pid");
	/* Several events, and those that may have values of others. */
	assert_owner("RULE r PATTERN { lock[]:a } WITHIN 1s RETURN { a.last.mutex }", 0, "");
	assert_owner("RULE q PATTERN { [lock:a, lock:b] } DO { EMIT held(mutex = a.mutex) } RETURN NOTHING "
		     "RULE r PATTERN { [held:h, lock:b] } RETURN { h.mutex, b.mutex }",
		     0, "");
	assert_owner("RULE q PATTERN { [lock:a, lock:b] } DO { EMIT held(mutex = a.mutex) } RETURN NOTHING "
		     "RULE r PATTERN { [held:h, lock:b] } RETURN { h.mutex, b.mutex }",
		     1, "b.pid");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(patterns_of_one_process),
		cmocka_unit_test(patterns_of_several),
		cmocka_unit_test(machines),
		cmocka_unit_test(what_is_raised),
		cmocka_unit_test(the_match_names_another),
		cmocka_unit_test(each_value_has_its_process),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
