// SPDX-License-Identifier: BSD-2-Clause
/* Reads a file of measures: its lines that begin with a rule's "why"; all others are passed over. */

#include "cmd/input/measures.h"

#include "base/alloc.h"
#include "cmd/text/json.h"
#include "session/load/input.h"

#include <errno.h>
#include <string.h>

enum { FILE_BYTES_MAX = 1 << 26 };

static const char written[] = "written";

bool cmd_order_is_written(const struct cli_arguments *arguments)
{
	const char *file = arguments->options[OPTION_ORDER_BY].text;

	return file && strcmp(file, written) == 0;
}

/* The texts of row are those of what the condition belongs to. Returns 0, -EINVAL, -ENOMEM. */
static int add_condition(struct program_measures *measures, struct program_measure row, const json_t *from)
{
	const json_t *asked = json_object_get(from, "asked"), *was_true = json_object_get(from, "true");
	const char *of = json_string_value(json_object_get(from, "of"));

	row.condition = json_string_value(json_object_get(from, "condition"));
	row.is_hold = of && strcmp(of, "hold") == 0;
	row.asked = (uint64_t)json_integer_value(asked);
	row.was_true = (uint64_t)json_integer_value(was_true);
	if (!of || !row.condition || !json_is_integer(asked) || !json_is_integer(was_true) ||
	    json_integer_value(was_true) < 0 || row.was_true > row.asked)
		return -EINVAL;
	return program_measures_add(measures, &row);
}

static int add_transition(struct program_measures *measures, const char *rule, const json_t *from)
{
	const json_t *conditions = json_object_get(from, "conditions"), *condition;
	const struct program_measure row = {
		.rule = rule,
		.state = json_string_value(json_object_get(from, "state")),
		.event = json_string_value(json_object_get(from, "event")),
		.target = json_string_value(json_object_get(from, "target")),
	};
	size_t i;
	int result = 0;

	if (!row.state || !row.event || !row.target || !json_is_array(conditions))
		return -EINVAL;
	json_array_foreach(conditions, i, condition) if (!result) result = add_condition(measures, row, condition);
	return result;
}

static int add_rule(struct program_measures *measures, const json_t *from)
{
	const json_t *transitions = json_object_get(from, "transitions"), *transition;
	const char *rule = json_string_value(json_object_get(from, "why"));
	size_t i;
	int result = 0;

	if (!rule || !json_is_array(transitions))
		return -EINVAL;
	json_array_foreach(transitions, i, transition) if (!result) result = add_transition(measures, rule, transition);
	return result;
}

static int read_measures_line(struct program_measures *measures, const char *line, size_t length)
{
	static const char start[] = "{\"why\":";
	json_error_t error;
	json_t *object;
	int result;

	if (length < strlen(start) || memcmp(line, start, strlen(start)) != 0)
		return 0;
	object = cmd_json_load(line, length, &error);
	if (!object)
		return json_error_code(&error) == json_error_out_of_memory ? -ENOMEM : -EINVAL;
	result = add_rule(measures, object);
	json_decref(object);
	return result;
}

static int read_lines(struct program_measures *measures, const char *file, const char *text, struct asterism_diag *diag)
{
	struct diag_source source = { .file = file };
	struct diag_location location = { .source = &source, .column = 1 };
	int result = 0;

	for (const char *line = text; *line && !result;) {
		size_t length = strcspn(line, "\n");

		location.line++;
		result = read_measures_line(measures, line, length);
		line += length + (line[length] != 0);
	}
	if (result == -EINVAL)
		return diag_error(diag, &location, result,
				  "this line was not written by 'asterism replay --why -f json'");
	if (result)
		return diag_no_memory(diag);
	if (measures->count)
		return 0;
	location.line = location.column = 0;
	return diag_error(diag, &location, -EINVAL,
			  "the file has no measured conditions: use the output of 'asterism replay --why -f json'");
}

int cmd_measures_read(const struct cli_arguments *arguments, struct asterism_diag *diag,
		      struct program_measures **read_measures)
{
	const char *file = arguments->options[OPTION_ORDER_BY].text;
	struct program_measures *measures;
	size_t length;
	char *text;
	int result;

	*read_measures = NULL;
	if (!file || cmd_order_is_written(arguments))
		return 0;
	measures = program_measures_new();
	if (!measures)
		return diag_no_memory(diag);
	result = session_input_read(file, FILE_BYTES_MAX, diag, &text, &length);
	if (!result) {
		result = read_lines(measures, session_input_name(file), text, diag);
		alloc_free(text);
	}
	if (result)
		program_measures_free(measures);
	else
		*read_measures = measures;
	return result;
}
