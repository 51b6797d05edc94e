/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CMD_TEXT_JSON_H
#define CMD_TEXT_JSON_H

/* JSON with matches in it, in which addresses of the kernel are as common as small numbers. */

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/*
 * Reads one value, with duplicate members refused. Integers beyond 63 bits, which the library cannot hold, become
 * strings of their digits.
 */
json_t *cmd_json_load(const char *text, size_t length, json_error_t *error);

/* Whether value is a number, or one that became a string. */
bool cmd_json_is_number(const json_t *value);

#endif
