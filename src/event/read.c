// SPDX-License-Identifier: BSD-2-Clause
/* Decides where catalogs are found. A file that was read once under the same path is not read again. */

#include "event/catalog-priv.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILE_BYTES_MAX = 1 << 24 };

static int read_all(int fd, char *bytes, size_t length)
{
	for (size_t done = 0; done < length;) {
		ssize_t got = read(fd, bytes + done, length - done);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (got == 0)
			return -EIO;
		done += (size_t)got;
	}
	return 0;
}

/* Parses what fd holds. Only regular files: anything else might never end. */
static int parse_open_file(struct event_catalog *catalog, const char *path, int fd, struct asterism_diag *diag)
{
	struct stat status;
	char *text;
	int result;

	if (fstat(fd, &status))
		return diag_error(diag, NULL, -EINVAL, "cannot read %s: %s", path, strerror(errno));
	if (!S_ISREG(status.st_mode))
		return diag_error(diag, NULL, -EINVAL, "%s is not a regular file", path);
	if (status.st_size > FILE_BYTES_MAX)
		return diag_error(diag, NULL, -EINVAL, "%s is larger than a catalog may be", path);
	text = alloc_zero((size_t)status.st_size, 1);
	if (!text)
		return diag_no_memory(diag);
	result = read_all(fd, text, (size_t)status.st_size);
	if (result)
		result = diag_error(diag, NULL, -EINVAL, "cannot read %s: %s", path, strerror(-result));
	else
		result = event_catalog_parse(catalog, path, text, (size_t)status.st_size, diag);
	alloc_free(text);
	return result;
}

static bool was_read(const struct event_catalog *catalog, const char *path)
{
	for (size_t i = 0; i < catalog->file_count; i++) {
		if (!strcmp(catalog->files[i], path))
			return true;
	}
	return false;
}

static int read_path(struct event_catalog *catalog, const char *path, struct asterism_diag *diag)
{
	int fd, result;

	if (was_read(catalog, path))
		return 0;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0 && (errno == ENOENT || errno == ENOTDIR || errno == ENAMETOOLONG))
		return -ENOENT;
	if (fd < 0)
		return diag_error(diag, NULL, -EINVAL, "cannot read %s: %s", path, strerror(errno));
	/* Noted before it is parsed, so that files that include each other come to an end. */
	if (alloc_grow(&catalog->files, &catalog->file_capacity, catalog->file_count, sizeof *catalog->files)) {
		close(fd);
		return diag_no_memory(diag);
	}
	catalog->files[catalog->file_count++] = path;
	result = parse_open_file(catalog, path, fd, diag);
	close(fd);
	return result;
}

static int read_in(struct event_catalog *catalog, const char *folder, const char *name, struct asterism_diag *diag)
{
	const char *path = arena_format(catalog->arena, "%s/%s", folder, name);

	return path ? read_path(catalog, path, diag) : diag_no_memory(diag);
}

int event_catalog_read(struct event_catalog *catalog, const char *folder, const char *name, struct asterism_diag *diag)
{
	const char *installed = secure_getenv("ASTERISM_CATALOGS");
	int result = -ENOENT;

	if (*name == '/') {
		const char *path = arena_text(catalog->arena, name, strlen(name));

		return path ? read_path(catalog, path, diag) : diag_no_memory(diag);
	}
	if (folder)
		result = read_in(catalog, folder, name, diag);
	if (result != -ENOENT)
		return result;
	return read_in(catalog, installed && *installed ? installed : ASTERISM_DATA_DIR "/catalogs", name, diag);
}
