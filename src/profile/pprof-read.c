// SPDX-License-Identifier: BSD-2-Clause
/*
 * Reads a file for pprof (github.com/google/pprof/proto/profile.proto, unpacked): costs of the innermost
 * functions, and who called whom in the stacks. A stack has a call once, however often it is in it. Numbers of calls
 * are not known. Tables are collected first, as they may stand in any order, and have limits of rows.
 */

#include "profile/pprof.h"
#include "profile/read-priv.h"

#include "base/alloc.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS_MAX = 1 << 22, STACK_MAX = 1 << 16, TEXT_BYTES = 1 << 16, PPROF_NUMBER_BYTES = 32 };

struct piece {
	const uint8_t *at, *end;
};

/* A string, and its number in the profile once somebody has asked: many may ask for a long one. */
struct string {
	struct piece bytes;
	uint32_t number; /* 0: not known */
};

struct field {
	unsigned number;
	uint64_t value;     /* of a number */
	struct piece bytes; /* of all else */
};

/* A mapping, a function or a location, by what it is called in the file. */
struct row {
	uint64_t id, other; /* of a location: its mapping */
	uint64_t name;      /* a string; of a location: its address */
	uint64_t file, line;
	size_t first, count; /* of a location's functions in frames */
};

struct table {
	struct row *rows;
	size_t count, capacity;
};

struct pprof {
	struct reading *reading;
	struct profile *profile;
	struct string *strings;
	struct table mappings, functions, locations;
	uint64_t *frames; /* at first the file's numbers, then the profile's */
	uint32_t *stack;
	uint32_t *marks; /* of edges: the last sample that had it */
	size_t string_count, string_capacity, frame_count, frame_capacity, mark_capacity, mark_count;
	double factors[PROFILE_EVENTS_MAX], divisors[PROFILE_EVENTS_MAX];
	uint32_t sample;
	int counter; /* the event that counts samples, or PROFILE_NONE */
};

static int wrong_pprof(struct pprof *pprof, const uint8_t *at, const char *what)
{
	pprof->reading->at = (const char *)at;
	return read_wrong(pprof->reading, "write the profile again, or use another format",
			  "it is neither a pprof file nor known text: %s", what);
}

static bool take_varint(struct piece *piece, uint64_t *value)
{
	*value = 0;
	for (unsigned shift = 0; piece->at < piece->end && shift < 64; shift += 7) {
		uint8_t byte = *piece->at++;

		*value |= (uint64_t)(byte & 127) << shift;
		if (byte < 128)
			return true;
	}
	return false;
}

/* 1: there is one; 0: the message is at its end. */
static int next_field(struct pprof *pprof, struct piece *message, struct field *field)
{
	const uint8_t *start = message->at;
	uint64_t key, length = 0;

	if (message->at == message->end)
		return 0;
	*field = (struct field){ 0 };
	if (!take_varint(message, &key) || key >> 3 == 0 || key >> 3 > 1 << 29)
		return wrong_pprof(pprof, start, "a field has no number");
	field->number = (unsigned)(key >> 3);
	switch (key & 7) {
	case PPROF_VARINT:
		return take_varint(message, &field->value) ? 1 : wrong_pprof(pprof, start, "a number is cut off");
	case PPROF_FIXED64:
		length = 8;
		break;
	case PPROF_FIXED32:
		length = 4;
		break;
	case PPROF_BYTES:
		if (take_varint(message, &length))
			break;
		return wrong_pprof(pprof, start, "a length is cut off");
	default:
		return wrong_pprof(pprof, start, "a field has an unknown type");
	}
	if (length > (uint64_t)(message->end - message->at))
		return wrong_pprof(pprof, start, "it ends within a field");
	field->bytes = (struct piece){ message->at, message->at + length };
	message->at += length;
	return 1;
}

