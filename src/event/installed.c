// SPDX-License-Identifier: BSD-2-Clause
/* The directories that are searched before the catalogs that are built in. */

#include "event/catalog-priv.h"
#include "event/installed.h"

#include <stdlib.h>
#include <string.h>

/* Every session reads these. */
static const char *const always[] = { "linux.events", "syscalls.events" };

const char *event_installed_own(void)
{
	const char *own = secure_getenv("ASTERISM_CATALOGS");

	return own && *own ? own : NULL;
}

const char *event_installed_folder(size_t index)
{
	const char *own = event_installed_own();
	const char *const folders[] = { own ? own : ASTERISM_DATA_DIR "/catalogs", ASTERISM_DATA_DIR "/catalogs" };
	size_t count = own ? 2 : 1;

	return index < count ? folders[index] : NULL;
}

static bool is_more(const char *name)
{
	const char *ending = strrchr(name, '.');

	for (size_t i = 0; i < sizeof always / sizeof *always; i++) {
		if (strcmp(name, always[i]) == 0)
			return false;
	}
	return ending && strcmp(ending, ".events") == 0;
}

const char *event_installed_more(size_t index)
{
	for (const struct embedded_file *file = event_embedded; file->name; file++) {
		if (is_more(file->name) && index-- == 0)
			return file->name;
	}
	return NULL;
}
