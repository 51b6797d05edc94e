// SPDX-License-Identifier: BSD-2-Clause
/*
 * Makes event types of the tracepoints of this machine. Their names are their own where that is free, else
 * system__name. Without privilege there are none.
 */

#include "event/tracefs.h"

#include "event/tracefs-priv.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

enum { FORMAT_BYTES_MAX = 64 * 1024, TRACEFS_NAME_BYTES = 128, PATH_BYTES = 512 };

static const char *const mounts[] = { "/sys/kernel/tracing", "/sys/kernel/debug/tracing" };

struct tracepoint {
	char system[TRACEFS_NAME_BYTES];
	char name[TRACEFS_NAME_BYTES];
};

/* A name that is safe as part of a path and of a rule. */
static bool is_plain_name(const char *name)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";

	return *name && strlen(name) < TRACEFS_NAME_BYTES && strspn(name, allowed) == strlen(name);
}

const char *event_tracefs_folder(void)
{
	char path[PATH_BYTES];

	for (size_t i = 0; i < sizeof mounts / sizeof *mounts; i++) {
		snprintf(path, sizeof path, "%s/events", mounts[i]);
		if (!access(path, R_OK | X_OK))
			return mounts[i];
		if (errno != ENOENT)
			return NULL;
	}
	return mount("tracefs", mounts[0], "tracefs", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) ? NULL : mounts[0];
}

static const char *root_of(struct event_catalog *catalog)
{
	if (!catalog->tracefs)
		catalog->tracefs = event_tracefs_folder();
	return catalog->tracefs;
}

/* The text of a tracepoint's format file in *text (to be freed by the caller). Returns its length or -errno. */
static ssize_t read_format(struct event_catalog *catalog, const struct tracepoint *point, char **text)
{
	char path[PATH_BYTES];
	ssize_t length = 0, got;
	int fd;

	snprintf(path, sizeof path, "%s/events/%s/%s/format", root_of(catalog), point->system, point->name);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return -errno;
	*text = alloc_zero(FORMAT_BYTES_MAX, 1);
	if (!*text) {
		close(fd);
		return -ENOMEM;
	}
	do {
		got = read(fd, *text + length, (size_t)(FORMAT_BYTES_MAX - length));
		length += got > 0 ? got : 0;
	} while ((got > 0 && length < FORMAT_BYTES_MAX) || (got < 0 && errno == EINTR));
	close(fd);
	return length;
}

static int insert(struct event_catalog *catalog, const struct tracepoint *point, struct event_format *format,
		  const struct event_type **added)
{
	struct event_hook hook = {
		.tracepoint = arena_format(catalog->arena, "%s:%s", point->system, point->name),
		.paths = format->paths,
	};
	bool is_free = !event_catalog_known(catalog, point->name);
	struct event_type_spec spec = {
		.name = is_free ? point->name : arena_format(catalog->arena, "%s__%s", point->system, point->name),
		.fields = format->fields,
		.field_count = format->count,
		.origin = EVENT_TRACEFS,
		.hooks = &hook,
		.hook_count = 1,
	};

	if (!hook.tracepoint || !spec.name)
		return -ENOMEM;
	return event_catalog_add(catalog, &spec, added);
}

static int add_tracepoint(struct event_catalog *catalog, const struct tracepoint *point,
			  const struct event_type **added)
{
	struct event_format *format;
	char *text = NULL;
	int result;
	ssize_t length = read_format(catalog, point, &text);

	if (length < 0)
		return (int)length;
	format = alloc_zero(1, sizeof *format);
	result = format ? event_format_read(catalog->arena, text, (size_t)length, format) : -ENOMEM;
	if (!result)
		result = insert(catalog, point, format, added);
	alloc_free(format);
	alloc_free(text);
	return result;
}

/* The type that stands for the tracepoint already, or NULL. System calls have types that read another one. */
static const struct event_type *covering(const struct event_catalog *catalog, const struct tracepoint *point)
{
	const char *candidates[] = { point->name, NULL };
	char long_name[2 * TRACEFS_NAME_BYTES + 2], hook[2 * TRACEFS_NAME_BYTES + 2];

	snprintf(long_name, sizeof long_name, "%s__%s", point->system, point->name);
	snprintf(hook, sizeof hook, "%s:%s", point->system, point->name);
	candidates[1] = long_name;
	for (size_t i = 0; i < 2; i++) {
		const struct event_type *type = event_catalog_known(catalog, candidates[i]);

		if (!type)
			continue;
		if (!strcmp(point->system, "syscalls"))
			return type;
		for (uint32_t j = 0; j < type->hook_count; j++) {
			if (!strcmp(type->hooks[j].tracepoint, hook))
				return type;
		}
	}
	return NULL;
}

