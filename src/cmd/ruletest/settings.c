// SPDX-License-Identifier: BSD-2-Clause
/* Reads the parameters of a test. */

#include "base/alloc.h"
#include "cmd/ruletest/run.h"
#include "session/load/input.h"

#include <errno.h>
#include <string.h>

enum { SET_BYTES_MAX = 1 << 16 };

void test_settings_fini(struct test_settings *settings)
{
	alloc_free(settings->text);
	alloc_free(settings->lines);
	alloc_free(settings->rows);
	*settings = (struct test_settings){ 0 };
}

static int add_setting(struct test_settings *settings, const struct lang_setting *setting)
{
	for (size_t i = 0; i < settings->count; i++) {
		if (strcmp(settings->rows[i].name, setting->name) == 0) {
			settings->rows[i] = *setting;
			return 0;
		}
	}
	if (alloc_grow(&settings->rows, &settings->capacity, settings->count, sizeof *settings->rows))
		return -ENOMEM;
	settings->rows[settings->count++] = *setting;
	return 0;
}

static char *trim(char *text)
{
	size_t length;

	text += strspn(text, " \t\r");
	length = strlen(text);
	while (length && strchr(" \t\r", text[length - 1]))
		length--;
	text[length] = 0;
	return text;
}

static int wrong_setting(const char *file, uint32_t number, struct asterism_diag *diag)
{
	struct diag_source source = { .file = file };
	struct diag_location location = { .source = &source, .line = number, .column = 1, .length = 1 };

	diag_add(diag, ASTERISM_ERROR, &location, "write, for example, limit=100ms", "this is not NAME=VALUE");
	return -EINVAL;
}

static int read_settings_line(struct test_settings *settings, struct lang_setting_line *from, char *text,
			      struct asterism_diag *diag)
{
	char *line = trim(text), *equals = strchr(line, '=');
	struct lang_setting setting;

	if (!*line || *line == '#')
		return 0;
	if (!equals || equals == line || !*trim(equals + 1))
		return wrong_setting(from->file, from->number, diag);
	*equals = 0;
	setting = (struct lang_setting){ .name = trim(line), .text = trim(equals + 1) };
	from->name_at = (uint32_t)(setting.name - text);
	from->value_at = (uint32_t)(setting.text - text);
	setting.line = *from;
	return add_setting(settings, &setting) ? diag_no_memory(diag) : 0;
}

static int read_lines(struct test_settings *settings, const char *file, struct asterism_diag *diag)
{
	char *rest = settings->text, *rest_as_it_is = settings->lines, *line;
	struct lang_setting_line from = { .file = file };
	int result = 0;

	while (!result && (line = strsep(&rest, "\n"))) {
		from.text = strsep(&rest_as_it_is, "\n");
		from.number++;
		result = read_settings_line(settings, &from, line, diag);
	}
	return result;
}

int test_settings_read(struct test_settings *settings, const struct test_options *options, const char *file,
		       struct asterism_diag *diag)
{
	size_t length;
	int result = 0;

	*settings = (struct test_settings){ 0 };
	for (size_t i = 0; i < options->setting_count && !result; i++) {
		if (add_setting(settings, &options->settings[i]))
			result = diag_no_memory(diag);
	}
	if (!result && file)
		result = session_input_read(file, SET_BYTES_MAX, diag, &settings->text, &length);
	if (!result && file && !(settings->lines = alloc_text(settings->text)))
		result = diag_no_memory(diag);
	if (!result && file)
		result = read_lines(settings, file, diag);
	return result;
}