static int add_pprof_row(struct pprof *pprof, struct table *table, const struct row *row)
{
	if (table->count == ROWS_MAX)
		return read_wrong(pprof->reading, NULL, "there are more than %d functions or locations", ROWS_MAX);
	if (alloc_grow(&table->rows, &table->capacity, table->count, sizeof *table->rows))
		return diag_no_memory(pprof->reading->diag);
	table->rows[table->count++] = *row;
	return 0;
}

static int add_pprof_frame(struct pprof *pprof, struct row *location, struct piece message)
{
	struct field field;
	uint64_t function = 0;
	int result;

	while ((result = next_field(pprof, &message, &field)) > 0) {
		if (field.number == PPROF_LINE_FUNCTION)
			function = field.value;
	}
	if (result)
		return result;
	if (pprof->frame_count == ROWS_MAX)
		return read_wrong(pprof->reading, NULL, "there are more than %d functions of locations", ROWS_MAX);
	if (alloc_grow(&pprof->frames, &pprof->frame_capacity, pprof->frame_count, sizeof *pprof->frames))
		return diag_no_memory(pprof->reading->diag);
	pprof->frames[pprof->frame_count++] = function;
	location->count++;
	return 0;
}

static int read_location(struct pprof *pprof, struct piece message)
{
	struct row row = { .first = pprof->frame_count };
	struct field field;
	int result;

	while ((result = next_field(pprof, &message, &field)) > 0) {
		if (field.number == PPROF_LOCATION_ID)
			row.id = field.value;
		else if (field.number == PPROF_LOCATION_MAPPING)
			row.other = field.value;
		else if (field.number == PPROF_LOCATION_ADDRESS)
			row.name = field.value;
		else if (field.number == PPROF_LOCATION_LINE && (result = add_pprof_frame(pprof, &row, field.bytes)))
			return result;
	}
	return result ? result : add_pprof_row(pprof, &pprof->locations, &row);
}

static int read_pprof_function(struct pprof *pprof, struct piece message)
{
	struct row row = { 0 };
	struct field field;
	int result;

	while ((result = next_field(pprof, &message, &field)) > 0) {
		if (field.number == PPROF_FUNCTION_ID)
			row.id = field.value;
		else if (field.number == PPROF_FUNCTION_NAME)
			row.name = field.value;
		else if (field.number == PPROF_FUNCTION_FILE)
			row.file = field.value;
		else if (field.number == PPROF_FUNCTION_LINE)
			row.line = field.value;
	}
	return result ? result : add_pprof_row(pprof, &pprof->functions, &row);
}

static int read_mapping(struct pprof *pprof, struct piece message)
{
	struct row row = { 0 };
	struct field field;
	int result;

	while ((result = next_field(pprof, &message, &field)) > 0) {
		if (field.number == PPROF_MAPPING_ID)
			row.id = field.value;
		else if (field.number == PPROF_MAPPING_FILE)
			row.name = field.value;
	}
	return result ? result : add_pprof_row(pprof, &pprof->mappings, &row);
}

static int add_pprof_string(struct pprof *pprof, struct piece bytes)
{
	if (pprof->string_count == ROWS_MAX)
		return read_wrong(pprof->reading, NULL, "there are more than %d strings", ROWS_MAX);
	if (alloc_grow(&pprof->strings, &pprof->string_capacity, pprof->string_count, sizeof *pprof->strings))
		return diag_no_memory(pprof->reading->diag);
	pprof->strings[pprof->string_count++] = (struct string){ .bytes = bytes };
	return 0;
}

static struct piece file_of(const struct pprof *pprof)
{
	const uint8_t *text = (const uint8_t *)pprof->reading->source->text;

	return (struct piece){ text, text + pprof->reading->source->length };
}

static int read_tables(struct pprof *pprof)
{
	struct piece file = file_of(pprof);
	struct field field;
	int result;

	while ((result = next_field(pprof, &file, &field)) > 0) {
		pprof->reading->at = (const char *)field.bytes.at;
		if (field.number == PPROF_STRING)
			result = add_pprof_string(pprof, field.bytes);
		else if (field.number == PPROF_MAPPING)
			result = read_mapping(pprof, field.bytes);
		else if (field.number == PPROF_FUNCTION)
			result = read_pprof_function(pprof, field.bytes);
		else if (field.number == PPROF_LOCATION)
			result = read_location(pprof, field.bytes);
		if (result < 0)
			break;
	}
	return result;
}

