// SPDX-License-Identifier: BSD-2-Clause
/* Finds the catalogs of counters. */

#include "counters/installed.h"

#include "base/alloc.h"
#include "event/installed.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

extern const struct embedded_file counters_embedded[];

/* The texts are the arena's. -ENOENT without a message. */
static int read_catalog_file(struct counters *counters, const char *path, struct asterism_diag *diag)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY), result = fd < 0 ? -errno : 0;
	struct diag_source source = { 0 };
	ssize_t got = 1;
	char *text;

	if (result)
		return result == -ENOENT
			       ? result
			       : diag_error(diag, NULL, result, "cannot read %s: %s", path, strerror(-result));
	source.file = arena_text(counters->arena, path, strlen(path));
	text = arena_zero(counters->arena, COUNTERS_BYTES_MAX + 2, 1);
	if (!text || !source.file) {
		close(fd);
		return diag_no_memory(diag);
	}
	while (got > 0 && source.length <= COUNTERS_BYTES_MAX) {
		got = read(fd, text + source.length, COUNTERS_BYTES_MAX + 1 - source.length);
		source.length += got > 0 ? (size_t)got : 0;
	}
	result = got < 0 ? -errno : 0;
	close(fd);
	source.text = text;
	return result ? diag_error(diag, NULL, result, "cannot read %s: %s", path, strerror(-result))
		      : counters_read(counters, &source, diag);
}

static int read_shipped(struct counters *counters, const struct embedded_file *file, struct asterism_diag *diag)
{
	struct diag_source source = { .length = file->length };
	const char *folder;

	for (size_t i = 0; (folder = event_installed_folder(i)); i++) {
		const char *path = arena_format(counters->arena, "%s/%s", folder, file->name);
		int result = path ? read_catalog_file(counters, path, diag) : diag_no_memory(diag);

		if (result != -ENOENT)
			return result;
	}
	source.file = arena_format(counters->arena, "%s/%s", EMBEDDED_FOLDER, file->name);
	source.text = embedded_text(file, counters->arena);
	return source.file && source.text ? counters_read(counters, &source, diag) : diag_no_memory(diag);
}

int counters_load(const char *const *files, size_t count, struct asterism_diag *diag, struct counters **loaded)
{
	struct counters *counters = counters_new();
	int result = counters ? 0 : diag_no_memory(diag);

	for (const struct embedded_file *file = counters_embedded; !result && file->name; file++)
		result = read_shipped(counters, file, diag);
	for (size_t i = 0; !result && i < count; i++) {
		result = read_catalog_file(counters, files[i], diag);
		if (result == -ENOENT)
			result = diag_error(diag, NULL, -ENOENT, "%s: file not found", files[i]);
	}
	if (!result)
		result = counters_finish(counters, diag);
	if (result)
		counters_free(counters);
	else
		*loaded = counters;
	return result;
}
