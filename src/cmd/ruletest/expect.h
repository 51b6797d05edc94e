/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CMD_RULETEST_EXPECT_H
#define CMD_RULETEST_EXPECT_H

/* What a test expects (NAME.expect, docs/rule-tests.md), and how matches are held against it. */

#include "base/diag.h"
#include "base/text.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct test_expected_line {
	json_t *object; /* without "count" */
	char *text;     /* as it was written */
	uint32_t line;
	json_t *count; /* NULL: the line stands for one match, in its place */
};

struct test_expected {
	char *file;
	struct test_expected_line *lines;
	size_t count, capacity;
	json_t *lost; /* NULL: nothing may be lost */
};

/* What came: matches, as the objects that -f json writes. */
struct test_found {
	json_t *matches; /* array */
	uint64_t lost;
};

/* Reads the file. Returns 0, -EINVAL (the diag says where it is wrong), -ENOMEM. test_expected_fini either way. */
int test_expected_read(struct test_expected *expected, const char *file, struct asterism_diag *diag);
void test_expected_fini(struct test_expected *expected);

/* Adds the match that a line of JSON holds. Returns 0, -EINVAL, -ENOMEM. */
int test_found_add(struct test_found *found, const char *line, size_t length);
void test_found_fini(struct test_found *found);

/* Whether what was found is what is expected. If not, why gets what differs, in whole lines. */
bool test_expected_fits(const struct test_expected *expected, const struct test_found *found, struct text_buffer *why);

#endif
