// SPDX-License-Identifier: BSD-2-Clause
/* Parses values of parameters on the command line: NAME=VALUE, or FILE.NAME=VALUE for one file. */

#include "cmd/options/settings.h"

#include "base/alloc.h"
#include "base/diag.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

static bool is_variable_name(const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		if (!isalpha((unsigned char)text[i]) && text[i] != '_' && (i == 0 || !isdigit((unsigned char)text[i])))
			return false;
	}
	return length > 0;
}

/* A name, or that of a file's own: anything, a dot and a name. */
static bool is_setting_name(const char *text, size_t length)
{
	const char *dot = memrchr(text, '.', length);

	if (!dot)
		return is_variable_name(text, length);
	return dot > text && is_variable_name(dot + 1, length - (size_t)(dot + 1 - text));
}

int cmd_settings_check(const struct cli_value *before, const char *text, struct asterism_diag *diag)
{
	size_t length = strcspn(text, "=");

	if (!is_setting_name(text, length) || text[length] == 0 || text[length + 1] == 0) {
		diag_add(diag, ASTERISM_ERROR, NULL,
			 "write, for example, --set limit=100ms, or --set slow-syscall.limit=100ms",
			 "--set: '%s' is not NAME=VALUE", text);
		return -EINVAL;
	}
	for (size_t i = 0; i < before->count; i++) {
		if (strncmp(before->texts[i], text, length + 1) == 0)
			return diag_error(diag, NULL, -EINVAL, "--set gives %.*s two values: %s and %s", (int)length,
					  text, before->texts[i] + length + 1, text + length + 1);
	}
	return 0;
}

/* Adds the settings that are of one file, or that are not. */
static int add_settings_of(struct cmd_settings *settings, const struct cli_value *given, bool of_file)
{
	for (size_t i = 0; i < given->count; i++) {
		const char *text = given->texts[i];
		size_t length = strcspn(text, "=");
		char *name;

		if ((memchr(text, '.', length) != NULL) != of_file)
			continue;
		name = alloc_text(text);
		if (!name)
			return -ENOMEM;
		name[length] = 0;
		settings->names[settings->count] = name;
		settings->rows[settings->count++] = (struct lang_setting){ .name = name, .text = text + length + 1 };
	}
	return 0;
}

int cmd_settings_init(struct cmd_settings *settings, const struct cli_arguments *arguments)
{
	const struct cli_value *given = &arguments->options[OPTION_SET];
	int result;

	*settings = (struct cmd_settings){ .rows = alloc_zero(given->count, sizeof *settings->rows),
					   .names = alloc_zero(given->count, sizeof *settings->names) };
	if (!settings->rows || !settings->names)
		return -ENOMEM;
	result = add_settings_of(settings, given, false);
	return result ? result : add_settings_of(settings, given, true);
}

void cmd_settings_fini(struct cmd_settings *settings)
{
	for (size_t i = 0; i < settings->count; i++)
		alloc_free(settings->names[i]);
	alloc_free(settings->names);
	alloc_free(settings->rows);
}