/* What may stand in a line of a profile; of a name of an event, in a word. */
static int find_pprof_text(struct pprof *pprof, uint64_t string, bool is_word, uint32_t *number)
{
	struct piece bytes = string < pprof->string_count ? pprof->strings[string].bytes : (struct piece){ 0 };
	char text[TEXT_BYTES];
	size_t length = 0;
	int result;

	text[0] = 0;
	if (!is_word && string < pprof->string_count && pprof->strings[string].number) {
		*number = pprof->strings[string].number;
		return 0;
	}
	if ((size_t)(bytes.end - bytes.at) > sizeof text)
		return wrong_pprof(pprof, bytes.at, "a name is longer than 64 KiB");
	for (; bytes.at < bytes.end; bytes.at++) {
		bool is_bad = *bytes.at < ' ' || *bytes.at == 127 || (is_word && *bytes.at == ' ');

		text[length++] = is_bad ? (is_word ? '_' : '?') : (char)*bytes.at;
	}
	result = read_failed(pprof->reading, profile_text(pprof->profile, text, length, number));
	if (!result && !is_word && string < pprof->string_count)
		pprof->strings[string].number = *number;
	return result;
}

static int compare_pprof_rows(const void *left, const void *right)
{
	const struct row *a = left, *b = right;

	return (a->id > b->id) - (a->id < b->id);
}

static const struct row *find_row(const struct table *table, uint64_t id)
{
	const struct row row = { .id = id };

	return table->count ? bsearch(&row, table->rows, table->count, sizeof row, compare_pprof_rows) : NULL;
}

static void sort_pprof_table(struct table *table)
{
	if (table->count)
		qsort(table->rows, table->count, sizeof *table->rows, compare_pprof_rows);
}

/* Costs are times a power of ten where the unit says so, as in what is exported. */
static void read_unit(struct pprof *pprof, uint64_t unit, double *factor, double *divisor)
{
	struct piece bytes = unit < pprof->string_count ? pprof->strings[unit].bytes : (struct piece){ 0 };
	double power = 1;

	*factor = *divisor = 1;
	if (bytes.end - bytes.at < 2 || bytes.end - bytes.at > 24 || (*bytes.at != '/' && *bytes.at != '*') ||
	    bytes.at[1] != '1')
		return;
	for (const uint8_t *at = bytes.at + 2; at < bytes.end; at++) {
		if (*at != '0')
			return;
		power *= 10;
	}
	*(*bytes.at == '/' ? divisor : factor) = power;
}

static int read_pprof_type(struct pprof *pprof, struct piece message)
{
	struct profile *profile = pprof->profile;
	uint64_t name = 0, unit = 0;
	struct field field;
	uint32_t text;
	int result;

	while ((result = next_field(pprof, &message, &field)) > 0) {
		if (field.number == PPROF_TYPE_NAME)
			name = field.value;
		else if (field.number == PPROF_TYPE_UNIT)
			unit = field.value;
	}
	if (!result)
		result = find_pprof_text(pprof, name, true, &text);
	if (result)
		return result;
	const char *word = profile_get_text(profile, text);

	result = profile_add_event(profile, *word ? word : "samples", *word ? strlen(word) : 7);
	if (result)
		return read_failed(pprof->reading, result);
	read_unit(pprof, unit, &pprof->factors[profile->event_count - 1], &pprof->divisors[profile->event_count - 1]);
	if (strcmp(word, "samples") == 0)
		pprof->counter = (int)profile->event_count - 1;
	return 0;
}

