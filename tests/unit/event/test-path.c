// SPDX-License-Identifier: BSD-2-Clause
/* Paths as trees: what is in them, whether two say the same, and that a scan without trees makes none. */

#include "event/path.h"

#include "base/alloc.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static char reason[200];

static struct event_path *parsed(struct arena *arena, const char *text)
{
	struct event_path *path = NULL;

	assert_int_equal(event_path_parse(text, arena, &path, reason, sizeof reason), 0);
	return path;
}

static void steps_go_from_a_name(void **state)
{
	struct arena *arena = arena_new();
	const struct event_path *path = parsed(arena, "a->b[3].c # where it is");

	(void)state;
	assert_int_equal(path->op, SOURCE_ACCESS);
	assert_string_equal(path->name, "a");
	assert_int_equal(path->step_count, 3);
	assert_string_equal(path->steps[0].member, "b");
	assert_null(path->steps[1].member);
	assert_int_equal(path->steps[1].index, 3);
	assert_string_equal(path->steps[2].member, "c");
	arena_free(arena);
}

static void functions_keep_their_numbers(void **state)
{
	struct arena *arena = arena_new();
	const struct event_path *path = parsed(arena, "(ctx(8, 4) & 1) + be16(syscall_arg(2))");

	(void)state;
	assert_int_equal(path->op, SOURCE_ADD);
	assert_int_equal(path->left->left->op, SOURCE_CTX);
	assert_int_equal(path->left->left->value, 8);
	assert_int_equal(path->left->left->bytes, 4);
	assert_true(event_path_has(path, SOURCE_SYSCALL_ARG, 2));
	assert_true(event_path_has(path, SOURCE_CONST, 1));
	assert_false(event_path_has(path, SOURCE_SYSCALL_ARG, 1));
	arena_free(arena);
}

static void the_same_is_the_same_however_it_is_spaced(void **state)
{
	struct arena *arena = arena_new();

	(void)state;
	assert_true(event_path_same(parsed(arena, "cast(file,a)->b ? 0x10"), parsed(arena, " cast( file, a ).b?16")));
	assert_false(event_path_same(parsed(arena, "a->b"), parsed(arena, "a->c")));
	assert_false(event_path_same(parsed(arena, "a->b"), parsed(arena, "a->b[0]")));
	assert_false(event_path_same(parsed(arena, "a + b"), parsed(arena, "a - b")));
	assert_false(event_path_same(parsed(arena, "cast(x, a)"), parsed(arena, "cast(y, a)")));
	arena_free(arena);
}

static void conditions_and_scopes_are_lists(void **state)
{
	struct arena *arena = arena_new();
	struct event_path_conditions when;
	struct event_paths scope;

	(void)state;
	assert_int_equal(event_path_parse_when("id == 257 AND a != -2", arena, &when, reason, sizeof reason), 0);
	assert_int_equal(when.count, 2);
	assert_int_equal(when.items[1].compare, SOURCE_NE);
	assert_int_equal(when.items[1].value, -2);
	assert_int_equal(event_path_parse_scope("a->tgid, b", arena, &scope, reason, sizeof reason), 0);
	assert_int_equal(scope.count, 2);
	assert_string_equal(scope.items[1]->name, "b");
	assert_int_equal(event_path_parse_when("id == 1 AND", arena, &when, reason, sizeof reason), -EINVAL);
	assert_int_equal(when.count, 0);
	assert_null(when.items);
	assert_string_equal(reason, "expected a path, found the end");
	assert_int_equal(event_path_parse_scope(NULL, arena, &scope, reason, sizeof reason), 0);
	assert_int_equal(scope.count, 0);
	arena_free(arena);
}

static void missing_memory_is_reported(void **state)
{
	(void)state;
	for (unsigned long n = 1;; n++) {
		struct arena *arena = arena_new();
		struct event_path *path;

		alloc_fail_at(n);
		int result =
			event_path_parse("kstr(a->b[2]) ? cast(x, be16(y))->z", arena, &path, reason, sizeof reason);

		alloc_fail_at(0);
		arena_free(arena);
		if (!result)
			break;
		assert_int_equal(result, -ENOMEM);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(steps_go_from_a_name),
		cmocka_unit_test(functions_keep_their_numbers),
		cmocka_unit_test(the_same_is_the_same_however_it_is_spaced),
		cmocka_unit_test(conditions_and_scopes_are_lists),
		cmocka_unit_test(missing_memory_is_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
