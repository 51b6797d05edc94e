// SPDX-License-Identifier: BSD-2-Clause
/* Which processes are asked for what is there already, and what happens without memory. */

#include "session/live/seed.h"

#include "base/alloc.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/wait.h>
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

static bool never_pause(void *context)
{
	(void)context;
	return true;
}

static int report(struct asked *asked)
{
	return seed_report(&(struct seed_options){ in_scope, never_pause, asked, 0 });
}

/* Pauses until the count in context is used up. */
static bool pause_so_often(void *context)
{
	return --((struct asked *)context)->count > 0;
}

static bool each_process(void *context, int pid)
{
	(void)context;
	return pid == getppid();
}

/* More descriptors than are told between two pauses; who wants no more is asked no more. */
static void pauses_come_while_one_process_is_told(void **state)
{
	struct asked asked = { .count = 2 };
	int go[2];
	char byte = 0;

	(void)state;
	assert_int_equal(pipe(go), 0);
	pid_t child = fork();

	if (child == 0) { /* tells of its parent */
		const struct seed_options options = { each_process, pause_so_often, &asked, 0 };

		if (read(go[0], &byte, 1) != 1 || seed_report(&options))
			_exit(99);
		_exit((int)asked.count);
	}
	for (int i = 0; i < 900; i++)
		assert_true(dup(0) >= 0);
	assert_int_equal(write(go[1], &byte, 1), 1);
	int status;

	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	for (int fd = go[1] + 1; fd <= go[1] + 900; fd++)
		close(fd);
}

static void all_but_itself_may_be_reported(void **state)
{
	struct asked asked = { .answer = true };

	(void)state;
	assert_int_equal(report(&asked), 0);
	assert_true(asked.parent && !asked.self && asked.count >= 1);
}

/* What was there and is not told would be missing for ever: the session must not begin. */
static void short_memory_is_reported(void **state)
{
	struct asked asked = { .answer = true };

	(void)state;
	alloc_fail_at(1);
	assert_int_equal(report(&asked), -ENOMEM);
	asked = (struct asked){ 0 };
	/* Who has nobody to tell of needs no memory. */
	assert_int_equal(report(&asked), 0);
	alloc_fail_at(0);
	assert_true(asked.parent);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_but_itself_may_be_reported),
		cmocka_unit_test(pauses_come_while_one_process_is_told),
		cmocka_unit_test(short_memory_is_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
