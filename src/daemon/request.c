// SPDX-License-Identifier: BSD-2-Clause
/*
 * Parses requests. Members that the operation does not take, that come twice, or that have another type are errors: a
 * client that misspells something hears of it.
 */

#include "daemon/request.h"

#include "daemon/frame.h"

#include <errno.h>
#include <jansson.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum { TIMEOUT_MS = 30 * 1000, NAME_CHARACTERS_MAX = 64 };

enum member {
	UNIT = 1,
	NEEDS_UNIT = 2,
	LENGTH = 4,
	ACTIVATE = 8,
	TICKET = 16,
	TIMEOUT = 32,
	RECORDING = 64,
	KIND = 128
};

static const struct {
	const char *name;
	unsigned members;
} ops[REQUEST_OPS] = {
	[REQUEST_PING] = { "ping", 0 },
	[REQUEST_LOAD] = { "load", UNIT | NEEDS_UNIT | LENGTH | ACTIVATE },
	[REQUEST_UNLOAD] = { "unload", UNIT | NEEDS_UNIT },
	[REQUEST_QUERY] = { "query", UNIT },
	[REQUEST_ACTIVATE] = { "activate", UNIT | NEEDS_UNIT },
	[REQUEST_DEACTIVATE] = { "deactivate", UNIT | NEEDS_UNIT },
	[REQUEST_NEXT] = { "next-result", UNIT | TIMEOUT },
	[REQUEST_CONTINUE] = { "continue", TICKET },
	[REQUEST_ABORT] = { "abort", TICKET },
	[REQUEST_RELOAD] = { "reload", 0 },
	[REQUEST_RECORD_START] = { "record-start", RECORDING | LENGTH | KIND },
	[REQUEST_RECORD_STOP] = { "record-stop", RECORDING },
	[REQUEST_RECORD_MASK] = { "record-mask", RECORDING | LENGTH },
	[REQUEST_RECORD_FLUSH] = { "record-flush", RECORDING },
	[REQUEST_RECORD_SNAPSHOT] = { "record-snapshot", RECORDING },
	[REQUEST_RECORD_STATUS] = { "record-status", RECORDING },
};

bool request_is_unit_name(const char *name)
{
	size_t length = strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-");

	return length > 0 && length <= NAME_CHARACTERS_MAX && name[length] == 0;
}

bool request_has_body(enum request_op op)
{
	return ops[op].members & LENGTH;
}

static int wrong_request(char *why, const char *text)
{
	snprintf(why, REQUEST_WHY_BYTES, "%s", text);
	return -EINVAL;
}

static int read_op(const json_t *object, struct request *request, char *why)
{
	const char *name = json_string_value(json_object_get(object, "op"));

	if (!name)
		return wrong_request(why, "the request needs a string member \"op\"");
	for (request->op = 0; request->op < REQUEST_OPS; request->op++)
		if (strcmp(ops[request->op].name, name) == 0)
			return 0;
	wrong_request(why, "unknown operation");
	return -ENOSYS;
}

/* An integer from least to most, or -1. */
static json_int_t request_integer(const json_t *value, json_int_t least, json_int_t most)
{
	json_int_t number = json_is_integer(value) ? json_integer_value(value) : -1;

	return number < least || number > most ? -1 : number;
}

static int read_unit(const json_t *value, struct request *request, char *why)
{
	const char *name = json_string_value(value);

	if (!name || !*name || json_string_length(value) >= REQUEST_UNIT_BYTES ||
	    json_string_length(value) != strlen(name))
		return wrong_request(why, "a name must be a string of 1 to 128 bytes");
	snprintf(request->unit, sizeof request->unit, "%s", name);
	return 0;
}

/* What a recording is like, besides being a flight recording or not. */
static const struct {
	const char *name;
	size_t offset; /* in struct request */
} kinds[] = {
	{ "max_bytes", offsetof(struct request, max_bytes) },
	{ "ring_bytes", offsetof(struct request, ring_bytes) },
	{ "last_ns", offsetof(struct request, last_ns) },
};

enum { KINDS = sizeof kinds / sizeof *kinds };

