/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TRACE_JSONL_JSON_PRIV_H
#define TRACE_JSONL_JSON_PRIV_H

/*
 * JSON (RFC 8259) of one line taken apart: the members of one object, in order, as places in the line. What values mean
 * is decided later, when the type of the event is known.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum json_kind {
	JSON_STRING,
	JSON_INTEGER, /* a number without fraction and exponent */
	JSON_REAL,
	JSON_TRUE,
	JSON_FALSE,
	JSON_NULL,
	JSON_OBJECT,
	JSON_ARRAY,
};

/* A piece of the line. A string is without its quotes, escapes are as written. */
struct json_piece {
	const char *text;
	uint32_t length;
	bool has_escape; /* strings */
};

struct json_member {
	struct json_piece key, value;
	enum json_kind kind;
};

/* The members of the last line; grows to what a line needs. */
struct json_members {
	struct json_member *items;
	size_t count, room;
};

/* What is wrong with a line, and where. */
struct json_error {
	const char *text;
	const char *at;
};

/* "a string", "an integer", ... */
const char *json_kind_name(enum json_kind kind);

/*
 * Takes the length bytes at line apart. Returns 1; 0 when there is nothing but white space; -EINVAL with *error when
 * it is not one JSON object; -ENOMEM.
 */
int json_read_object(const char *line, size_t length, struct json_members *members, struct json_error *error);

/*
 * Writes the string that piece stands for, escapes resolved, as far as it fits into size bytes, NUL included; what is
 * left of them is set to 0. Returns its whole length in bytes, or -EINVAL when it holds a NUL.
 */
int64_t json_read_string(const struct json_piece *piece, char *to, size_t size);

#endif
