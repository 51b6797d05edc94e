// SPDX-License-Identifier: BSD-2-Clause
/* The table of actions: names, arguments, signals; and what counts where. */

#include "base/alloc.h"
#include "react/react.h"
#include "react/tally.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void every_action_is_whole(void **state)
{
	(void)state;
	for (size_t i = 0; react_actions[i]; i++) {
		const struct react_action *action = react_actions[i];

		assert_ptr_equal(react_find(action->name), action);
		assert_non_null(action->summary);
		assert_non_null(action->guarantee);
		assert_non_null(action->perform);
		assert_true(action->param_count == 0 || action->params);
		for (uint32_t j = 0; j + 1 < action->param_count; j++) {
			assert_false(action->params[j].repeats);
			assert_false(action->params[j].optional && !action->params[j + 1].optional);
		}
		/* What the kernel's programs rely on. */
		if (action->primitive == REACT_SEND_SIGNAL)
			assert_int_equal(action->params[0].type, REACT_TARGET);
		if (action->primitive == REACT_COUNT || action->primitive == REACT_HISTOGRAM)
			assert_int_equal(action->params[0].type, REACT_TEXT);
		/* They end up in JSON as they are. */
		assert_null(strpbrk(action->guarantee, "\"\\\n"));
	}
	assert_null(react_find("Nothing"));
	assert_null(react_find("stop"));
	assert_string_equal(react_nearest("Snapshto"), "Snapshot");
}

static void names_of_the_reference(void **state)
{
	static const char *const names[][2] = {
		{ "SuspendThread", "Stop" },    { "ResumeThread", "Continue" }, { "TerminateThread", "Kill" },
		{ "TerminateProcess", "Kill" }, { "DbgMessage", "Message" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		assert_ptr_equal(react_find(names[i][0]), react_find(names[i][1]));
}

static void expect_arity(const char *name, uint32_t least, uint32_t most)
{
	uint32_t found_least, found_most;

	react_arity(react_find(name), &found_least, &found_most);
	assert_int_equal(found_least, least);
	assert_int_equal(found_most, most);
}

static void arity(void **state)
{
	(void)state;
	expect_arity("Stop", 1, 1);
	expect_arity("Signal", 2, 2);
	expect_arity("Snapshot", 0, 0);
	expect_arity("BoostThreadPriority", 2, 3);
	expect_arity("Message", 1, UINT32_MAX);
	expect_arity("Exec", 1, UINT32_MAX);
}

static bool takes(const char *name, uint32_t index, enum react_kind kind, const char *text)
{
	return !react_expects(react_find(name), index, &(struct react_shape){ .kind = kind, .text = text });
}

static void expects(void **state)
{
	(void)state;
	assert_true(takes("Stop", 0, REACT_U64, NULL));
	assert_false(takes("Stop", 0, REACT_STRING, "1"));
	assert_false(takes("Stop", 0, REACT_F64, NULL));
	assert_true(takes("Signal", 1, REACT_I64, NULL));
	assert_true(takes("Signal", 1, REACT_STRING, "TERM"));
	assert_false(takes("Signal", 1, REACT_STRING, "TREM"));
	assert_false(takes("Signal", 1, REACT_STRING, NULL));
	assert_true(takes("BoostThreadPriority", 2, REACT_I64, NULL));
	assert_false(takes("BoostThreadPriority", 2, REACT_BOOL, NULL));
	assert_false(takes("Exec", 0, REACT_STRING, NULL)); /* what is run is never for an event to say */
	assert_true(takes("Exec", 9, REACT_STRING, NULL));
	assert_true(takes("Message", 30, REACT_F64, NULL));
	assert_false(takes("Histogram", 1, REACT_F64, NULL));
	assert_string_equal(react_expects(react_find("Signal"), 1, &(struct react_shape){ REACT_STRING, 0, "X" }),
			    "the name of a signal");
}

static void signals(void **state)
{
	(void)state;
	assert_int_equal(react_signal_number("TERM"), SIGTERM);
	assert_int_equal(react_signal_number("SIGKILL"), SIGKILL);
	assert_int_equal(react_signal_number("sigusr1"), SIGUSR1);
	assert_int_equal(react_signal_number(""), 0);
	assert_int_equal(react_signal_number("SIG"), 0);
	assert_int_equal(react_signal_number("9"), 0);
}

static void printing_is_cut(void **state)
{
	char text[80], small[8];

	(void)state;
	react_print(react_find("BoostThreadPriority"), text, sizeof text);
	assert_string_equal(text, "BoostThreadPriority(thread, priority[, time])");
	react_print(react_find("BoostThreadPriority"), small, sizeof small);
	assert_string_equal(small, "BoostTh");
}

static void buckets(void **state)
{
	(void)state;
	assert_int_equal(react_bucket(INT64_MIN), 0);
	assert_int_equal(react_bucket(0), 0);
	assert_int_equal(react_bucket(1), 1);
	for (int bit = 1; bit < 63; bit++) {
		assert_int_equal(react_bucket(INT64_C(1) << bit), bit + 1);
		assert_int_equal(react_bucket((INT64_C(1) << bit) - 1), bit);
	}
	assert_int_equal(react_bucket(INT64_MAX), REACT_BUCKETS - 1);
}

static void tallies(void **state)
{
	struct react_tallies tallies = { 0 };
	char name[] = "one";
	struct react_tally *tally = react_tallies_get(&tallies, name, false);

	(void)state;
	tally->count = 7;
	name[0] = 'X';
	assert_int_equal(react_tallies_get(&tallies, "one", false)->count, 7);
	assert_int_equal(react_tallies_get(&tallies, "one", true)->count, 0);
	assert_int_equal(tallies.count, 2);
	for (unsigned long n = 1; n < 3; n++) {
		alloc_fail_at(n);
		struct react_tally *none = react_tallies_get(&tallies, "more", false);

		alloc_fail_at(0);
		assert_true(!none || tallies.count == 3);
	}
	react_tallies_fini(&tallies);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_action_is_whole),
		cmocka_unit_test(names_of_the_reference),
		cmocka_unit_test(arity),
		cmocka_unit_test(expects),
		cmocka_unit_test(signals),
		cmocka_unit_test(printing_is_cut),
		cmocka_unit_test(buckets),
		cmocka_unit_test(tallies),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