static bool is_of_kind(const char *key)
{
	bool found = strcmp(key, "flight") == 0;

	for (size_t i = 0; i < KINDS; i++)
		found |= strcmp(key, kinds[i].name) == 0;
	return found;
}

static int read_kind(const char *key, const json_t *value, struct request *request, char *why)
{
	json_int_t number = request_integer(value, 1, INT64_MAX);
	uint64_t given = (uint64_t)number;

	if (strcmp(key, "flight") == 0) {
		request->flight = json_is_true(value);
		return json_is_boolean(value) ? 0 : wrong_request(why, "\"flight\" must be true or false");
	}
	if (number < 0)
		return wrong_request(why, "\"max_bytes\", \"ring_bytes\" and \"last_ns\" must be positive numbers");
	for (size_t i = 0; i < KINDS; i++)
		if (strcmp(key, kinds[i].name) == 0)
			memcpy((char *)request + kinds[i].offset, &given, sizeof given);
	return 0;
}

static int read_member(const char *key, const json_t *value, struct request *request, char *why)
{
	unsigned members = ops[request->op].members;
	json_int_t number;

	if (strcmp(key, "op") == 0)
		return 0;
	if (strcmp(key, "unit") == 0 && members & UNIT)
		return read_unit(value, request, why);
	if (strcmp(key, "recording") == 0 && members & RECORDING)
		return read_unit(value, request, why);
	if (members & KIND && is_of_kind(key))
		return read_kind(key, value, request, why);
	if (strcmp(key, "length") == 0 && members & LENGTH) {
		number = request_integer(value, 0, FRAME_BODY_BYTES_MAX);
		request->length = (size_t)number;
		return number < 0 ? wrong_request(why, "\"length\" must be a number of bytes, at most 16 MiB") : 0;
	}
	if (strcmp(key, "activate") == 0 && members & ACTIVATE) {
		request->activate = json_is_true(value);
		return json_is_boolean(value) ? 0 : wrong_request(why, "\"activate\" must be true or false");
	}
	if (strcmp(key, "ticket") == 0 && members & TICKET) {
		number = request_integer(value, 1, INT64_MAX);
		request->ticket = (uint64_t)number;
		return number < 0
			       ? wrong_request(why, "\"ticket\" must be the number that came with the verdict request")
			       : 0;
	}
	if (strcmp(key, "timeout_ms") == 0 && members & TIMEOUT) {
		number = request_integer(value, 0, REQUEST_TIMEOUT_MS_MAX);
		request->timeout_ms = (uint32_t)number;
		return number < 0
			       ? wrong_request(why, "\"timeout_ms\" must be a number of milliseconds, at most one hour")
			       : 0;
	}
	return wrong_request(why, "the request has a member that this operation does not know");
}

static int read_object(json_t *object, struct request *request, char *why)
{
	const char *key;
	json_t *value;
	int result;

	if (!json_is_object(object))
		return wrong_request(why, "the request must be a JSON object");
	result = read_op(object, request, why);
	if (result)
		return result;
	request->timeout_ms = TIMEOUT_MS;
	json_object_foreach(object, key, value)
	{
		result = read_member(key, value, request, why);
		if (result)
			return result;
	}
	if (ops[request->op].members & NEEDS_UNIT && !request->unit[0])
		return wrong_request(why, "this operation needs a \"unit\"");
	if (ops[request->op].members & LENGTH && !json_object_get(object, "length"))
		return wrong_request(why, "the request needs a \"length\": the number of bytes that follow it");
	if (ops[request->op].members & TICKET && !request->ticket)
		return wrong_request(why, "this operation needs a \"ticket\"");
	return 0;
}

int request_read(const char *line, size_t length, struct request *request, char why[REQUEST_WHY_BYTES])
{
	json_error_t error;
	json_t *object = json_loadb(line, length, JSON_REJECT_DUPLICATES, &error);
	int result;

	*request = (struct request){ 0 };
	if (!object) {
		snprintf(why, REQUEST_WHY_BYTES, "invalid JSON at byte %d", error.position);
		return -EINVAL;
	}
	result = read_object(object, request, why);
	json_decref(object);
	return result;
}
