// SPDX-License-Identifier: BSD-2-Clause
/*
 * Decides where catalogs are looked for when nobody says: in the data directory that was built in, else beside the
 * program itself, so that a moved installation and a build folder work as they are.
 */

#include "cmd/catalogs.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const beside[] = { "../share/asterism/catalogs", "../../../catalogs" };

static bool has_catalog(const char *folder)
{
	char path[PATH_MAX];

	return (size_t)snprintf(path, sizeof path, "%s/linux.events", folder) < sizeof path && access(path, R_OK) == 0;
}

void cmd_find_catalogs(void)
{
	char program[PATH_MAX - 64], folder[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
	char *slash;

	if (getenv("ASTERISM_CATALOGS") || has_catalog(ASTERISM_DATA_DIR "/catalogs") || length <= 0)
		return;
	program[length] = 0;
	slash = strrchr(program, '/');
	if (!slash)
		return;
	*slash = 0;
	for (size_t i = 0; i < sizeof beside / sizeof *beside; i++) {
		snprintf(folder, sizeof folder, "%s/%s", program, beside[i]);
		if (has_catalog(folder)) {
			setenv("ASTERISM_CATALOGS", folder, 1);
			return;
		}
	}
}
