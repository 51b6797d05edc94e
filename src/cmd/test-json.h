/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CMD_TEST_JSON_H
#define CMD_TEST_JSON_H

/* JSON of tests, in which addresses of the kernel are as common as small numbers. */

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/*
 * Reads one value, with duplicate members refused. Integers beyond 63 bits, which the library cannot hold, become
 * strings of their digits, in matches and in what is expected of them alike.
 */
json_t *test_json_load(const char *text, size_t length, json_error_t *error);

/* Whether value is a number, or one that became a string. */
bool test_json_is_number(const json_t *value);

#endif
