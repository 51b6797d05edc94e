/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CMD_RULETEST_COMPARE_H
#define CMD_RULETEST_COMPARE_H

/* When a value of a match is what a test expects of it. */

#include "base/text.h"

#include <jansson.h>
#include <stdbool.h>

/* Whether text is a comparison such as ">=100" (the number in *bound). */
bool compare_is_relation(const char *text);

/*
 * Whether actual has everything that wanted says. Members, and elements of arrays, are compared one by one; what wanted
 * does not mention does not count.
 */
bool compare_fits(const json_t *wanted, const json_t *actual);

/* How many values of wanted are not in actual. With why, each of them gets a clause: "return.fd is 4, not 5". */
unsigned compare_differences(const json_t *wanted, const json_t *actual, struct text_buffer *why);

#endif
