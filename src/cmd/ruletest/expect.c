// SPDX-License-Identifier: BSD-2-Clause
/* Reads an .expect file, and compares the matches of a test with it. */

#include "cmd/ruletest/expect.h"

#include "base/alloc.h"
#include "cmd/ruletest/compare.h"
#include "cmd/text/json.h"
#include "session/load/input.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { EXPECT_BYTES_MAX = 1 << 24, SHOWN_MAX = 10, ALIGNED_MAX = 1 << 20 };

void test_expected_fini(struct test_expected *expected)
{
	for (size_t i = 0; i < expected->count; i++) {
		json_decref(expected->lines[i].object);
		json_decref(expected->lines[i].count);
		alloc_free(expected->lines[i].text);
	}
	alloc_free(expected->lines);
	alloc_free(expected->file);
	json_decref(expected->lost);
	*expected = (struct test_expected){ 0 };
}

void test_found_fini(struct test_found *found)
{
	json_decref(found->matches);
	*found = (struct test_found){ 0 };
}

int test_found_add(struct test_found *found, const char *line, size_t length)
{
	json_error_t error;
	json_t *match = cmd_json_load(line, length, &error);

	if (!match)
		return -EINVAL;
	if (!found->matches)
		found->matches = json_array();
	return json_array_append_new(found->matches, match) ? -ENOMEM : 0;
}

/* One line of the file, while it is read. */
struct reading {
	struct test_expected *expected;
	struct diag_source source;
	struct asterism_diag *diag;
	const char *line;
	size_t length;
	uint32_t number;
};

static int wrong_expectation(const struct reading *reading, size_t column, const char *hint, const char *text)
{
	struct diag_location location = {
		.source = &reading->source,
		.offset = (uint64_t)(reading->line - reading->source.text) + column,
		.line = reading->number,
		.column = (uint32_t)column + 1,
		.length = 1,
	};

	diag_add(reading->diag, ASTERISM_ERROR, &location, hint, "%s", text);
	return -EINVAL;
}

static int check_number(const struct reading *reading, const char *word, const json_t *value)
{
	char text[80];

	if ((json_is_integer(value) && json_integer_value(value) >= 0) ||
	    (json_is_string(value) && compare_is_relation(json_string_value(value))))
		return 0;
	snprintf(text, sizeof text, "\"%s\" is neither a number nor a comparison", word);
	return wrong_expectation(reading, 0, "write, for example, 3 or \">=1\"", text);
}

/* {"lost": n}: takes object. */
static int add_lost(struct reading *reading, json_t *object)
{
	json_t *lost = json_object_get(object, "lost");
	int result = check_number(reading, "lost", lost);

	if (!result && reading->expected->lost)
		result = wrong_expectation(reading, 0, NULL, "the losses to accept are given twice");
	if (!result)
		reading->expected->lost = json_incref(lost);
	json_decref(object);
	return result;
}

static int add_line(struct reading *reading, json_t *object)
{
	struct test_expected *expected = reading->expected;
	struct test_expected_line *line;

	if (json_object_size(object) == 1 && json_object_get(object, "lost"))
		return add_lost(reading, object);
	if (alloc_grow(&expected->lines, &expected->capacity, expected->count, sizeof *expected->lines)) {
		json_decref(object);
		return diag_no_memory(reading->diag);
	}
	line = &expected->lines[expected->count++];
	*line = (struct test_expected_line){ .object = object, .line = reading->number };
	line->text = alloc_zero(reading->length + 1, 1);
	if (!line->text)
		return diag_no_memory(reading->diag);
	memcpy(line->text, reading->line, reading->length);
	line->count = json_incref(json_object_get(object, "count"));
	if (!line->count)
		return 0;
	json_object_del(object, "count");
	return check_number(reading, "count", line->count);
}

static int read_expected_line(struct reading *reading)
{
	json_error_t error;
	json_t *object;
	size_t blank = strspn(reading->line, " \t\r"), column;

	if (blank >= reading->length || reading->line[blank] == '#')
		return 0;
	object = cmd_json_load(reading->line, reading->length, &error);
	if (object && json_is_object(object))
		return add_line(reading, object);
	if (object) {
		json_decref(object);
		return wrong_expectation(reading, blank, "{\"match\":\"NAME\"} expects a match of NAME",
					 "this is not a JSON object");
	}
	if (json_error_code(&error) == json_error_out_of_memory)
		return diag_no_memory(reading->diag);
	column = error.position > 0 ? (size_t)error.position - 1 : 0;
	return wrong_expectation(reading, column < reading->length ? column : reading->length - 1, NULL, error.text);
}

