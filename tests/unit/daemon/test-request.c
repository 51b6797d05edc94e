// SPDX-License-Identifier: BSD-2-Clause
/* What is a request, and what a client hears of what is none: every operation with every member, and numbers out of
 * range. */

#include "daemon/request.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static char why[REQUEST_WHY_BYTES];

static int take(const char *line, struct request *request)
{
	why[0] = 0;
	return request_read(line, strlen(line), request, why);
}

static void assert_wrong(const char *line, const char *expected)
{
	struct request request;

	assert_int_equal(take(line, &request), -EINVAL);
	assert_string_equal(why, expected);
}

static void members_become_what_they_say(void **state)
{
	struct request request;

	(void)state;
	assert_int_equal(take("{\"op\":\"load\",\"unit\":\"a-1\",\"length\":7,\"activate\":true}", &request), 0);
	assert_int_equal(request.op, REQUEST_LOAD);
	assert_string_equal(request.unit, "a-1");
	assert_int_equal(request.length, 7);
	assert_true(request.activate);
	assert_int_equal(take("{\"op\":\"abort\",\"ticket\":9223372036854775807}", &request), 0);
	assert_int_equal(request.op, REQUEST_ABORT);
	assert_true(request.ticket == INT64_MAX);
	assert_int_equal(take("{\"op\":\"record-start\",\"recording\":\"r\",\"length\":0,\"flight\":true,"
			      "\"max_bytes\":1,\"ring_bytes\":2,\"last_ns\":3}",
			      &request),
			 0);
	assert_string_equal(request.unit, "r");
	assert_true(request.flight && request.max_bytes == 1 && request.ring_bytes == 2 && request.last_ns == 3);
}

static void what_is_not_said_is_usual(void **state)
{
	struct request request;

	(void)state;
	memset(&request, 0xff, sizeof request);
	assert_int_equal(take("{\"op\":\"next-result\"}", &request), 0);
	assert_int_equal(request.timeout_ms, 30000);
	assert_string_equal(request.unit, "");
	assert_true(request.ticket == 0 && !request.activate && !request.flight);
	assert_int_equal(take("{\"op\":\"query\"}", &request), 0);
}

static void an_operation_takes_its_own_members_alone(void **state)
{
	static const char *const ops[REQUEST_OPS] = {
		"ping",        "load",         "unload",          "query",         "activate",     "deactivate",
		"next-result", "continue",     "abort",           "reload",        "record-start", "record-stop",
		"record-mask", "record-flush", "record-snapshot", "record-status",
	};
	static const struct {
		const char *text;
		unsigned taken; /* bits of operations */
	} members[] = {
		{ "\"unit\":\"u\"", 1 << REQUEST_LOAD | 1 << REQUEST_UNLOAD | 1 << REQUEST_QUERY |
					    1 << REQUEST_ACTIVATE | 1 << REQUEST_DEACTIVATE | 1 << REQUEST_NEXT },
		{ "\"recording\":\"u\"", 0x3f << REQUEST_RECORD_START },
		{ "\"length\":1", 1 << REQUEST_LOAD | 1 << REQUEST_RECORD_START | 1 << REQUEST_RECORD_MASK },
		{ "\"activate\":false", 1 << REQUEST_LOAD },
		{ "\"ticket\":1", 1 << REQUEST_CONTINUE | 1 << REQUEST_ABORT },
		{ "\"timeout_ms\":0", 1 << REQUEST_NEXT },
		{ "\"flight\":false", 1 << REQUEST_RECORD_START },
		{ "\"last_ns\":1", 1 << REQUEST_RECORD_START },
		{ "\"uid\":0", 0 },
		{ "\"Unit\":\"u\"", 0 },
	};
	struct request request;
	char line[128];

	(void)state;
	for (unsigned op = 0; op < REQUEST_OPS; op++) {
		for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
			snprintf(line, sizeof line, "{\"op\":\"%s\",%s}", ops[op], members[i].text);
			take(line, &request);
			if (request.op != op)
				fail_msg("%s is operation %d", line, (int)request.op);
			if ((strstr(why, "does not know") == NULL) != (members[i].taken >> op & 1))
				fail_msg("%s: '%s'", line, why);
		}
	}
}

static void what_is_needed_is_missed(void **state)
{
	(void)state;
	assert_wrong("{\"op\":\"unload\"}", "this operation needs a \"unit\"");
	assert_wrong("{\"op\":\"load\",\"unit\":\"u\"}",
		     "the request needs a \"length\": the number of bytes that follow it");
	assert_wrong("{\"op\":\"record-mask\",\"recording\":\"r\"}",
		     "the request needs a \"length\": the number of bytes that follow it");
	assert_wrong("{\"op\":\"continue\"}", "this operation needs a \"ticket\"");
	assert_wrong("{}", "the request needs a string member \"op\"");
	assert_wrong("{\"op\":1}", "the request needs a string member \"op\"");
	assert_wrong("[]", "the request must be a JSON object");
}

