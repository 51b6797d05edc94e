// SPDX-License-Identifier: BSD-2-Clause
/*
 * Files of expected matches that somebody broke, matches that are none, and lack of memory at every allocation of our
 * own (the JSON library asserts where it runs out). What is right and what is wrong about good ones is told in
 * tests/cli/rule-tests.bats.
 */

#include "base/alloc.h"
#include "cmd/ruletest/expect.h"
#include "cmd/text/json.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cmocka.h>

static const char good[] =
	"# "
	"expected\n\n{\"match\":\"m\",\"return\":{\"x\":\">=3\",\"y\":18446744073709551615},\"trail\":[{\"to\":\"END\"}"
	",{}]}\n"
	"  {\"match\":\"n\",\"count\":\">=1\"}\r\n{\"lost\":2}\n{\"match\":\"m\",\"warning\":\"a \\u00e9 \\\"\"}";

static const char *const lines[] = {
	"{\"match\":\"m\",\"return\":{\"x\":5,\"y\":18446744073709551615},\"trail\":[{\"to\":\"END\"},{\"to\":\"A\"}]}",
	"{\"match\":\"n\",\"return\":{}}",
	"{\"match\":\"n\",\"return\":{\"z\":null}}",
	"{\"match\":\"m\",\"warning\":\"a \\u00e9 \\\"\",\"tainted\":false}",
};

static char path[64];

static void write_file(const char *text, size_t length)
{
	static int fd = -1;

	if (fd < 0)
		fd = memfd_create("expect", 0);
	assert_int_equal(ftruncate(fd, 0), 0);
	assert_int_equal(pwrite(fd, text, length, 0), (ssize_t)length);
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
}

static int find(struct test_found *found)
{
	int result = 0;

	found->lost = 2;
	for (size_t i = 0; i < sizeof lines / sizeof *lines && !result; i++)
		result = test_found_add(found, lines[i], strlen(lines[i]));
	return result;
}

/* Reads the text and holds the matches against it. Returns what reading came to; fits: 1, 0, or -1: never asked. */
static int hold(const char *text, size_t length, const struct test_found *found, int *fits)
{
	struct asterism_diag *diag = asterism_diag_new();
	struct test_expected expected;
	int result;

	write_file(text, length);
	result = test_expected_read(&expected, path, diag);
	assert_true(result == 0 || result == -EINVAL);
	assert_int_equal(asterism_diag_count(diag, ASTERISM_ERROR), result ? 1 : 0);
	*fits = -1;
	if (result == 0) {
		struct text_buffer why = { 0 };

		*fits = test_expected_fits(&expected, found, &why);
		assert_int_equal(why.failure, 0);
		assert_true(*fits == (why.length == 0));
		text_fini(&why);
	}
	test_expected_fini(&expected);
	asterism_diag_free(diag);
	return result;
}

static void what_fits_fits(void **state)
{
	struct test_found found = { 0 };
	int fits;

	(void)state;
	assert_int_equal(find(&found), 0);
	assert_int_equal(hold(good, strlen(good), &found, &fits), 0);
	assert_int_equal(fits, 1);
	found.lost = 1;
	assert_int_equal(hold(good, strlen(good), &found, &fits), 0);
	assert_int_equal(fits, 0);
	test_found_fini(&found);
}

static void cut_and_altered_anywhere(void **state)
{
	static const char others[] = "\0\n\"\\{}[],:#9-.eu\200\377";
	char text[sizeof good];
	struct test_found found = { 0 };
	unsigned fitting = 0;
	int fits;

	(void)state;
	assert_int_equal(find(&found), 0);
	for (size_t length = 0; length < strlen(good); length++) {
		hold(good, length, &found, &fits);
		assert_int_not_equal(fits, 1);
	}
	for (size_t i = 0; i < strlen(good); i++) {
		memcpy(text, good, sizeof good);
		for (size_t j = 0; j < sizeof others; j++) {
			text[i] = others[j];
			hold(text, strlen(good), &found, &fits);
			fitting += fits == 1;
		}
	}
	assert_in_range(fitting, 1, sizeof good * sizeof others / 2); /* comments, blanks */
	test_found_fini(&found);
}

static void deep_and_long_lines(void **state)
{
	enum { BYTES = 1 << 20 };
	static const char *const heads[] = { "{\"match\":", "", "{\"lost\":", "{\"match\":\"m\",\"count\":" };
	static const char *const repeated[] = { "[", "{\"a\":", "\"", "9", "-", "{}\n", ">" };
	struct test_found found = { 0 };
	char *text = malloc(BYTES);
	int fits;

	(void)state;
	assert_int_equal(find(&found), 0);
	for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
		for (size_t j = 0; j < sizeof repeated / sizeof *repeated; j++) {
			size_t length = strlen(heads[i]), step = strlen(repeated[j]);

			memcpy(text, heads[i], length);
			for (; length + step < BYTES / 16; length += step)
				memcpy(text + length, repeated[j], step);
			hold(text, length, &found, &fits);
			assert_int_not_equal(fits, 1);
		}
	}
	free(text);
	test_found_fini(&found);
}

static void what_is_no_match_is_refused(void **state)
{
	static const char *const wrong[] = { "", "{", "{\"a\":1,\"a\":2}", "{}}", "\"\\ud800\"", "\377", "1e999" };
	struct test_found found = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
		assert_int_equal(test_found_add(&found, wrong[i], strlen(wrong[i])), -EINVAL);
	assert_int_equal(json_array_size(found.matches), 0);
	test_found_fini(&found);
}

/* Failing to read is told; failing to compare is never a fit. */
static void every_allocation_fails(void **state)
{
	bool more = true;
	unsigned long n = 0, refused = 0;

	(void)state;
	write_file(good, strlen(good));
	while (more) {
		struct asterism_diag *diag = asterism_diag_new();
		struct test_expected expected;
		struct test_found found = { 0 };
		struct text_buffer why = { 0 };

		alloc_fail_at(++n);
		int result = test_expected_read(&expected, path, diag);

		if (result)
			assert_int_equal(asterism_diag_count(diag, ASTERISM_ERROR), 1);
		refused += result != 0;
		if (!result)
			result = find(&found);
		if (!result)
			more = !test_expected_fits(&expected, &found, &why);
		alloc_fail_at(0);
		test_found_fini(&found);
		test_expected_fini(&expected);
		text_fini(&why);
		asterism_diag_free(diag);
		assert_true(n < 5000);
	}
	assert_true(refused > 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_fits_fits),         cmocka_unit_test(cut_and_altered_anywhere),
		cmocka_unit_test(deep_and_long_lines),    cmocka_unit_test(what_is_no_match_is_refused),
		cmocka_unit_test(every_allocation_fails),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