static int read_types(struct pprof *pprof)
{
	struct piece file = file_of(pprof);
	struct field field;
	int result;

	while ((result = next_field(pprof, &file, &field)) > 0) {
		if (field.number == PPROF_SAMPLE_TYPE && (result = read_pprof_type(pprof, field.bytes)))
			return result;
	}
	if (!result && !pprof->profile->event_count)
		return wrong_pprof(pprof, (const uint8_t *)pprof->reading->source->text,
				   "it does not name its cost types");
	return result;
}

/* The function of the profile that a function of a location is; by its address where it has none. */
static int find_pprof_function(struct pprof *pprof, const struct row *location, const struct row *function,
			       uint32_t *found)
{
	const struct row *mapping = find_row(&pprof->mappings, location->other);
	struct profile *profile = pprof->profile;
	uint32_t name, object = 0, file = 0;
	char address[PPROF_NUMBER_BYTES];
	int result;

	snprintf(address, sizeof address, location->name ? "0x%" PRIx64 : "[unknown]", location->name);
	result = function ? find_pprof_text(pprof, function->name, false, &name)
			  : read_failed(pprof->reading, profile_text(profile, address, strlen(address), &name));
	if (!result && mapping)
		result = find_pprof_text(pprof, mapping->name, false, &object);
	if (!result && function)
		result = find_pprof_text(pprof, function->file, false, &file);
	if (!result)
		result = read_failed(pprof->reading, profile_function(profile, name, object, found));
	if (!result && function) {
		profile->functions[*found].file = file;
		profile->functions[*found].line = function->line < INT32_MAX ? (uint32_t)function->line : 0;
	}
	return result;
}

/* Locations get functions of the profile, each at least one. */
static int resolve_locations(struct pprof *pprof)
{
	int result = 0;

	for (size_t i = 0; !result && i < pprof->locations.count; i++) {
		struct row *location = &pprof->locations.rows[i];
		uint32_t found = 0;

		for (size_t j = 0; !result && j < location->count; j++) {
			uint64_t *frame = &pprof->frames[location->first + j];

			result = find_pprof_function(pprof, location, find_row(&pprof->functions, *frame), &found);
			*frame = found;
		}
		if (!result && !location->count)
			result = find_pprof_function(pprof, location, NULL, &found);
		if (!location->count)
			location->line = found;
	}
	return result;
}

struct costs {
	double values[PROFILE_EVENTS_MAX];
	unsigned count;
};

static int add_pprof_value(struct pprof *pprof, struct costs *costs, uint64_t value, const uint8_t *at)
{
	if (costs->count == pprof->profile->event_count)
		return wrong_pprof(pprof, at, "a sample has more costs than there are cost types");
	if (value >> 63)
		return wrong_pprof(pprof, at, "a cost is negative, as in differences of profiles");
	costs->values[costs->count] = (double)value * pprof->factors[costs->count] / pprof->divisors[costs->count];
	costs->count++;
	return 0;
}

/* The functions of a location, the innermost first. */
static int add_location(struct pprof *pprof, uint64_t id, size_t *depth, const uint8_t *at)
{
	const struct row *location = find_row(&pprof->locations, id);

	if (!location)
		return wrong_pprof(pprof, at, "a sample has a location that is missing");
	if (*depth + location->count + 1 > STACK_MAX)
		return wrong_pprof(pprof, at, "a stack has more than 65,536 functions");
	if (!location->count)
		pprof->stack[(*depth)++] = (uint32_t)location->line;
	for (size_t i = 0; i < location->count; i++)
		pprof->stack[(*depth)++] = (uint32_t)pprof->frames[location->first + i];
	return 0;
}

static int mark_edge(struct pprof *pprof, uint32_t edge, bool *is_new)
{
	while (pprof->mark_count <= edge) {
		if (alloc_grow(&pprof->marks, &pprof->mark_capacity, pprof->mark_count, sizeof *pprof->marks))
			return -ENOMEM;
		pprof->marks[pprof->mark_count++] = 0;
	}
	*is_new = pprof->marks[edge] != pprof->sample;
	pprof->marks[edge] = pprof->sample;
	return 0;
}

