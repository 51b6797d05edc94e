// SPDX-License-Identifier: BSD-2-Clause
/*
 * Finds a cgroup and its files. What /proc says is read as lines of bounded length; paths that do not fit are refused,
 * never cut.
 */

#include "react/cgroup.h"

#include "base/proc.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_BYTES = 4096 + 256, DEPTH_MAX = 32 };

/* Takes the next word off a line; NULL: there is none. */
static char *next_word(char **line)
{
	char *word = strsep(line, " \n");

	return word && *word ? word : NULL;
}

/* Mount points have octal escapes for blanks. */
static void unescape(char *text)
{
	char *to = text;

	for (const char *from = text; *from; to++) {
		unsigned byte;

		if (from[0] == '\\' && sscanf(from + 1, "%3o", &byte) == 1 && strspn(from + 1, "01234567") >= 3) {
			*to = (char)byte;
			from += 4;
		} else {
			*to = *from++;
		}
	}
	*to = 0;
}

static bool has_option(const char *options, const char *wanted)
{
	size_t length = strlen(wanted);

	for (const char *at = options; at; at = strchr(at, ',')) {
		at += *at == ',';
		if (strncmp(at, wanted, length) == 0 && strchr(",\n", at[length]))
			return true;
	}
	return false;
}

/* One line of mountinfo: whether it mounts the hierarchy; then where, and from which cgroup on. */
static bool is_mount(char *line, bool is_v1, char **point, char **root)
{
	char *rest = strstr(line, " - ");

	if (!rest)
		return false;
	*rest = 0;
	rest += 3;
	for (int i = 0; i < 3; i++)
		if (!next_word(&line))
			return false;
	*root = next_word(&line);
	*point = next_word(&line);
	const char *type = next_word(&rest);

	if (!*root || !*point || !type || strcmp(type, is_v1 ? "cgroup" : "cgroup2") != 0)
		return false;
	next_word(&rest);
	return !is_v1 || (rest && has_option(rest, "freezer"));
}

/* path below root; NULL: it is not. */
static const char *below(const char *path, const char *root)
{
	size_t length = strcmp(root, "/") == 0 ? 0 : strlen(root);

	if (strncmp(path, root, length) != 0 || (path[length] && path[length] != '/'))
		return NULL;
	return path + length;
}

/* Where the files of cgroup->path are, in any mount of the hierarchy that shows it. */
static int find_folder(struct cgroup *cgroup)
{
	FILE *file = fopen("/proc/self/mountinfo", "re");
	char line[LINE_BYTES];
	int result = -ENOENT;

	if (!file)
		return -errno;
	while (result == -ENOENT && fgets(line, sizeof line, file)) {
		char *point, *root;
		const char *rest;

		if (!is_mount(line, cgroup->is_v1, &point, &root))
			continue;
		unescape(point);
		unescape(root);
		rest = below(cgroup->path, root);
		if (!rest)
			continue;
		int length = snprintf(cgroup->folder, sizeof cgroup->folder, "%s%s", point, rest);

		result = length < (int)sizeof cgroup->folder ? 0 : -ENAMETOOLONG;
	}
	fclose(file);
	return result;
}

/* The path of a process in the hierarchy. Returns 0, -ENOENT: it has none, ... */
static int find_path(pid_t pid, bool is_v1, char path[CGROUP_PATH_BYTES])
{
	char name[64], line[LINE_BYTES];
	int result = -ENOENT;

	snprintf(name, sizeof name, "/proc/%d/cgroup", pid);
	FILE *file = fopen(name, "re");

	if (!file)
		return errno == ENOENT ? -ESRCH : -errno;
	while (result == -ENOENT && fgets(line, sizeof line, file)) {
		char *controllers = strchr(line, ':'), *at = controllers ? strchr(controllers + 1, ':') : NULL;

		if (!at)
			continue;
		*at++ = 0;
		if (is_v1 ? !has_option(controllers + 1, "freezer") : strcmp(controllers, ":") != 0)
			continue;
		at[strcspn(at, "\n")] = 0;
		result = strlen(at) < CGROUP_PATH_BYTES ? 0 : -ENAMETOOLONG;
		if (!result)
			strcpy(path, at);
	}
	fclose(file);
	return result;
}

