// SPDX-License-Identifier: BSD-2-Clause
/*
 * Resolves names in callgrind's format. They may be compressed to numbers; levels of recursion (f'2) and
 * callers (f'caller) are split off.
 */

#include "profile/callgrind-priv.h"

#include "base/alloc.h"

#include <string.h>

/* The place for a number's name. Numbers are no larger than the file, so memory is not either. */
static int find_named(struct callgrind *callgrind, int kind, uint64_t number, struct named **named)
{
	size_t capacity = callgrind->name_capacity[kind];

	if (number > callgrind->reading->source->length)
		return callgrind_wrong(callgrind, "the name's number is larger than the file");
	if (number >= capacity) {
		struct named *grown;
		size_t wanted = capacity ? capacity : 256;

		while (wanted <= number)
			wanted *= 2;
		grown = alloc_resize(callgrind->names[kind], wanted, sizeof *grown);
		if (!grown)
			return diag_no_memory(callgrind->reading->diag);
		memset(grown + capacity, 0, (wanted - capacity) * sizeof *grown);
		callgrind->names[kind] = grown;
		callgrind->name_capacity[kind] = wanted;
	}
	*named = &callgrind->names[kind][number];
	return 0;
}

/* Where in a name its callers begin: at the first ' outside of all brackets, as those of templates may have some. */
static size_t base_length(const char *name, size_t length)
{
	int depth = 0;

	for (size_t i = 0; i < length; i++) {
		if (strchr("<({[", name[i]))
			depth++;
		else if (strchr(">)}]", name[i]))
			depth--;
		else if (name[i] == '\'' && depth <= 0 && i > 0)
			return i;
	}
	return length;
}

/* Behind the level of recursion that callgrind puts after the first name, if there is one: "'2". */
static size_t skip_level(const char *name, size_t at, size_t length)
{
	size_t end = at + 1;

	while (end < length && name[end] >= '0' && name[end] <= '9')
		end++;
	return end > at + 1 && (end == length || name[end] == '\'') ? end : at;
}

static int define_function(struct callgrind *callgrind, const char *name, size_t length, const struct place *place,
			   struct named *named)
{
	struct profile *profile = callgrind->profile;
	size_t base = callgrind->is_own ? length : base_length(name, length), callers;
	int result = profile_text(profile, name, base, &named->text);

	if (!result)
		result = profile_function(profile, named->text, place->object, &named->function);
	if (result)
		return read_failed(callgrind->reading, result);
	named->context = HASH_NONE;
	if (!profile->functions[named->function].file)
		profile->functions[named->function].file = place->file;
	callers = base < length ? skip_level(name, base, length) : length;
	if (callers < length) {
		uint32_t text;

		result = profile_text(profile, name + callers + 1, length - callers - 1, &text);
		if (!result)
			result = profile_context(profile, named->function, text, &named->context);
	}
	named->is_known = !result;
	return read_failed(callgrind->reading, result);
}

static int define(struct callgrind *callgrind, int kind, const struct place *place, struct named *named)
{
	struct reading *reading = callgrind->reading;
	size_t length = (size_t)(reading->end - reading->at);

	while (length && (reading->at[length - 1] == '\r' || reading->at[length - 1] == ' '))
		length--;
	if (memchr(reading->at, 0, length))
		return callgrind_wrong(callgrind, "the name contains a NUL");
	if (kind == KIND_FUNCTION)
		return define_function(callgrind, reading->at, length, place, named);
	if (length == 3 && memcmp(reading->at, "???", 3) == 0)
		length = 0;
	named->is_known = true;
	return read_failed(reading, profile_text(callgrind->profile, reading->at, length, &named->text));
}

int callgrind_read_name(struct callgrind *callgrind, int kind, const struct place *place, struct named *named)
{
	struct reading *reading = callgrind->reading;
	struct named *kept = NULL;
	const char *start = reading->at;
	uint64_t number;
	int result;

	if (reading->end - reading->at < 2 || *reading->at != '(' || reading->at[1] < '0' || reading->at[1] > '9')
		return define(callgrind, kind, place, named);
	reading->at++;
	result = read_whole(reading, &number);
	if (result)
		return result;
	if (reading->at == reading->end || *reading->at != ')')
		return callgrind_wrong(callgrind, "expected ')' after the name's number");
	reading->at++;
	read_skip_blanks(reading);
	result = find_named(callgrind, kind, number, &kept);
	if (!result && reading->at < reading->end)
		result = define(callgrind, kind, place, kept);
	if (result)
		return result;
	if (!kept->is_known) {
		reading->at = start;
		return callgrind_wrong(callgrind, "the number is used before its name is defined");
	}
	*named = *kept;
	return 0;
}

int callgrind_read_costs(struct callgrind *callgrind, double *row, double *sums)
{
	struct reading *reading = callgrind->reading;
	unsigned event = 0;

	for (read_skip_blanks(reading); reading->at < reading->end; read_skip_blanks(reading), event++) {
		double cost;
		int result = read_cost(reading, callgrind->is_own, &cost);

		if (result)
			return result;
		if (event == callgrind->profile->event_count)
			return callgrind_wrong(callgrind, "there are more costs than event types");
		if (row)
			row[event] += cost;
		if (sums)
			sums[event] += cost;
	}
	return 0;
}
