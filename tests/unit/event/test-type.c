// SPDX-License-Identifier: BSD-2-Clause
/* Names of value types and of fields, header fields and their aliases. */

#include "event/type.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

static void value_names_are_their_own_inverse(void **state)
{
	(void)state;
	for (enum event_value value = EVENT_U8; value <= EVENT_STRING; value++)
		assert_int_equal(event_value_find(event_value_name(value)), value);
	assert_int_equal(event_value_find("U32"), EVENT_U32);
	assert_int_equal(event_value_find("u128"), 0);
	assert_int_equal(event_value_find(""), 0);
	assert_string_equal(event_value_name(0), "?");
	assert_string_equal(event_value_name(99), "?");
}

static void only_u64_and_addr_are_unsigned(void **state)
{
	(void)state;
	for (enum event_value value = EVENT_U8; value <= EVENT_STRING; value++)
		assert_int_equal(event_value_is_unsigned64(value), value == EVENT_U64 || value == EVENT_ADDR);
}

static void fields_are_found_in_body_header_and_aliases(void **state)
{
	struct event_field fields[] = {
		{ .name = "x", .value = EVENT_U32, .offset = 48, .bytes = 8 },
		{ .name = "ThreadId", .value = EVENT_U32, .offset = 56, .bytes = 8 },
	};
	struct event_type type = { .name = "a", .fields = fields, .field_count = 2 };
	const struct event_field *pid;

	(void)state;
	assert_ptr_equal(event_field_find(&type, "x"), &fields[0]);
	/* The body comes first: an event about another thread may have a ThreadId of its own. */
	assert_ptr_equal(event_field_find(&type, "ThreadId"), &fields[1]);
	assert_false(event_field_is_header(&fields[1]));
	pid = event_field_find(&type, "ProcessId");
	assert_string_equal(pid->name, "pid");
	assert_ptr_equal(pid, event_field_find(&type, "pid"));
	assert_true(event_field_is_header(pid));
	assert_string_equal(event_field_find(&type, "TimeStamp")->name, "ts");
	assert_string_equal(event_field_find(&type, "CpuId")->name, "cpu");
	assert_null(event_field_find(&type, "y"));
	assert_null(event_field_find(&type, "X"));
}

static void header_fields_lie_where_the_record_has_them(void **state)
{
	static const struct {
		const char *name;
		enum event_value value;
		uint32_t offset, bytes;
	} expected[] = {
		{ "ts", EVENT_TIME, 0, 8 },  { "cpu", EVENT_U32, 20, 4 },      { "pid", EVENT_U32, 24, 4 },
		{ "tid", EVENT_U32, 28, 4 }, { "comm", EVENT_STRING, 32, 16 },
	};

	(void)state;
	for (size_t i = 0; i < EVENT_HEADER_FIELDS; i++) {
		assert_string_equal(event_header_fields[i].name, expected[i].name);
		assert_int_equal(event_header_fields[i].value, expected[i].value);
		assert_int_equal(event_header_fields[i].offset, expected[i].offset);
		assert_int_equal(event_header_fields[i].bytes, expected[i].bytes);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(value_names_are_their_own_inverse),
		cmocka_unit_test(only_u64_and_addr_are_unsigned),
		cmocka_unit_test(fields_are_found_in_body_header_and_aliases),
		cmocka_unit_test(header_fields_lie_where_the_record_has_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
