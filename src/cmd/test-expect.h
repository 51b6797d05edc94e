/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CMD_TEST_EXPECT_H
#define CMD_TEST_EXPECT_H

/* What a test expects (NAME.expect, docs/rule-tests.md), and how matches are held against it. */

#include "base/diag.h"
#include "base/text.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct expected_line {
	json_t *object; /* without "count" */
	char *text;     /* as it was written */
	uint32_t line;
	json_t *count; /* NULL: the line stands for one match, in its place */
};

struct expected {
	char *file;
	struct expected_line *lines;
	size_t count, capacity;
	json_t *lost; /* NULL: nothing may be lost */
};

/* What came: matches, as the objects that -f json writes. */
struct found {
	json_t *matches; /* array */
	uint64_t lost;
};

/* Reads the file. Returns 0, -EINVAL (the diag says where it is wrong), -ENOMEM. expected_fini either way. */
int expected_read(struct expected *expected, const char *file, struct asterism_diag *diag);
void expected_fini(struct expected *expected);

/* Adds the match that a line of JSON holds. Returns 0, -EINVAL, -ENOMEM. */
int found_add(struct found *found, const char *line, size_t length);
void found_fini(struct found *found);

/* Whether what was found is what is expected. If not, why gets what differs, in whole lines. */
bool expected_fits(const struct expected *expected, const struct found *found, struct text_buffer *why);

#endif