static void numbers_have_bounds(void **state)
{
	struct request request;

	(void)state;
	assert_int_equal(take("{\"op\":\"load\",\"unit\":\"u\",\"length\":16777216}", &request), 0);
	assert_wrong("{\"op\":\"load\",\"unit\":\"u\",\"length\":16777217}",
		     "\"length\" must be a number of bytes, at most 16 MiB");
	assert_wrong("{\"op\":\"load\",\"unit\":\"u\",\"length\":-1}",
		     "\"length\" must be a number of bytes, at most 16 MiB");
	assert_wrong("{\"op\":\"load\",\"unit\":\"u\",\"length\":1.0}",
		     "\"length\" must be a number of bytes, at most 16 MiB");
	assert_wrong("{\"op\":\"load\",\"unit\":\"u\",\"length\":\"1\"}",
		     "\"length\" must be a number of bytes, at most 16 MiB");
	assert_wrong("{\"op\":\"continue\",\"ticket\":0}",
		     "\"ticket\" must be the number that came with the verdict request");
	assert_int_equal(take("{\"op\":\"next-result\",\"timeout_ms\":3600000}", &request), 0);
	assert_int_equal(request.timeout_ms, 3600000);
	assert_wrong("{\"op\":\"next-result\",\"timeout_ms\":3600001}",
		     "\"timeout_ms\" must be a number of milliseconds, at most one hour");
	assert_wrong("{\"op\":\"record-start\",\"length\":0,\"ring_bytes\":0}",
		     "\"max_bytes\", \"ring_bytes\" and \"last_ns\" must be positive numbers");
	assert_wrong("{\"op\":\"record-start\",\"length\":0,\"flight\":1}", "\"flight\" must be true or false");
	assert_wrong("{\"op\":\"load\",\"unit\":\"u\",\"length\":0,\"activate\":null}",
		     "\"activate\" must be true or false");
}

static void names_are_whole(void **state)
{
	char line[256], name[REQUEST_UNIT_BYTES + 1];
	struct request request;

	(void)state;
	memset(name, 'n', sizeof name);
	name[REQUEST_UNIT_BYTES - 1] = 0;
	snprintf(line, sizeof line, "{\"op\":\"query\",\"unit\":\"%s\"}", name);
	assert_int_equal(take(line, &request), 0);
	assert_string_equal(request.unit, name);
	snprintf(line, sizeof line, "{\"op\":\"query\",\"unit\":\"%sn\"}", name);
	assert_wrong(line, "a name must be a string of 1 to 128 bytes");
	assert_wrong("{\"op\":\"query\",\"unit\":\"\"}", "a name must be a string of 1 to 128 bytes");
	assert_wrong("{\"op\":\"query\",\"unit\":null}", "a name must be a string of 1 to 128 bytes");
}

static void what_is_said_twice_or_is_no_json_is_no_request(void **state)
{
	struct request request;

	(void)state;
	assert_int_equal(take("{\"op\":\"ping\",\"op\":\"reload\"}", &request), -EINVAL);
	assert_int_equal(take("{\"op\":\"ping\"} x", &request), -EINVAL);
	assert_int_equal(take("", &request), -EINVAL);
	assert_non_null(strstr(why, "invalid JSON at byte"));
	assert_int_equal(take("{\"op\":\"query\",\"unit\":\"a\\u0000b\"}", &request), -EINVAL);
	assert_int_equal(take("{\"op\":\"Ping\"}", &request), -ENOSYS);
	assert_string_equal(why, "unknown operation");
}

static void units_of_clients_have_no_dots(void **state)
{
	char name[66];

	(void)state;
	memset(name, 'a', sizeof name);
	name[64] = 0;
	assert_true(request_is_unit_name(name));
	name[64] = 'a';
	name[65] = 0;
	assert_false(request_is_unit_name(name));
	assert_true(request_is_unit_name("-_Az09"));
	assert_false(request_is_unit_name(""));
	assert_false(request_is_unit_name("a.rule"));
	assert_false(request_is_unit_name("../a"));
	assert_false(request_is_unit_name("a b"));
	assert_false(request_is_unit_name("\xc3\xa4"));
}

static void bodies_follow_what_has_a_length(void **state)
{
	(void)state;
	for (int op = 0; op < REQUEST_OPS; op++)
		assert_int_equal(request_has_body(op),
				 op == REQUEST_LOAD || op == REQUEST_RECORD_START || op == REQUEST_RECORD_MASK);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(members_become_what_they_say),
		cmocka_unit_test(what_is_not_said_is_usual),
		cmocka_unit_test(an_operation_takes_its_own_members_alone),
		cmocka_unit_test(what_is_needed_is_missed),
		cmocka_unit_test(numbers_have_bounds),
		cmocka_unit_test(names_are_whole),
		cmocka_unit_test(what_is_said_twice_or_is_no_json_is_no_request),
		cmocka_unit_test(units_of_clients_have_no_dots),
		cmocka_unit_test(bodies_follow_what_has_a_length),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
