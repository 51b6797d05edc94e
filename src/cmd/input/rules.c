// SPDX-License-Identifier: BSD-2-Clause
/* Decides what the commands that take rule files do with them first. */

#include "cmd/input/rules.h"

#include "base/diag.h"
#include "cli/print.h"
#include "cmd/input/library.h"
#include "cmd/options/settings.h"
#include "cmd/options/status.h"

#include <errno.h>

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
static int tell(struct asterism_diag *diag, int result)
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
	int result = cmd_settings_init(&settings, arguments);

	if (result) {
		diag_no_memory(diag);
	} else {
		const struct session_rules_files wanted = {
			.files = files,
			.count = count,
			.settings = settings.rows,
			.setting_count = settings.count,
		};

		result = session_rules_read_files(&wanted, diag, rules);
	}
	cmd_settings_fini(&settings);
	return tell(diag, result);
}

int cmd_read_rules(const struct cli_arguments *arguments, const char *const *files, size_t count,
		   struct session_rules **rules)
{
	struct library_files resolved;
	int status = library_resolve(files, count, &resolved);

	if (!status)
		status = cmd_read_files(arguments, resolved.files, resolved.count, rules);
	library_files_fini(&resolved);
	return status;
}

int cmd_read_catalog(struct event_catalog **catalog)
{
	struct asterism_diag *diag = asterism_diag_new();

	return tell(diag, session_catalog_new(diag, catalog));
}
