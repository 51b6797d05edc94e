// SPDX-License-Identifier: BSD-2-Clause
/* Hash tables: what was added is found, and nothing else; growth; short memory; and the hash of bytes itself. */

#include "base/alloc.h"
#include "base/hash-table.h"
#include "base/hash.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

/* How often number is found under hash; *others counts what else is. */
static unsigned times(const struct hash_table *table, uint64_t hash, uint32_t number, unsigned *others)
{
	unsigned found = 0;
	uint32_t next;

	*others = 0;
	for (size_t step = 0; (next = hash_table_next(table, hash, &step)) != HASH_NONE;)
		*(next == number ? &found : others) += 1;
	return found;
}

static void an_empty_one_has_nothing(void **context)
{
	struct hash_table table = { 0 };
	unsigned others;

	(void)context;
	assert_int_equal(times(&table, 0, 0, &others), 0);
	assert_int_equal(others, 0);
	hash_table_fini(&table);
}

static void check_many(struct arena *arena)
{
	enum { NUMBERS = 5000 };
	struct hash_table table = { 0 };
	unsigned others;
	char name[16];

	for (uint32_t i = 0; i < NUMBERS; i++) {
		assert_int_equal(hash_table_reserve(&table, arena, i + 1), 0);
		snprintf(name, sizeof name, "n%u", i);
		hash_table_add(&table, hash_text(name), i);
		assert_in_range(table.count, 0, (table.mask + 1) / 2);
	}
	for (uint32_t i = 0; i < NUMBERS; i++) {
		snprintf(name, sizeof name, "n%u", i);
		assert_int_equal(times(&table, hash_text(name), i, &others), 1);
		assert_int_equal(others, 0);
	}
	assert_int_equal(times(&table, hash_text("m"), 0, &others), 0);
	assert_int_equal(others, 0);
	if (!arena)
		hash_table_fini(&table);
}

static void all_that_was_added_is_found(void **context)
{
	struct arena *arena = arena_new();

	(void)context;
	check_many(NULL);
	check_many(arena);
	arena_free(arena);
}

/* One hash for all, at the last slot: chains go around the end. */
static void the_owner_distinguishes_equal_hashes(void **context)
{
	struct hash_table table = { 0 };
	unsigned others;

	(void)context;
	assert_int_equal(hash_table_reserve(&table, NULL, 100), 0);
	for (uint32_t i = 0; i < 100; i++)
		hash_table_add(&table, UINT32_MAX, i);
	hash_table_add(&table, UINT32_MAX - 1, 100);
	for (uint32_t i = 0; i < 100; i++) {
		assert_int_equal(times(&table, UINT32_MAX, i, &others), 1);
		assert_int_equal(others, 99);
	}
	assert_int_equal(times(&table, UINT32_MAX - 1, 100, &others), 1);
	assert_int_equal(others, 0);
	hash_table_fini(&table);
}

static void short_memory_leaves_it_as_it_was(void **context)
{
	struct hash_table table = { 0 };
	unsigned others;

	(void)context;
	assert_int_equal(hash_table_reserve(&table, NULL, 1), 0);
	hash_table_add(&table, 7, 3);
	alloc_fail_at(1);
	assert_int_equal(hash_table_reserve(&table, NULL, 1000), -ENOMEM);
	alloc_fail_at(0);
	assert_int_equal(times(&table, 7, 3, &others), 1);
	hash_table_fini(&table);
}

/* The numbers of FNV's authors: files hold hashes. */
static void hashes_are_those_of_fnv(void **context)
{
	(void)context;
	assert_true(hash_text("") == UINT64_C(0xcbf29ce484222325));
	assert_true(hash_text("a") == UINT64_C(0xaf63dc4c8601ec8c));
	assert_true(hash_text("foobar") == UINT64_C(0x85944171f73967e8));
	assert_true(hash_bytes(hash_bytes(HASH_START, "foo", 3), "bar", 3) == hash_text("foobar"));
	assert_true(hash_bytes(HASH_START, "a\0", 2) != hash_text("a"));
	assert_true(hash_bytes(HASH_START, NULL, 0) == HASH_START);
}

static void seeds_are_not_known(void **context)
{
	uint64_t first = hash_seed(context), second = hash_seed(context);

	assert_true(first != second);
	assert_true(hash_bytes(first, "name", 4) != hash_bytes(second, "name", 4));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_empty_one_has_nothing),
		cmocka_unit_test(all_that_was_added_is_found),
		cmocka_unit_test(the_owner_distinguishes_equal_hashes),
		cmocka_unit_test(short_memory_leaves_it_as_it_was),
		cmocka_unit_test(hashes_are_those_of_fnv),
		cmocka_unit_test(seeds_are_not_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
