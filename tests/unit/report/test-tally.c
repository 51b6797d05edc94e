// SPDX-License-Identifier: BSD-2-Clause
/* Tallies: what is counted comes out in order, whether or not memory held it all, and once for each time it is asked.
 */

#include "report/tally.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include <cmocka.h>

enum { KEYS = 500, COUNTS = 5000, HELD = 64 };

struct counted {
	uint64_t key[2];
	uint64_t count, sum;
};

static struct {
	uint64_t count, sum;
} expected[KEYS];

static void add_counted(void *to, const void *from)
{
	((struct counted *)to)->count += ((const struct counted *)from)->count;
	((struct counted *)to)->sum += ((const struct counted *)from)->sum;
}

static int by_sum(const void *left, const void *right)
{
	const struct counted *a = left, *b = right;
	if (a->sum != b->sum)
		return a->sum > b->sum ? -1 : 1;
	return a->key[0] < b->key[0] ? -1 : 1;
}

static void count_all(struct report_tally *tally)
{
	uint64_t drawn = 1;
	memset(expected, 0, sizeof expected);
	for (uint64_t i = 0; i < COUNTS; i++) {
		drawn = drawn * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
		uint64_t key = (drawn >> 33) % KEYS;
		struct counted *counted = report_tally_at(tally, (uint64_t[]){ key, ~key });
		if (!counted)
			continue;
		counted->count++;
		counted->sum += i;
		expected[key].count++;
		expected[key].sum += i;
	}
}

static size_t check_rows(struct report_tally *tally)
{
	const struct counted *counted;
	struct counted before = { .sum = UINT64_MAX };
	size_t rows = 0;
	assert_int_equal(report_tally_begin(tally, by_sum), 0);
	while ((counted = report_tally_next(tally))) {
		assert_true(counted->key[0] < KEYS && counted->key[1] == ~counted->key[0]);
		assert_int_equal(counted->count, expected[counted->key[0]].count);
		assert_int_equal(counted->sum, expected[counted->key[0]].sum);
		assert_true(rows == 0 || by_sum(&before, counted) < 0);
		before = *counted;
		rows++;
	}
	assert_int_equal(tally->failure, 0);
	return rows;
}

static struct report_tally tally_of(size_t held)
{
	struct report_tally tally = REPORT_TALLY(struct counted, KEYS);
	tally.held = held;
	tally.add = add_counted;
	return tally;
}

static void test_spilled(void **state)
{
	(void)state;
	static const size_t helds[] = { 1, HELD, KEYS - 1, 2 * KEYS };
	for (size_t i = 0; i < sizeof helds / sizeof *helds; i++) {
		struct report_tally tally = tally_of(helds[i]);
		count_all(&tally);
		assert_true(tally.capacity <= 2 * helds[i] + 8);
		assert_int_equal(tally.left_out, 0);
		assert_int_equal(check_rows(&tally), KEYS);
		assert_int_equal(check_rows(&tally), KEYS);
		report_tally_fini(&tally);
	}
}

/* Nothing of it gets lost where it was once written, and no more than there is room for is counted beside it. */
static void test_no_file(void **state)
{
	(void)state;
	struct report_tally tally = tally_of(HELD);
	tally.most = KEYS / 2;
	setenv("TMPDIR", "/proc", 1);
	count_all(&tally);
	assert_true(tally.left_out > 0);
	assert_int_equal(check_rows(&tally), KEYS / 2);
	tally.spill.fd = 0;
	report_tally_fini(&tally);
}

/* The file's size is limited to so many bytes, perhaps only when it is to be put in order: rows are all there. */
static void check_limited(bool from_the_start, rlim_t bytes)
{
	struct report_tally tally = tally_of(HELD);
	struct rlimit before, limit;
	size_t rows;

	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	limit = (struct rlimit){ .rlim_cur = bytes, .rlim_max = before.rlim_max };
	if (from_the_start)
		assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	count_all(&tally);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	rows = check_rows(&tally);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	assert_int_equal(tally.left_out, 0);
	assert_int_equal(rows, KEYS);
	report_tally_fini(&tally);
}

/* What is in a file comes back to memory where no more can be written. No signal ends the process. */
static void test_file_limited(void **state)
{
	(void)state;
	check_limited(true, 0);
	check_limited(true, 1000);
	check_limited(true, 20000);
	check_limited(false, 0);
	check_limited(false, 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_spilled),
		cmocka_unit_test(test_file_limited),
		cmocka_unit_test(test_no_file),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
