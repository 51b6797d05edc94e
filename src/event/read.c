// SPDX-License-Identifier: BSD-2-Clause
/* Finds and reads catalogs. A file that was read once under the same path is not read again. */

#include "event/catalog-priv.h"
#include "event/installed.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILE_BYTES_MAX = 1 << 24 };

static int read_event_bytes(int fd, char *bytes, size_t length)
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
		return diag_error(diag, NULL, -EINVAL, "%s is too large for a catalog", path);
	text = alloc_zero((size_t)status.st_size, 1);
	if (!text)
		return diag_no_memory(diag);
	result = read_event_bytes(fd, text, (size_t)status.st_size);
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

/* Noted before it is parsed, so that files that include each other come to an end. */
static int note_file(struct event_catalog *catalog, const char *path, struct asterism_diag *diag)
{
	if (alloc_grow(&catalog->files, &catalog->file_capacity, catalog->file_count, sizeof *catalog->files))
		return diag_no_memory(diag);
	catalog->files[catalog->file_count++] = path;
	return 0;
}

/* Root's files are anybody's own who is not somebody else. */
static bool is_own_file(const struct event_catalog_access *access, const struct stat *status)
{
	return S_ISREG(status->st_mode) && !(status->st_mode & (S_IWGRP | S_IWOTH)) &&
	       (status->st_uid == access->owner || (status->st_uid == 0 && !access->is_foreign));
}

/*
 * Opens a file that the access allows. It is looked at before it is opened to read, which some devices act upon, and
 * all that is wrong with it is ENOENT: who may not read a folder does not learn here what is in it.
 */
