// SPDX-License-Identifier: BSD-2-Clause
/* What takes too long is given up, and disposed of all the same. */

#include "base/errand.h"

#include "base/clock.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#define MS UINT64_C(1000000)

static atomic_int turns, disposed;
static atomic_bool is_held;

static int work(void *context, uint64_t argument)
{
	(void)context;
	while (is_held)
		usleep(1000);
	return (int)argument + ++turns;
}

static void dispose(void *context)
{
	(void)context;
	disposed++;
}

static struct errand *made(void)
{
	struct errand *errand = NULL;

	turns = disposed = 0;
	is_held = false;
	assert_int_equal(errand_new(work, dispose, NULL, &errand), 0);
	return errand;
}

/* They come about in the thread, which is given time. */
static void assert_comes(atomic_int *what, int value)
{
	for (int i = 0; i < 5000 && *what != value; i++)
		usleep(1000);
	assert_int_equal(*what, value);
}

static void what_is_done_in_time_is_known(void **state)
{
	struct errand *errand = made();

	(void)state;
	assert_int_equal(errand_do(errand, 40, 5000 * MS), 41);
	assert_int_equal(errand_do(errand, 40, 5000 * MS), 42);
	assert_int_equal(disposed, 0);
	errand_free(errand);
	assert_int_equal(disposed, 1);
}

static void what_takes_long_holds_nobody_up(void **state)
{
	struct errand *errand = made();
	uint64_t begun = clock_now_ns();

	(void)state;
	is_held = true;
	assert_int_equal(errand_do(errand, 40, 20 * MS), -ETIMEDOUT);
	assert_int_equal(errand_do(errand, 40, 20 * MS), -EAGAIN);
	assert_true(clock_now_ns() - begun >= 20 * MS);
	is_held = false;
	assert_comes(&turns, 1);
	for (int i = 0; i < 100 && turns < 2; i++) /* it may not be back yet */
		if (errand_do(errand, 40, 5000 * MS) == -EAGAIN)
			usleep(1000);
	assert_int_equal(turns, 2);
	errand_free(errand);
	assert_int_equal(disposed, 1);
}

static void who_gives_up_for_good_does_not_wait_either(void **state)
{
	struct errand *errand = made();

	(void)state;
	is_held = true;
	assert_int_equal(errand_do(errand, 40, MS), -ETIMEDOUT);
	errand_free(errand);
	assert_int_equal(disposed, 0);
	is_held = false;
	assert_comes(&disposed, 1);
	assert_int_equal(turns, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_done_in_time_is_known),
		cmocka_unit_test(what_takes_long_holds_nobody_up),
		cmocka_unit_test(who_gives_up_for_good_does_not_wait_either),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
