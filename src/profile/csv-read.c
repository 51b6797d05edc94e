// SPDX-License-Identifier: BSD-2-Clause
/*
 * Reads a CSV file as a sampled profile: lines of a function and its cost, names quoted where they have
 * commas or quotes. A first line without a number names the columns: function, object, and event types. "# key: value"
 * is about the run: period, event, cmd.
 */

#include "profile/formula.h"
#include "profile/read-priv.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CELL_BYTES = 1 << 16, COLUMNS_MAX = PROFILE_EVENTS_MAX + 2, KEY_BYTES = PROFILE_KEY_BYTES, VALUE_BYTES = 1024 };

enum column { COLUMN_FUNCTION = -1, COLUMN_OBJECT = -2 };

struct csv {
	struct reading *reading;
	struct profile *profile;
	int columns[COLUMNS_MAX]; /* an event, or what else */
	unsigned column_count;    /* 0: no line has been read */
	char cell[CELL_BYTES];
	size_t length;
};

/* The text up to the next comma, without quotes around it. */
static int read_cell(struct csv *csv)
{
	struct reading *reading = csv->reading;
	bool is_quoted;

	read_skip_blanks(reading);
	csv->length = 0;
	is_quoted = reading->at < reading->end && *reading->at == '"';
	for (reading->at += is_quoted; reading->at < reading->end; reading->at++) {
		if (is_quoted && *reading->at == '"') {
			if (reading->at + 1 == reading->end || reading->at[1] != '"')
				break;
			reading->at++;
		} else if (!is_quoted && *reading->at == ',') {
			break;
		}
		if (csv->length == CELL_BYTES - 1)
			return read_wrong(reading, NULL, "the name is longer than 64 KiB");
		if (!*reading->at)
			return read_wrong(reading, NULL, "the name contains a NUL");
		csv->cell[csv->length++] = *reading->at;
	}
	if (is_quoted && reading->at == reading->end)
		return read_wrong(reading, NULL, "the quote is not closed on this line");
	reading->at += is_quoted;
	while (!is_quoted && csv->length && strchr(" \t\r", csv->cell[csv->length - 1]))
		csv->length--;
	csv->cell[csv->length] = 0;
	read_skip_blanks(reading);
	return 0;
}

/* Behind the comma; false at the end of the line. */
static bool next_cell(struct csv *csv)
{
	return csv->reading->at < csv->reading->end && *csv->reading->at++ == ',';
}

static int name_columns(struct csv *csv)
{
	struct reading *reading = csv->reading;
	unsigned events = 0;
	int result;

	reading->at = reading->line;
	do {
		result = read_cell(csv);
		if (!result && csv->column_count == COLUMNS_MAX)
			result = read_wrong(reading, NULL, "more than %d columns", COLUMNS_MAX);
		if (result)
			return result;
		if (strcmp(csv->cell, "function") == 0) {
			csv->columns[csv->column_count++] = COLUMN_FUNCTION;
		} else if (strcmp(csv->cell, "object") == 0) {
			csv->columns[csv->column_count++] = COLUMN_OBJECT;
		} else {
			result = profile_add_event(csv->profile, csv->cell, csv->length);
			if (result)
				return read_failed(reading, result);
			csv->columns[csv->column_count++] = (int)events++;
		}
	} while (next_cell(csv));
	if (csv->columns[0] != COLUMN_FUNCTION || !events)
		return read_wrong(reading, "function,cost", "the first line names no 'function' and costs of it");
	return 0;
}

/* Two columns without names: a function and a number of samples, or of what "# event:" says. */
static int assume_columns(struct csv *csv)
{
	const char *event = profile_get_info(csv->profile, "event");

	if (!event)
		event = "samples";
	csv->columns[0] = COLUMN_FUNCTION;
	csv->columns[1] = 0;
	csv->column_count = 2;
	return read_failed(csv->reading, profile_add_event(csv->profile, event, strlen(event)));
}

static int begin_csv(struct csv *csv)
{
	struct reading *reading = csv->reading;
	int result = read_cell(csv);
	bool has_number;

	if (result)
		return result;
	if (!next_cell(csv))
		return read_wrong(reading, "lines are: function,cost",
				  "this is not callgrind's format, nor perf script's, nor CSV");
	read_skip_blanks(reading);
	has_number = read_is_digit(reading);
	if (!has_number)
		return name_columns(csv);
	reading->at = reading->line;
	return assume_columns(csv);
}

