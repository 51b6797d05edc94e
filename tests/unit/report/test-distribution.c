// SPDX-License-Identifier: BSD-2-Clause
/* Distributions of which there are many are the same as others, and take memory for what is in them alone. */

#include "report/distribution.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static void test_sparse(void **state)
{
	struct report_distribution whole = { 0 };
	struct report_sparse sparse = { 0 };
	uint64_t drawn = 3;

	(void)state;
	for (unsigned i = 0; i < 5000; i++) {
		drawn = drawn * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
		uint64_t value = drawn >> (drawn & 63);
		report_distribution_add(&whole, value);
		assert_int_equal(report_sparse_add(&sparse, value), 0);
		struct report_distribution same = report_sparse_whole(&sparse);
		assert_memory_equal(&same, &whole, sizeof whole);
	}
	assert_int_equal(report_sparse_count(&sparse), 5000);
	report_sparse_fini(&sparse);
}

static void test_few(void **state)
{
	struct report_sparse sparse = { 0 };

	(void)state;
	assert_int_equal(report_sparse_whole(&sparse).count, 0);
	for (unsigned i = 0; i < 100000; i++)
		assert_int_equal(report_sparse_add(&sparse, i % 2 ? 0 : UINT64_MAX), 0);
	assert_int_equal(sparse.used_count, 2);
	assert_true(sparse.used_capacity <= 8);
	assert_int_equal(sparse.least, 0);
	assert_int_equal(sparse.most, UINT64_MAX);
	report_sparse_fini(&sparse);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sparse),
		cmocka_unit_test(test_few),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