static int open_own(const struct event_catalog_access *access, const char *path)
{
	char number[32];
	struct stat status;
	int place = open(path, O_PATH | O_CLOEXEC), fd = -1;

	snprintf(number, sizeof number, "/proc/self/fd/%d", place);
	if (place >= 0 && fstat(place, &status) == 0 && is_own_file(access, &status))
		fd = open(number, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (place >= 0)
		close(place);
	if (fd < 0)
		errno = ENOENT;
	return fd;
}

/* is_installed: the access does not matter. */
static int read_path(struct event_catalog *catalog, const char *path, bool is_installed, struct asterism_diag *diag)
{
	bool is_any = is_installed || catalog->access.files == EVENT_FILES_ALL;
	int fd, result;

	if (!catalog->of_sensors && was_read(catalog, path)) /* of sensors there may be several, by other names */
		return 0;
	fd = is_any ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : open_own(&catalog->access, path);
	if (fd < 0 && (errno == ENOENT || errno == ENOTDIR || errno == ENAMETOOLONG))
		return -ENOENT;
	if (fd < 0)
		return diag_error(diag, NULL, -EINVAL, "cannot read %s: %s", path, strerror(errno));
	result = note_file(catalog, path, diag);
	if (!result)
		result = parse_open_file(catalog, path, fd, diag);
	close(fd);
	return result;
}

static int read_in(struct event_catalog *catalog, const char *folder, const char *name, bool is_installed,
		   struct asterism_diag *diag)
{
	const char *path = arena_format(catalog->arena, *folder ? "%s/%s" : "%s%s", folder, name);

	return path ? read_path(catalog, path, is_installed, diag) : diag_no_memory(diag);
}

static int read_embedded(struct event_catalog *catalog, const char *name, struct asterism_diag *diag)
{
	const struct embedded_file *file = embedded_find(event_embedded, name);
	struct diag_source source = { 0 };
	int result;

	if (!file)
		return -ENOENT;
	source.file = arena_format(catalog->arena, EMBEDDED_FOLDER "/%s", name);
	if (source.file && was_read(catalog, source.file))
		return 0;
	source.text = embedded_text(file, catalog->arena);
	source.length = file->length;
	if (!source.file || !source.text)
		return diag_no_memory(diag);
	result = note_file(catalog, source.file, diag);
	return result ? result : event_catalog_parse_in(catalog, &source, NULL, diag);
}

/* Who names a folder of catalogs does not mean those that are built in. */
static int check_own_folder(struct asterism_diag *diag)
{
	const char *folder = event_installed_own();
	struct stat status = { .st_mode = S_IFDIR };

	if (!folder || (stat(folder, &status) == 0 && S_ISDIR(status.st_mode)))
		return 0;
	return diag_error(diag, NULL, -EINVAL, "ASTERISM_CATALOGS names %s: %s", folder,
			  S_ISDIR(status.st_mode) ? strerror(errno) : "it is not a directory");
}

/* Not a name of an installed catalog but a way somewhere. */
static bool is_path(const char *name)
{
	return strchr(name, '/') != NULL || !*name || strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

void event_catalog_restrict(struct event_catalog *catalog, const struct event_catalog_access *access)
{
	catalog->access = *access;
}

const struct event_catalog_access *event_catalog_access(const struct event_catalog *catalog)
{
	return &catalog->access;
}

void event_catalog_set_supplier(struct event_catalog *catalog, const struct event_catalog_supplier *supplier)
{
	catalog->supplier = supplier;
}

static bool is_hooked(const struct event_catalog_supplier *supplier, const char *name)
{
	return supplier->hooked_prefix && !strncmp(name, supplier->hooked_prefix, strlen(supplier->hooked_prefix));
}

bool event_catalog_is_supplied(const struct event_catalog *catalog, const char *name)
{
	const struct event_catalog_supplier *supplier = catalog->supplier;

	return supplier && (!strncmp(name, supplier->prefix, strlen(supplier->prefix)) || is_hooked(supplier, name));
}

void event_catalog_set_program(struct event_catalog *catalog, const char *program)
{
	catalog->program = program;
}

static int read_supplied(struct event_catalog *catalog, const char *folder, const char *name,
			 struct asterism_diag *diag)
{
	const struct event_catalog_supplier *supplier = catalog->supplier;
	bool before = catalog->of_sensors, was_hooked = catalog->is_hooked, hooked = is_hooked(supplier, name);
	const char *what = name + strlen(hooked ? supplier->hooked_prefix : supplier->prefix);
	const char *ending = strrchr(what, '.');
	int result = -ENOENT;

	catalog->of_sensors = true;
	catalog->is_hooked = hooked;
	if (ending && strcmp(ending, ".events") == 0)
		result = event_catalog_read(catalog, folder, what, diag);
	else if (catalog->access.files != EVENT_FILES_NONE)
		result = supplier->read(catalog, folder, name, diag);
	catalog->of_sensors = before;
	catalog->is_hooked = was_hooked;
	return result;
}

int event_catalog_read(struct event_catalog *catalog, const char *folder, const char *name, struct asterism_diag *diag)
{
	enum event_catalog_files files = catalog->access.files;
	int result = -ENOENT;

	if (catalog->access.is_foreign)
		diag = NULL;
	if (event_catalog_is_supplied(catalog, name))
		return read_supplied(catalog, folder, name, diag);
	if (*name == '/')
		folder = "";
	if (folder && files != EVENT_FILES_NONE)
		result = read_in(catalog, folder, name, false, diag);
	if (*name == '/' || (files != EVENT_FILES_ALL && is_path(name)))
		return result;
	if (result == -ENOENT && check_own_folder(diag))
		return -EINVAL;
	for (size_t i = 0; result == -ENOENT && event_installed_folder(i); i++)
		result = read_in(catalog, event_installed_folder(i), name, true, diag);
	return result == -ENOENT ? read_embedded(catalog, name, diag) : result;
}

int event_catalog_read_as(struct event_catalog *catalog, const char *folder, const char *name, const char *prefix,
			  struct asterism_diag *diag)
{
	const char *before = catalog->prefix;
	int result;

	if (!event_catalog_is_supplied(catalog, name))
		return -EINVAL;
	catalog->prefix = prefix;
	result = event_catalog_read(catalog, folder, name, diag);
	catalog->prefix = before;
	return result;
}