int test_expected_read(struct test_expected *expected, const char *file, struct asterism_diag *diag)
{
	struct reading reading = { .expected = expected, .diag = diag };
	char *text;
	size_t length;
	int result;

	*expected = (struct test_expected){ .file = alloc_text(file) };
	if (!expected->file)
		return diag_no_memory(diag);
	result = session_input_read(file, EXPECT_BYTES_MAX, diag, &text, &length);
	if (result)
		return result;
	reading.source = (struct diag_source){ .file = file, .text = text, .length = length };
	for (const char *line = text; line < text + length && !result; line += reading.length + 1) {
		const char *end = memchr(line, '\n', (size_t)(text + length - line));

		reading.line = line;
		reading.length = (size_t)((end ? end : text + length) - line);
		reading.number++;
		result = read_expected_line(&reading);
	}
	alloc_free(text);
	return result;
}

/* The lines that stand for one match each, and the matches that are left for them; pairs[i]: the match of line i. */
struct alignment {
	const struct test_expected *expected;
	const struct test_expected_line **lines;
	json_t **matches;
	bool *taken; /* per match: a line has it, or it was named as the nearest */
	size_t *pairs;
	size_t line_count, match_count;
	struct text_buffer *why;
	unsigned shown;
};

#define NO_MATCH SIZE_MAX

/* Says one thing more, unless there was enough of that already. */
static bool may_say(struct alignment *alignment)
{
	if (alignment->shown == SHOWN_MAX)
		text_append(alignment->why, "and more\n");
	return alignment->shown++ < SHOWN_MAX;
}

static void put_compared_json(struct text_buffer *why, const char *before, const json_t *value)
{
	char *text = json_dumps(value, JSON_COMPACT);

	text_printf(why, "%s%s\n", before, text ? text : "?");
	free(text);
}

/* What it is worth that a line stands opposite a match: much where they fit, little where one is in the other's place.
 */
static uint32_t worth(const struct alignment *alignment, size_t line, size_t match)
{
	return compare_fits(alignment->lines[line]->object, alignment->matches[match]) ? 4 : 1;
}

/* From the end on: best[i][j] is what the lines from i and the matches from j are worth together. */
static uint32_t *weigh_alignment(const struct alignment *alignment)
{
	size_t rows = alignment->line_count, columns = alignment->match_count, width = columns + 1;
	uint32_t *best = (rows + 1) * width <= ALIGNED_MAX ? alloc_zero((rows + 1) * width, sizeof *best) : NULL;

	for (size_t i = rows; best && i-- > 0;) {
		for (size_t j = columns; j-- > 0;) {
			uint32_t both = best[(i + 1) * width + j + 1] + worth(alignment, i, j);
			uint32_t without_line = best[(i + 1) * width + j], without_match = best[i * width + j + 1];

			if (both < without_line)
				both = without_line;
			best[i * width + j] = both < without_match ? without_match : both;
		}
	}
	return best;
}

/* Lines and matches side by side, so that one match too few or too many is told as just that. */
static void align_lines(struct alignment *alignment)
{
	size_t width = alignment->match_count + 1, i = 0, j = 0;
	uint32_t *best = weigh_alignment(alignment);

	while (i < alignment->line_count && j < alignment->match_count) {
		uint32_t here = worth(alignment, i, j);

		if (!best || best[i * width + j] == best[(i + 1) * width + j + 1] + here) {
			if (here > 1) {
				alignment->taken[j] = true;
				alignment->pairs[i] = j;
			}
			i++, j++;
		} else if (best[(i + 1) * width + j] >= best[i * width + j + 1]) {
			i++;
		} else {
			j++;
		}
	}
	alloc_free(best);
}

/* Among the matches that are not taken, the one that lacks least of line; one of the same rule first. */
static size_t find_nearest(const struct alignment *alignment, const struct test_expected_line *line)
{
	const json_t *name = json_object_get(line->object, "match");
	size_t nearest = NO_MATCH;
	unsigned least = 0;

	for (size_t i = 0; i < alignment->match_count; i++) {
		unsigned differences;

		if (alignment->taken[i] || (name && !json_equal(name, json_object_get(alignment->matches[i], "match"))))
			continue;
		differences = compare_differences(line->object, alignment->matches[i], NULL);
		if (nearest == NO_MATCH || differences < least) {
			nearest = i;
			least = differences;
		}
	}
	return nearest;
}

/* Why no match is left for the line: its rule has matched less often than is expected. */
static void explain_missing(const struct alignment *alignment, const struct test_expected_line *line)
{
	const json_t *name = json_object_get(line->object, "match");
	size_t count = 0;

	if (!json_is_string(name)) {
		text_append(alignment->why, "there was no such line\n");
		return;
	}
	for (size_t i = 0; i < alignment->match_count; i++)
		count += json_equal(name, json_object_get(alignment->matches[i], "match"));
	text_printf(alignment->why, "rule '%s' had %s%zu match%s\n", json_string_value(name), count ? "only " : "",
		    count, count == 1 ? "" : "es");
}