/* Cells after the function's name. */
static int read_costs(struct csv *csv, double costs[PROFILE_EVENTS_MAX], uint32_t *object)
{
	struct reading *reading = csv->reading;
	unsigned column = 1;
	int result = 0;

	for (; !result && next_cell(csv); column++) {
		if (column == csv->column_count)
			return read_wrong(reading, "write a name that contains a comma in quotes",
					  "more than %u columns", csv->column_count);
		read_skip_blanks(reading);
		if (csv->columns[column] == COLUMN_OBJECT) {
			result = read_cell(csv);
			if (!result)
				result = read_failed(reading,
						     profile_text(csv->profile, csv->cell, csv->length, object));
		} else if (csv->columns[column] >= 0) {
			result = read_cost(reading, true, &costs[csv->columns[column]]);
			read_skip_blanks(reading);
		}
		if (!result && reading->at < reading->end && *reading->at != ',')
			return read_wrong(reading, NULL, "expected a comma or the end of the line");
	}
	if (!result && column < csv->column_count)
		return read_wrong(reading, NULL, "fewer than %u columns", csv->column_count);
	return result;
}

static int read_row(struct csv *csv)
{
	struct reading *reading = csv->reading;
	double costs[PROFILE_EVENTS_MAX] = { 0 };
	uint32_t name, object = 0, function;
	int result = read_cell(csv);

	if (!result)
		result = read_failed(reading, profile_text(csv->profile, csv->cell, csv->length, &name));
	if (!result)
		result = read_costs(csv, costs, &object);
	if (!result)
		result = read_failed(reading, profile_function(csv->profile, name, object, &function));
	for (unsigned i = 0; !result && i < csv->profile->event_count; i++)
		profile_self(csv->profile, function)[i] += costs[i];
	return result;
}

static int read_info(struct csv *csv)
{
	struct reading *reading = csv->reading;
	const char *colon = memchr(reading->at, ':', (size_t)(reading->end - reading->at));
	char key[KEY_BYTES], value[VALUE_BYTES];
	size_t length;

	if (!colon)
		return 0;
	reading->at++;
	read_skip_blanks(reading);
	length = colon > reading->at ? (size_t)(colon - reading->at) : 0;
	if (!length || length >= sizeof key || csv->profile->info_count >= 256)
		return 0;
	memcpy(key, reading->at, length);
	key[length] = 0;
	reading->at = colon + 1;
	read_skip_blanks(reading);
	length = (size_t)(reading->end - reading->at);
	while (length && strchr(" \t\r", reading->at[length - 1]))
		length--;
	length = length < sizeof value ? length : sizeof value - 1;
	memcpy(value, reading->at, length);
	value[length] = 0;
	/* Else it is the one of which there are costs. */
	if (strcmp(key, "event") == 0 && strchr(value, '=')) {
		int result = profile_describe_event(csv->profile, value, length);

		return result == -EINVAL ? 0 : read_failed(reading, result);
	}
	return read_failed(reading, profile_set_info(csv->profile, key, value));
}

static int read_csv_line(struct csv *csv)
{
	struct reading *reading = csv->reading;
	int result = 0;

	read_skip_blanks(reading);
	if (reading->at == reading->end)
		return 0;
	if (*reading->at == '#')
		return read_info(csv);
	if (csv->column_count)
		return read_row(csv);
	result = begin_csv(csv);
	return result || reading->at == reading->end ? result : read_row(csv);
}

/* A cost is so many samples, each of a period. */
static void count_samples(struct csv *csv)
{
	const char *period = profile_get_info(csv->profile, "period");
	double length = period ? strtod(period, NULL) : 1;

	if (length > 0 && isfinite(length))
		csv->profile->samples = profile_total(csv->profile, 0) / length;
}

int profile_read_csv(struct reading *reading)
{
	struct csv csv = { .reading = reading, .profile = reading->profile };
	int result = 0;

	while (!result && read_next_line(reading))
		result = read_csv_line(&csv);
	if (!result && !csv.column_count)
		result = read_wrong(reading, "lines are: function,cost", "the file has no costs");
	if (!result)
		count_samples(&csv);
	return result;
}
