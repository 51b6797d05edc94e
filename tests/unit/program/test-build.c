// SPDX-License-Identifier: BSD-2-Clause
/* Building: tables keep their order, texts are interned, failures stick, the same additions give the same bytes. */

#include "sample.h"

#include "base/alloc.h"
#include "program/section.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static void checksum_is_crc_32(void **context)
{
	(void)context;
	assert_int_equal(program_checksum("123456789", 9), 0xcbf43926);
	assert_int_equal(program_checksum("", 0), 0);
}

static void texts_are_interned(void **context)
{
	struct program_build *build = program_build_new();
	uint32_t references[1000];
	char name[16];

	(void)context;
	assert_int_equal(program_build_text(build, NULL), PROGRAM_NONE);
	for (int round = 0; round < 2; round++) {
		for (uint32_t i = 0; i < 1000; i++) {
			snprintf(name, sizeof name, "name%u", i);
			uint32_t reference = program_build_text(build, name);
			if (round)
				assert_int_equal(reference, references[i]);
			assert_string_equal(program_build_get(build, PROGRAM_STRINGS, reference), name);
			references[i] = reference;
		}
	}
	assert_int_equal(program_build_text(build, ""), program_build_text(build, ""));
	program_build_free(build);
}

static void items_keep_their_place(void **context)
{
	struct program_build *build = program_build_new();
	const uint32_t first[] = { 1, 2, 3 }, second[] = { 4, 5 };

	(void)context;
	assert_int_equal(program_build_add(build, PROGRAM_INDICES, first, 3), 0);
	assert_int_equal(program_build_add(build, PROGRAM_INDICES, second, 2), 3);
	assert_int_equal(program_build_add(build, PROGRAM_INDICES, NULL, 0), 5);
	assert_int_equal(program_build_count(build, PROGRAM_INDICES), 5);
	assert_int_equal(*(uint32_t *)program_build_get(build, PROGRAM_INDICES, 4), 5);
	*(uint32_t *)program_build_get(build, PROGRAM_INDICES, 1) = 7;
	assert_int_equal(*(uint32_t *)program_build_get(build, PROGRAM_INDICES, 1), 7);
	assert_null(program_build_get(build, PROGRAM_INDICES, 5));
	program_build_free(build);
	program_build_free(NULL);
}

static void equal_additions_give_equal_bytes(void **context)
{
	size_t length, again_length;
	void *image = sample_image(&length), *again = sample_image(&again_length);

	(void)context;
	assert_int_equal(length, again_length);
	assert_memory_equal(image, again, length);
	alloc_free(image);
	alloc_free(again);
}

static void too_much_is_refused(void **context)
{
	struct program_build *build = program_build_new();
	void *bytes = NULL;
	size_t length;

	(void)context;
	program_build_add(build, PROGRAM_NODES, &(struct program_node){ 0 }, UINT32_MAX);
	assert_null(program_build_get(build, PROGRAM_NODES, 0));
	assert_int_equal(program_build_text(build, "late"), 0);
	assert_int_equal(program_build_finish(build, &bytes, &length), -E2BIG);
	assert_null(bytes);
	program_build_free(build);
}

static void short_memory_sticks(void **context)
{
	unsigned long n = 0;
	int result;

	(void)context;
	do {
		void *bytes = NULL;
		size_t length;

		alloc_fail_at(++n);
		struct program_build *build = program_build_new();
		if (build) {
			char name[16];

			sample_types(build);
			for (int i = 0; i < 100; i++) {
				snprintf(name, sizeof name, "name%d", i);
				program_build_text(build, name);
			}
			result = program_build_finish(build, &bytes, &length);
		} else {
			result = -ENOMEM;
		}
		alloc_fail_at(0);
		assert_true(result == 0 || result == -ENOMEM);
		assert_true(!result == !!bytes);
		alloc_free(bytes);
		program_build_free(build);
	} while (result);
	assert_true(n > 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(checksum_is_crc_32),     cmocka_unit_test(texts_are_interned),
		cmocka_unit_test(items_keep_their_place), cmocka_unit_test(equal_additions_give_equal_bytes),
		cmocka_unit_test(too_much_is_refused),    cmocka_unit_test(short_memory_sticks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