/* In one of the hierarchies. */
static int find_cgroup(pid_t pid, struct cgroup *cgroup)
{
	int result = find_path(pid, cgroup->is_v1, cgroup->path);

	/* "/..": outside of what our cgroup namespace shows */
	if (!result && (strcmp(cgroup->path, "/") == 0 || strncmp(cgroup->path, "/..", 3) == 0))
		return -ENOENT;
	if (!result)
		result = find_folder(cgroup);
	if (result)
		return result;
	int length = snprintf(cgroup->file, sizeof cgroup->file, "%s/%s", cgroup->folder,
			      cgroup->is_v1 ? "freezer.state" : "cgroup.freeze");

	if (length >= (int)sizeof cgroup->file)
		return -ENAMETOOLONG;
	result = cgroup_is_frozen(cgroup);
	return result < 0 ? result : 0;
}

int cgroup_find(pid_t pid, struct cgroup *cgroup)
{
	*cgroup = (struct cgroup){ .is_v1 = false };
	int result = find_cgroup(pid, cgroup);

	if (result != -ENOENT)
		return result;
	*cgroup = (struct cgroup){ .is_v1 = true };
	return find_cgroup(pid, cgroup);
}

int cgroup_holds(const struct cgroup *cgroup, pid_t pid)
{
	char path[CGROUP_PATH_BYTES];
	int result = find_path(pid, cgroup->is_v1, path);

	if (result == -ENOENT)
		return 0;
	return result ? result : below(path, cgroup->path) != NULL;
}

static int each_in(const char *folder, cgroup_each_fn *each, void *context)
{
	char path[PATH_MAX];
	int result = 0, pid;

	snprintf(path, sizeof path, "%s/cgroup.procs", folder);
	FILE *file = fopen(path, "re");

	if (!file)
		return -errno;
	while (!result && fscanf(file, "%d", &pid) == 1)
		result = each(context, pid);
	/* In a threaded cgroup the list is that of the domain above. */
	if (!result && ferror(file) && errno != EOPNOTSUPP)
		result = -errno;
	fclose(file);
	return result;
}

static int each_below(const char *folder, int depth, cgroup_each_fn *each, void *context)
{
	int result = each_in(folder, each, context);
	DIR *directory = result ? NULL : opendir(folder);

	if (result || !directory)
		return result ? result : -errno;
	for (const struct dirent *entry; !result && (entry = readdir(directory));) {
		char path[PATH_MAX];

		if (entry->d_type != DT_DIR || strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		if (depth == DEPTH_MAX || snprintf(path, sizeof path, "%s/%s", folder, entry->d_name) >= PATH_MAX)
			result = -ENAMETOOLONG;
		else
			result = each_below(path, depth + 1, each, context);
	}
	closedir(directory);
	return result;
}

int cgroup_each(const struct cgroup *cgroup, cgroup_each_fn *each, void *context)
{
	return each_below(cgroup->folder, 0, each, context);
}

int cgroup_is_frozen(const struct cgroup *cgroup)
{
	char path[CGROUP_PATH_BYTES + 32], text[16];

	snprintf(path, sizeof path, "%s/%s", cgroup->folder, cgroup->is_v1 ? "freezer.self_freezing" : "cgroup.freeze");
	ssize_t length = proc_read(path, text, sizeof text);

	return length < 0 ? (int)length : text[0] == '1';
}

int cgroup_freeze(const struct cgroup *cgroup, bool frozen)
{
	if (cgroup->is_v1)
		return proc_write(cgroup->file, frozen ? "FROZEN" : "THAWED");
	return proc_write(cgroup->file, frozen ? "1" : "0");
}