static int count_stack_costs(struct pprof *pprof, const struct costs *costs, size_t depth)
{
	struct profile *profile = pprof->profile;
	uint32_t edge;
	int result = 0;

	if (!depth)
		result = find_pprof_function(pprof, &(struct row){ 0 }, NULL, &pprof->stack[depth++]);
	if (result)
		return result;
	pprof->sample++;
	for (unsigned i = 0; i < costs->count; i++)
		profile_self(profile, *pprof->stack)[i] += costs->values[i];
	for (size_t i = 1; i < depth; i++) {
		bool is_new = false;

		result = profile_edge(profile, pprof->stack[i], pprof->stack[i - 1], 0, &edge);
		if (!result)
			result = mark_edge(pprof, edge, &is_new);
		if (result)
			return read_failed(pprof->reading, result);
		for (unsigned j = 0; is_new && j < costs->count; j++)
			profile_cost(profile, edge)[j] += costs->values[j];
	}
	return 0;
}

/* Numbers of a field may stand together, or each in a field of its own. */
static int read_sample(struct pprof *pprof, struct piece message)
{
	struct costs costs = { .count = 0 };
	struct field field;
	size_t depth = 0;
	int result;

	while ((result = next_field(pprof, &message, &field)) > 0) {
		bool is_value = field.number == PPROF_SAMPLE_VALUE, is_packed = field.bytes.at != NULL;
		uint64_t number = field.value;

		if (!is_value && field.number != PPROF_SAMPLE_LOCATION)
			continue;
		while (!is_packed || field.bytes.at < field.bytes.end) {
			const uint8_t *at = is_packed ? field.bytes.at : message.at;

			if (is_packed && !take_varint(&field.bytes, &number))
				return wrong_pprof(pprof, at, "a number is cut off");
			result = is_value ? add_pprof_value(pprof, &costs, number, at)
					  : add_location(pprof, number, &depth, at);
			if (result)
				return result;
			if (!is_packed)
				break;
		}
	}
	return result ? result : count_stack_costs(pprof, &costs, depth);
}

static int read_samples(struct pprof *pprof)
{
	struct piece file = file_of(pprof);
	struct field field;
	int result;

	while ((result = next_field(pprof, &file, &field)) > 0) {
		if (field.number == PPROF_SAMPLE && (result = read_sample(pprof, field.bytes)))
			return result;
	}
	return result;
}

static int read_pprof_profile(struct pprof *pprof)
{
	struct profile *profile = pprof->profile;
	char number[PPROF_NUMBER_BYTES];
	int result = read_tables(pprof);

	sort_pprof_table(&pprof->mappings);
	sort_pprof_table(&pprof->functions);
	sort_pprof_table(&pprof->locations);
	if (!result)
		result = read_types(pprof);
	if (!result)
		result = resolve_locations(pprof);
	if (!result)
		result = read_samples(pprof);
	if (result || pprof->counter == PROFILE_NONE)
		return result;
	profile->samples = rint(profile_total(profile, (unsigned)pprof->counter));
	snprintf(number, sizeof number, "%.0f", profile->samples);
	return read_failed(pprof->reading, profile_set_info(profile, "samples", number));
}

int profile_read_pprof(struct reading *reading)
{
	struct pprof pprof = { .reading = reading,
			       .profile = reading->profile,
			       .stack = alloc_zero(STACK_MAX, sizeof *pprof.stack),
			       .counter = PROFILE_NONE };
	int result = pprof.stack ? read_pprof_profile(&pprof) : diag_no_memory(reading->diag);

	alloc_free(pprof.strings);
	alloc_free(pprof.mappings.rows);
	alloc_free(pprof.functions.rows);
	alloc_free(pprof.locations.rows);
	alloc_free(pprof.frames);
	alloc_free(pprof.stack);
	alloc_free(pprof.marks);
	return result;
}
