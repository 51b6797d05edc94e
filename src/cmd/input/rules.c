// SPDX-License-Identifier: BSD-2-Clause
/* Loads rule files for the commands that take them. */

#include "cmd/input/rules.h"

#include "base/alloc.h"
#include "base/diag.h"
#include "cli/print.h"
#include "cmd/input/library.h"
#include "cmd/input/measures.h"
#include "cmd/options/settings.h"
#include "cmd/options/status.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

int cmd_status_of(int result)
{
	switch (result) {
	case 0:
		return STATUS_FINE;
	case -EPERM:
	case -EACCES:
	case -EOPNOTSUPP:
		return STATUS_KERNEL;
	default:
		return STATUS_USAGE;
	}
}

/* Prints and frees the diag, gives the status. */
static int report_rules_diag(struct asterism_diag *diag, int result)
{
	if (!diag)
		cli_error("out of memory");
	else
		cli_print(diag);
	asterism_diag_free(diag);
	return cmd_status_of(result);
}

int cmd_read_files(const struct cli_arguments *arguments, const struct session_rules_file *files, size_t count,
		   struct session_rules **rules)
{
	struct asterism_diag *diag = asterism_diag_new();
	struct cmd_settings settings;
	struct program_measures *measures = NULL;
	int result = cmd_settings_init(&settings, arguments) ? diag_no_memory(diag)
							     : cmd_measures_read(arguments, diag, &measures);

	if (!result) {
		const struct session_rules_files wanted = {
			.files = files,
			.count = count,
			.settings = settings.rows,
			.setting_count = settings.count,
			.exceptions = arguments->options[OPTION_EXCEPT].texts,
			.exception_count = arguments->options[OPTION_EXCEPT].count,
			.measures = measures,
			.as_written = cmd_order_is_written(arguments),
			.wants_events = cli_has(arguments, OPTION_BETWEEN),
		};

		result = session_rules_read_files(&wanted, diag, rules);
	}
	if (result)
		program_measures_free(measures);
	cmd_settings_fini(&settings);
	return report_rules_diag(diag, result);
}

/* What messages call the texts of -r, and how the rules of those without a frame are called. */
struct typed {
	char name[16], rule[16];
};

static int add_typed(const struct cli_value *texts, struct library_files *resolved, struct typed *typed)
{
	for (size_t i = 0; i < texts->count; i++) {
		struct session_rules_file file = { .path = typed[i].name, .text = texts->texts[i] };

		snprintf(typed[i].name, sizeof typed->name, texts->count > 1 ? "-r %zu" : "-r", i + 1);
		snprintf(typed[i].rule, sizeof typed->rule, i ? "rule%zu" : "rule", i + 1);
		file.length = strlen(file.text);
		file.bare_rule = typed[i].rule;
		if (library_add(resolved, &file))
			return STATUS_USAGE;
	}
	return STATUS_FINE;
}

int cmd_read_rules(const struct cli_arguments *arguments, const char *const *files, size_t count,
		   struct session_rules **rules)
{
	const struct cli_value *texts = &arguments->options[OPTION_RULE];
	struct typed *typed = alloc_zero(texts->count, sizeof *typed);
	struct library_files resolved = { 0 };
	int status = typed ? STATUS_FINE : STATUS_USAGE;

	if (!typed)
		cli_error("out of memory");
	else if (count || !texts->count)
		status = library_resolve(files, count, &resolved);
	if (!status)
		status = add_typed(texts, &resolved, typed);
	if (!status)
		status = cmd_read_files(arguments, resolved.files, resolved.count, rules);
	library_files_fini(&resolved);
	alloc_free(typed);
	return status;
}

int cmd_read_catalog(struct event_catalog **catalog)
{
	struct asterism_diag *diag = asterism_diag_new();

	return report_rules_diag(diag, session_catalog_new(diag, catalog));
}

int cmd_add_catalogs(const struct cli_arguments *arguments, struct event_catalog *catalog, struct asterism_diag *diag)
{
	const struct cli_value *files = &arguments->options[OPTION_CATALOG];
	int result = 0;

	for (size_t i = 0; i < files->count && !result; i++) {
		result = event_catalog_read(catalog, ".", files->texts[i], diag);
		if (result == -ENOENT)
			result = diag_error(diag, NULL, -EINVAL, "catalog not found: '%s'", files->texts[i]);
	}
	return result;
}
