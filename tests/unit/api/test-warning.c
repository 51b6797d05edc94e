// SPDX-License-Identifier: BSD-2-Clause
/* What a program that embeds the library reads of a machine's match. */

#include "closed.h"

#include "api/api-priv.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct rig {
	struct closed closed;
	struct asterism_session session;
	struct asterism_rules unit;
	struct asterism_match match;
};

static void make(struct rig *rig, uint32_t notice)
{
	*rig = (struct rig){ 0 };
	closed_make(&rig->closed);
	closed_report(&rig->closed, notice);
	rig->unit.program = &rig->closed.program;
	rig->unit.session = &rig->session;
	rig->match = (struct asterism_match){ .unit = &rig->unit, .found = &rig->closed.match };
}

static void values_are_those_of_the_warning(void **state)
{
	struct asterism_value value;
	struct rig rig;

	(void)state;
	make(&rig, ODD);
	assert_int_equal(asterism_match_value_count(&rig.match), 2);
	assert_int_equal(asterism_match_value(&rig.match, 0, &value), -EDOM);
	assert_string_equal(value.name, "ratio");
	assert_int_equal(asterism_match_value(&rig.match, 1, &value), 0);
	assert_string_equal(value.name, "fd");
	assert_int_equal(value.as.i64, 4);
	assert_int_equal(asterism_match_value(&rig.match, 2, &value), -EINVAL);
	assert_int_equal(asterism_match_value_find(&rig.match, "fd", &value), 0);
	assert_int_equal(value.as.i64, 4);
	assert_int_equal(asterism_match_value_find(&rig.match, "uses", &value), -ENOENT);
	make(&rig, COUNTS);
	assert_int_equal(asterism_match_value_count(&rig.match), 0);
	assert_int_equal(asterism_match_value(&rig.match, 0, &value), -EINVAL);
	assert_int_equal(asterism_match_value_find(&rig.match, "fd", &value), -ENOENT);
}

static void warnings_are_borrowed(void **state)
{
	struct rig rig;

	(void)state;
	make(&rig, WARNS);
	const char *warning = asterism_match_warning(&rig.match);

	assert_string_equal(warning, "use 2 of 4 a\n\x1b\"b");
	assert_ptr_equal(asterism_match_warning(&rig.match), warning);
	free(rig.match.warning);
	make(&rig, COUNTS);
	assert_string_equal(asterism_match_warning(&rig.match), "");
	free(rig.match.warning);
	/* A rule's match. */
	make(&rig, 0);
	rig.closed.rule.semantics = PROGRAM_SKIP_TILL_NEXT;
	rig.closed.rule.notice_count = rig.closed.rule.trail_count = 0;
	assert_null(asterism_match_warning(&rig.match));
	assert_int_equal(asterism_match_trail_count(&rig.match), 0);
}

static void trails_are_read(void **state)
{
	struct asterism_transition step = { .size = sizeof step };
	struct {
		size_t size;
		const char *event;
		uint64_t after;
	} older = { .size = offsetof(struct asterism_transition, from), .after = 77 };
	struct rig rig;

	(void)state;
	make(&rig, WARNS);
	assert_int_equal(asterism_match_trail_count(&rig.match), 0);
	assert_int_equal(asterism_match_trail(&rig.match, 0, &step), -EINVAL);
	closed_step(&rig.closed, 10, 1, 0);
	closed_step(&rig.closed, 20, 3, 2);
	assert_int_equal(asterism_match_trail_count(&rig.match), 2);
	assert_int_equal(asterism_match_trail(&rig.match, 0, &step), 0);
	assert_string_equal(step.event, "closed");
	assert_string_equal(step.from, "Open");
	assert_string_equal(step.to, "Closed");
	assert_int_equal(step.time_ns, 10);
	assert_int_equal(asterism_match_trail(&rig.match, 1, &step), 0);
	assert_string_equal(step.event, "AFTER");
	assert_string_equal(step.from, "Closed");
	assert_string_equal(step.to, "END");
	assert_int_equal(step.time_ns, 20);
	assert_int_equal(step.cpu, 2);
	assert_int_equal(step.pid, 7);
	assert_int_equal(step.tid, 9);
	assert_int_equal(asterism_match_trail(&rig.match, 2, &step), -EINVAL);
	/* A program that knows the first member only. */
	assert_int_equal(asterism_match_trail(&rig.match, 0, (struct asterism_transition *)&older), 0);
	assert_string_equal(older.event, "closed");
	assert_int_equal(older.after, 77);
	step.size = 0;
	assert_int_equal(asterism_match_trail(&rig.match, 0, &step), -EINVAL);
}

static void json_is_that_of_the_warning(void **state)
{
	struct rig rig;
	char *text;

	(void)state;
	make(&rig, ODD);
	assert_true(asterism_match_json_text(&rig.match, &text) > 0);
	assert_non_null(strstr(text, "\"warning\":\"? is4\",\"return\":{\"ratio\":null,\"fd\":4},\"trail\":[]"));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_are_those_of_the_warning),
		cmocka_unit_test(warnings_are_borrowed),
		cmocka_unit_test(trails_are_read),
		cmocka_unit_test(json_is_that_of_the_warning),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
