// SPDX-License-Identifier: BSD-2-Clause
/* Which processes are asked for what is there already, and what happens without memory. */

#include "session/live/seed.h"

#include "base/alloc.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <unistd.h>
#include <cmocka.h>

struct asked {
	unsigned count;
	bool self, parent, answer;
};

static bool in_scope(void *context, int pid)
{
	struct asked *asked = context;

	asked->count++;
	asked->self |= pid == getpid();
	asked->parent |= pid == getppid();
	return asked->answer && pid == getppid();
}

static void all_but_itself_may_be_reported(void **state)
{
	struct asked asked = { .answer = true };

	(void)state;
	assert_int_equal(seed_report(in_scope, &asked, 0), 0);
	assert_true(asked.parent && !asked.self && asked.count >= 1);
}

/* What was there and is not told would be missing for ever: the session must not begin. */
static void short_memory_is_reported(void **state)
{
	struct asked asked = { .answer = true };

	(void)state;
	alloc_fail_at(1);
	assert_int_equal(seed_report(in_scope, &asked, 0), -ENOMEM);
	asked = (struct asked){ 0 };
	/* Who has nobody to tell of needs no memory. */
	assert_int_equal(seed_report(in_scope, &asked, 0), 0);
	alloc_fail_at(0);
	assert_true(asked.parent);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_but_itself_may_be_reported),
		cmocka_unit_test(short_memory_is_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