static void explain_line(struct alignment *alignment, const struct test_expected_line *line)
{
	size_t nearest = find_nearest(alignment, line);
	struct text_buffer *why = alignment->why;

	if (!may_say(alignment))
		return;
	text_printf(why, "expected: %s (%s:%" PRIu32 ")\n", line->text, alignment->expected->file, line->line);
	if (nearest == NO_MATCH) {
		explain_missing(alignment, line);
		return;
	}
	alignment->taken[nearest] = true;
	put_compared_json(why, "nearest:  ", alignment->matches[nearest]);
	text_append(why, "differs:  ");
	if (compare_differences(line->object, alignment->matches[nearest], why) == 0)
		text_append(why, "it is not at this position");
	text_append(why, "\n");
}

static void explain_mismatch(struct alignment *alignment)
{
	align_lines(alignment);
	for (size_t i = 0; i < alignment->line_count; i++) {
		if (alignment->pairs[i] == NO_MATCH)
			explain_line(alignment, alignment->lines[i]);
	}
	for (size_t i = 0; i < alignment->match_count; i++) {
		if (!alignment->taken[i] && may_say(alignment))
			put_compared_json(alignment->why, "unexpected: ", alignment->matches[i]);
	}
}

static bool fits_in_order(const struct alignment *alignment)
{
	if (alignment->line_count != alignment->match_count)
		return false;
	for (size_t i = 0; i < alignment->line_count; i++) {
		if (!compare_fits(alignment->lines[i]->object, alignment->matches[i]))
			return false;
	}
	return true;
}

/* Whether so many are as many as wanted says; NULL: none. */
static bool fits_number(const json_t *wanted, uint64_t number)
{
	json_t *actual = json_integer((json_int_t)number);
	bool fits = wanted ? actual && compare_fits(wanted, actual) : number == 0;

	json_decref(actual);
	return fits;
}

/* Gives the lines with a count their matches; the others are left in the alignment. */
static bool fits_counts(struct alignment *alignment, const struct test_expected *expected,
			const struct test_found *found, uint64_t *counts)
{
	bool fits = true;
	json_t *match;
	size_t index;

	json_array_foreach(found->matches, index, match)
	{
		size_t line = 0;

		while (line < expected->count &&
		       !(expected->lines[line].count && compare_fits(expected->lines[line].object, match)))
			line++;
		if (line < expected->count)
			counts[line]++;
		else
			alignment->matches[alignment->match_count++] = match;
	}
	for (size_t i = 0; i < expected->count; i++) {
		const struct test_expected_line *line = &expected->lines[i];

		if (!line->count) {
			alignment->pairs[alignment->line_count] = NO_MATCH;
			alignment->lines[alignment->line_count++] = line;
		} else if (!fits_number(line->count, counts[i])) {
			fits = false;
			if (may_say(alignment))
				text_printf(alignment->why, "expected: %s (%s:%" PRIu32 ")\nthere were %" PRIu64 "\n",
					    line->text, expected->file, line->line, counts[i]);
		}
	}
	return fits;
}

bool test_expected_fits(const struct test_expected *expected, const struct test_found *found, struct text_buffer *why)
{
	size_t found_count = json_array_size(found->matches);
	struct alignment alignment = {
		.expected = expected,
		.lines = alloc_zero(expected->count + 1, sizeof(struct test_expected_line *)),
		.pairs = alloc_zero(expected->count + 1, sizeof(size_t)),
		.matches = alloc_zero(found_count + 1, sizeof(json_t *)),
		.taken = alloc_zero(found_count + 1, sizeof(bool)),
		.why = why,
	};
	uint64_t *counts = alloc_zero(expected->count + 1, sizeof *counts);
	bool fits = false;

	if (alignment.lines && alignment.pairs && alignment.matches && alignment.taken && counts) {
		fits = fits_counts(&alignment, expected, found, counts);
		if (!fits_in_order(&alignment)) {
			fits = false;
			explain_mismatch(&alignment);
		}
	} else {
		text_append(why, "out of memory\n");
	}
	if (!fits_number(expected->lost, found->lost)) {
		fits = false;
		text_printf(why, "%" PRIu64 " events or runs were lost\n", found->lost);
	}
	alloc_free(alignment.lines);
	alloc_free(alignment.pairs);
	alloc_free(alignment.matches);
	alloc_free(alignment.taken);
	alloc_free(counts);
	return fits;
}
