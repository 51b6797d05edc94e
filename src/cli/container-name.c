// SPDX-License-Identifier: BSD-2-Clause
/*
 * Reads the names of containers where runtimes keep them, and counts the files that say none. A file that is gone by
 * now is of a container that is, too.
 */

#include "cli/container-name.h"

#include "base/text.h"

#include <errno.h>
#include <glob.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILE_BYTES_MAX = 16 << 20, PATH_BYTES = 4096, RUNTIME_BYTES = 16 };

/* Whether a container that a file describes is called so. */
typedef bool is_called_fn(const json_t *container, const char *name);

/* "Name": "/web" */
static bool docker_is_called(const json_t *container, const char *name)
{
	const char *text = json_string_value(json_object_get(container, "Name"));

	return text && strcmp(text + (*text == '/'), name) == 0;
}

/* "names": ["web"] */
static bool podman_is_called(const json_t *container, const char *name)
{
	const json_t *names = json_object_get(container, "names"), *item;
	size_t i;

	json_array_foreach(names, i, item)
	{
		const char *text = json_string_value(item);

		if (text && strcmp(text, name) == 0)
			return true;
	}
	return false;
}

/* Files that hold a container each, or a list of them; "ID", "id": what names its cgroup. */
static const struct runtime {
	const char *name, *folder, *files, *id;
	is_called_fn *is_called;
} runtimes[] = {
	{ "docker", "/var/lib/docker/containers", "/*/config.v2.json", "ID", docker_is_called },
	{ "podman", "/var/lib/containers/storage", "/*-containers/containers.json", "id", podman_is_called },
};

/* What is looked for, and what is found of it in the files of one runtime. */
struct look {
	const struct runtime *runtime;
	const char *name;
	struct container_named *named;
	int found;
	size_t unread;
};

/* False: it is no container. */
static bool look_at_container(struct look *look, const json_t *container)
{
	const char *id = json_string_value(json_object_get(container, look->runtime->id));

	if (id && strlen(id) == CONTAINER_NAME_ID_BYTES - 1 && look->runtime->is_called(container, look->name)) {
		memcpy(look->named->id, id, CONTAINER_NAME_ID_BYTES);
		look->found++;
	}
	return id;
}

/* False: the file, or something in it, could not be read. */
static bool look_into(struct look *look, const char *path)
{
	struct stat about;
	json_t *file, *item;
	bool is_read;
	size_t i;

	if (stat(path, &about))
		return errno == ENOENT;
	if (!S_ISREG(about.st_mode) || about.st_size > FILE_BYTES_MAX)
		return false;
	file = json_load_file(path, 0, NULL);
	is_read = json_is_array(file) || (!file && access(path, F_OK) && errno == ENOENT);
	if (json_is_object(file))
		is_read = look_at_container(look, file);
	json_array_foreach(file, i, item)
	{
		if (!look_at_container(look, item))
			is_read = false;
	}
	json_decref(file);
	return is_read;
}

/* Files that cannot be listed count as one. */
static void look_through(struct look *look, const char *root)
{
	char pattern[PATH_BYTES];
	glob_t files;

	snprintf(pattern, sizeof pattern, "%s%s", root, look->runtime->folder);
	if (access(pattern, R_OK | X_OK)) {
		look->unread += errno != ENOENT;
		return;
	}
	snprintf(pattern, sizeof pattern, "%s%s%s", root, look->runtime->folder, look->runtime->files);
	if (glob(pattern, GLOB_NOSORT, NULL, &files) == 0)
		for (size_t i = 0; i < files.gl_pathc; i++)
			look->unread += !look_into(look, files.gl_pathv[i]);
	globfree(&files);
}

static void put_unread(struct text_buffer *text, const struct look *look)
{
	if (look->unread)
		text_printf(text, "%s%zu of %s", text->length ? " and " : "", look->unread, look->runtime->name);
}

int container_name_find(const char *root, const char *runtime, const char *name, struct container_named *named)
{
	struct text_buffer unread;
	int found = 0;

	text_init_fixed(&unread, named->unread, sizeof named->unread);
	for (size_t i = 0; i < sizeof runtimes / sizeof *runtimes; i++) {
		struct look look = { .runtime = &runtimes[i], .name = name, .named = named };

		if (runtime && strcmp(runtime, runtimes[i].name) != 0)
			continue;
		look_through(&look, root);
		put_unread(&unread, &look);
		found += look.found;
	}
	return found;
}

int container_name_id(const char *name, struct asterism_diag *diag, char id[CONTAINER_NAME_ID_BYTES])
{
	const char *colon = strchr(name, ':');
	bool has_runtime = colon && colon - name < RUNTIME_BYTES;
	char runtime[RUNTIME_BYTES];
	struct container_named named = { 0 };
	int found;

	snprintf(runtime, sizeof runtime, "%.*s", has_runtime ? (int)(colon - name) : 0, name);
	found = container_name_find("", has_runtime ? runtime : NULL, has_runtime ? colon + 1 : name, &named);
	if (*named.unread)
		diag_add(diag, ASTERISM_WARNING, NULL,
			 "they may be unreadable, larger than 16 MiB, not regular files, or not the JSON that the "
			 "runtime writes; a container's id works without them",
			 "cannot read the files in which container runtimes keep names: %s", named.unread);
	memcpy(id, named.id, sizeof named.id);
	return found;
}