/* ftrace's own records and those made up by users have no tracepoint behind them. */
static bool is_system(const char *name)
{
	return is_plain_name(name) && strcmp(name, "ftrace") && strcmp(name, "synthetic");
}

static const struct event_type *find_tracefs_type(struct event_catalog *catalog, const char *system,
						  size_t system_length, const char *name)
{
	const struct event_type *type;
	struct tracepoint point = { { 0 }, { 0 } };

	if (system_length >= sizeof point.system || strlen(name) >= sizeof point.name)
		return NULL;
	memcpy(point.system, system, system_length);
	memcpy(point.name, name, strlen(name));
	if (!is_system(point.system) || !is_plain_name(point.name))
		return NULL;
	type = covering(catalog, &point);
	if (type)
		return type;
	return root_of(catalog) && !add_tracepoint(catalog, &point, &type) ? type : NULL;
}

/* Calls find_tracefs_type for every system until one has the tracepoint. */
static const struct event_type *find_anywhere(struct event_catalog *catalog, const char *name)
{
	const struct event_type *type = NULL;
	char path[PATH_BYTES];
	struct dirent *entry;
	DIR *folder;

	if (!is_plain_name(name) || !root_of(catalog))
		return NULL;
	snprintf(path, sizeof path, "%s/events", catalog->tracefs);
	folder = opendir(path);
	if (!folder)
		return NULL;
	while (!type && (entry = readdir(folder))) {
		if (!is_system(entry->d_name))
			continue;
		snprintf(path, sizeof path, "%s/%s/format", entry->d_name, name);
		if (!faccessat(dirfd(folder), path, R_OK, 0))
			type = find_tracefs_type(catalog, entry->d_name, strlen(entry->d_name), name);
	}
	closedir(folder);
	return type;
}

const struct event_type *event_tracefs_find(struct event_catalog *catalog, const char *name)
{
	const char *colon = strchr(name, ':');
	const struct event_type *type;

	if (colon)
		return find_tracefs_type(catalog, name, (size_t)(colon - name), colon + 1);
	for (const char *at = name; (at = strstr(at, "__")); at++) {
		type = at > name ? find_tracefs_type(catalog, name, (size_t)(at - name), at + 2) : NULL;
		if (type)
			return type;
	}
	return find_anywhere(catalog, name);
}

/* Adds what the system's folder holds. Returns how many, or -ENOMEM. */
static int add_system(struct event_catalog *catalog, int events, const char *system)
{
	int fd = openat(events, system, O_RDONLY | O_DIRECTORY | O_CLOEXEC), added = 0;
	DIR *folder = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;

	if (!folder) {
		if (fd >= 0)
			close(fd);
		return 0;
	}
	while (added >= 0 && (entry = readdir(folder))) {
		struct tracepoint point = { { 0 }, { 0 } };
		const struct event_type *type;
		int result;

		if (entry->d_type == DT_REG || !is_plain_name(entry->d_name))
			continue;
		memcpy(point.system, system, strlen(system));
		memcpy(point.name, entry->d_name, strlen(entry->d_name));
		if (covering(catalog, &point))
			continue;
		result = add_tracepoint(catalog, &point, &type);
		if (result == -ENOMEM)
			added = result;
		else if (!result)
			added++;
	}
	closedir(folder);
	return added;
}

int event_catalog_add_tracefs(struct event_catalog *catalog)
{
	const char *root = root_of(catalog);
	char path[PATH_BYTES];
	struct dirent *entry;
	int total = 0;
	DIR *folder;

	snprintf(path, sizeof path, "%s/events", root ? root : mounts[0]);
	folder = opendir(path);
	if (!folder)
		return -errno;
	while (total >= 0 && (entry = readdir(folder))) {
		int added;

		if (entry->d_type == DT_REG || !is_system(entry->d_name))
			continue;
		added = add_system(catalog, dirfd(folder), entry->d_name);
		total = added < 0 ? added : total + added;
	}
	closedir(folder);
	return total;
}

const struct event_type *event_catalog_find(struct event_catalog *catalog, const char *name)
{
	const struct event_type *known = event_catalog_known(catalog, name);

	return known ? known : event_tracefs_find(catalog, name);
}
