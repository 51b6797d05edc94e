// SPDX-License-Identifier: BSD-2-Clause
/* Pieces of work side by side: each is done once, and several are under way together. */

#include "base/crew.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>

enum { PIECES = 1000 };

struct tally {
	unsigned int done[PIECES];
};

static void work(void *context, size_t index)
{
	struct tally *tally = context;

	__atomic_add_fetch(&tally->done[index], 1, __ATOMIC_RELAXED);
}

static void each_piece_is_done_once(void **state)
{
	(void)state;
	for (unsigned int members = 0; members <= 2 * CREW_MAX; members += 8) {
		struct tally tally = { 0 };

		crew_do(PIECES, members, work, &tally);
		for (size_t i = 0; i < PIECES; i++)
			assert_int_equal(tally.done[i], 1);
	}
	crew_do(0, 4, work, NULL);
}

/* Each waits until the other is there, too. */
static void meet(void *context, size_t index)
{
	unsigned int *present = context;

	(void)index;
	__atomic_add_fetch(present, 1, __ATOMIC_RELAXED);
	while (__atomic_load_n(present, __ATOMIC_RELAXED) < 2)
		;
}

static void two_are_under_way_together(void **state)
{
	unsigned int present = 0;

	(void)state;
	crew_do(2, 2, meet, &present);
	assert_int_equal(present, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_piece_is_done_once),
		cmocka_unit_test(two_are_under_way_together),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
