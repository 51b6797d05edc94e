// SPDX-License-Identifier: BSD-2-Clause
/*
 * Decides where installed data is looked for when nobody says: in the data directory that was built in, else beside the
 * program itself, so that a moved installation and a build folder work as they are.
 */

#include "cmd/catalogs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const beside[] = { "../share/asterism", "../../.." };

static bool has(const char *folder, const char *file)
{
	char path[PATH_MAX];

	return (size_t)snprintf(path, sizeof path, "%s/%s", folder, file) < sizeof path && access(path, R_OK) == 0;
}

bool cmd_program_folder(char *folder, size_t size)
{
	ssize_t length = readlink("/proc/self/exe", folder, size - 1);
	char *slash;

	if (length <= 0)
		return false;
	folder[length] = 0;
	slash = strrchr(folder, '/');
	if (!slash)
		return false;
	*slash = 0;
	return true;
}

bool cmd_find_data(const char *name, const char *file, char folder[PATH_MAX])
{
	char program[PATH_MAX - 64];

	snprintf(folder, PATH_MAX, "%s/%s", ASTERISM_DATA_DIR, name);
	if (has(folder, file))
		return true;
	if (!cmd_program_folder(program, sizeof program))
		return false;
	for (size_t i = 0; i < sizeof beside / sizeof *beside; i++) {
		if (snprintf(folder, PATH_MAX, "%s/%s/%s", program, beside[i], name) < PATH_MAX && has(folder, file))
			return true;
	}
	return false;
}

void cmd_find_catalogs(void)
{
	char folder[PATH_MAX];

	if (!getenv("ASTERISM_CATALOGS") && !has(ASTERISM_DATA_DIR "/catalogs", "linux.events") &&
	    cmd_find_data("catalogs", "linux.events", folder))
		setenv("ASTERISM_CATALOGS", folder, 1);
}
