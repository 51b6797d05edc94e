// SPDX-License-Identifier: BSD-2-Clause
/* Any file as EVENTS "sensor:FILE" reads it: its notes are gone through, and what they say is parsed as a catalog. */

#include "event/catalog.h"
#include "sensor/catalog.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { SIZE_MAX_READ = 1 << 16 };

static int read_paragraph(void *context, const char *text)
{
	if (!sensor_catalog_is_paragraph(text))
		return -1;
	return event_catalog_parse(context, "note", text, strlen(text), NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct event_catalog_access access = { .files = EVENT_FILES_NONE, .is_foreign = true };
	struct event_catalog *catalog = event_catalog_new();
	int fd = memfd_create("note", MFD_CLOEXEC);
	char path[32];

	if (!catalog || fd < 0 || size > SIZE_MAX_READ || write(fd, data, size) != (ssize_t)size)
		abort();
	event_catalog_restrict(catalog, &access);
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	int count = sensor_catalog_each(path, read_paragraph, catalog);

	if (count > (int)(size / sizeof(uint32_t)))
		abort();
	event_catalog_free(catalog);
	close(fd);
	return 0;
}
