/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CMD_TEXT_JSON_TEXT_H
#define CMD_TEXT_JSON_TEXT_H

/* Texts from outside as JSON values, and JSON values as lines. */

#include <jansson.h>

/* text, whatever bytes it has (those that are no UTF-8 are U+FFFD), and null for NULL. */
json_t *json_text(const char *text);

/* As json_dumps, and nothing in it is obeyed by a terminal. The caller frees it; NULL: memory is short. */
char *json_text_dump(const json_t *value, size_t flags);

/* Writes it as one line to standard output, and lets go of it. */
void json_text_put(json_t *value);

#endif
