// SPDX-License-Identifier: BSD-2-Clause
/* Compares JSON values, as far as a test speaks of them. */

#include "cmd/ruletest/compare.h"

#include "cmd/text/json.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_BYTES = 256, SHOWN_BYTES = 160 };

static const struct relation {
	const char *sign;
	bool less, equal, greater; /* whether it holds where the match's number is that */
} relations[] = {
	{ ">=", false, true, true }, { "<=", true, true, false }, { "!=", true, false, true },
	{ ">", false, false, true }, { "<", true, false, false },
};

/* The relation that text begins with and the number behind it; NULL where it is just a text. */
static const struct relation *parse_relation(const char *text, const char **number)
{
	for (size_t i = 0; i < sizeof relations / sizeof *relations; i++) {
		size_t length = strlen(relations[i].sign);
		const char *at = text + length;
		char *end;

		if (strncmp(text, relations[i].sign, length) != 0)
			continue;
		at += strspn(at, " ");
		if (!isdigit((unsigned char)at[*at == '-']))
			return NULL;
		strtod(at, &end);
		*number = at;
		return *end ? NULL : &relations[i];
	}
	return NULL;
}

bool compare_is_relation(const char *text)
{
	const char *number;

	return parse_relation(text, &number) != NULL;
}

/* -1, 0, 1 as actual is less than, equal to or greater than the number. Whole numbers are compared with every digit. */
static int compare_with_number(const json_t *actual, const char *number)
{
	const char *digits = json_string_value(actual);
	double real = digits ? strtod(digits, NULL) : json_number_value(actual), bound = strtod(number, NULL);

	if (json_is_integer(actual) && !strpbrk(number, ".eE") && bound > -9e18 && bound < 9e18) {
		long long whole = json_integer_value(actual), limit = strtoll(number, NULL, 10);

		return whole < limit ? -1 : whole > limit;
	}
	return real < bound ? -1 : real > bound;
}

static bool fits_value(const json_t *wanted, const json_t *actual)
{
	const char *number;

	if (json_is_string(wanted) && cmd_json_is_number(actual) && !json_equal(wanted, actual)) {
		const struct relation *relation = parse_relation(json_string_value(wanted), &number);
		int found = relation ? compare_with_number(actual, number) : 0;

		return relation && (found < 0 ? relation->less : found > 0 ? relation->greater : relation->equal);
	}
	if (json_is_number(wanted) && json_is_number(actual) && json_is_integer(wanted) != json_is_integer(actual))
		return json_number_value(wanted) == json_number_value(actual);
	return json_equal(wanted, actual);
}

/* Where the values under comparison stand, for people. */
struct place {
	char path[PATH_BYTES];
	struct text_buffer *why; /* NULL: not asked for */
	unsigned differences;
};

static void put_compared_value(struct text_buffer *why, const json_t *value)
{
	char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);

	text_printf(why, "%.*s%s", SHOWN_BYTES, text ? text : "?", text && strlen(text) > SHOWN_BYTES ? "..." : "");
	free(text);
}

static void note_difference(struct place *place, const json_t *wanted, const json_t *actual)
{
	place->differences++;
	if (!place->why)
		return;
	if (place->differences > 1)
		text_append(place->why, "; ");
	text_printf(place->why, "%s is ", *place->path ? place->path : "it");
	if (actual)
		put_compared_value(place->why, actual);
	else
		text_append(place->why, "missing");
	text_append(place->why, ", not ");
	put_compared_value(place->why, wanted);
}

static void walk_value(struct place *place, const json_t *wanted, const json_t *actual);

/* Goes on to a part of the value, whose name is added to the path meanwhile. */
static void compare_part(struct place *place, const char *name, const json_t *wanted, const json_t *actual)
{
	size_t length = strlen(place->path);

	snprintf(place->path + length, sizeof place->path - length, "%s%s", length && *name != '[' ? "." : "", name);
	if (actual)
		walk_value(place, wanted, actual);
	else
		note_difference(place, wanted, NULL);
	place->path[length] = 0;
}

static void walk_value(struct place *place, const json_t *wanted, const json_t *actual)
{
	void *member;
	size_t count;

	if (json_is_object(wanted) && json_is_object(actual)) {
		/* Iterating changes nothing; the library merely has no const form of it. */
		for (member = json_object_iter((json_t *)wanted); member;
		     member = json_object_iter_next((json_t *)wanted, member)) {
			const char *key = json_object_iter_key(member);

			compare_part(place, key, json_object_iter_value(member), json_object_get(actual, key));
		}
	} else if (json_is_array(wanted) && json_is_array(actual) &&
		   json_array_size(wanted) == json_array_size(actual)) {
		count = json_array_size(wanted);
		for (size_t i = 0; i < count; i++) {
			char name[32];

			snprintf(name, sizeof name, "[%zu]", i);
			compare_part(place, name, json_array_get(wanted, i), json_array_get(actual, i));
		}
	} else if (!fits_value(wanted, actual)) {
		note_difference(place, wanted, actual);
	}
}

unsigned compare_differences(const json_t *wanted, const json_t *actual, struct text_buffer *why)
{
	struct place place = { .why = why };

	walk_value(&place, wanted, actual);
	return place.differences;
}

bool compare_fits(const json_t *wanted, const json_t *actual)
{
	return compare_differences(wanted, actual, NULL) == 0;
}
