// SPDX-License-Identifier: BSD-2-Clause
/* Recognises containers by the names of the directories in a cgroup's path. */

#include "base/container.h"

#include "base/proc.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { CGROUPS_BYTES = 16384 };

const struct container_convention container_conventions[CONTAINER_CONVENTIONS] = {
	{ "docker", NULL, "docker-", ".scope", CONTAINER_HEX },
	{ "docker", "docker", "", "", CONTAINER_HEX },
	{ "docker", NULL, "docker:", "", CONTAINER_HEX },
	{ "podman", NULL, "libpod-", ".scope", CONTAINER_HEX },
	{ "podman", NULL, "libpod-", "", CONTAINER_HEX },
	{ "podman", NULL, "libpod:", "", CONTAINER_HEX },
	{ "cri-o", NULL, "crio-", ".scope", CONTAINER_HEX },
	{ "cri-o", NULL, "crio-", "", CONTAINER_HEX },
	{ "cri-o", NULL, "crio:", "", CONTAINER_HEX },
	{ "containerd", NULL, "cri-containerd-", ".scope", CONTAINER_HEX },
	{ "containerd", NULL, "cri-containerd:", "", CONTAINER_HEX },
	{ "containerd", NULL, "nerdctl-", ".scope", CONTAINER_HEX },
	{ "lxc", "lxc", "", "", CONTAINER_NAME },
	{ "lxc", "lxc.payload", "", "", CONTAINER_NAME },
	{ "lxc", NULL, "lxc.payload.", "", CONTAINER_NAME },
	{ "machine", NULL, "machine-", ".scope", CONTAINER_UNIT_NAME },
	{ "machine", NULL, "systemd-nspawn@", ".service", CONTAINER_UNIT_NAME },
	{ "container", NULL, "", "", CONTAINER_HEX }, /* the kubelet and others without systemd */
};

/* One folder of a path. */
struct folder {
	const char *at;
	size_t length;
};

static bool is_folder_named(const struct folder *folder, const char *name)
{
	return strlen(name) == folder->length && memcmp(name, folder->at, folder->length) == 0;
}

static bool folder_begins_with(const struct folder *folder, const char *text)
{
	size_t length = strlen(text);

	return folder->length >= length && memcmp(folder->at, text, length) == 0;
}

static bool ends(const struct folder *folder, const char *text)
{
	size_t length = strlen(text);

	return folder->length >= length && memcmp(folder->at + folder->length - length, text, length) == 0;
}

static bool is_hex(const struct folder *id)
{
	for (size_t i = 0; i < id->length; i++) {
		if (!isxdigit((unsigned char)id->at[i]) || isupper((unsigned char)id->at[i]))
			return false;
	}
	return id->length == CONTAINER_HEX_DIGITS;
}

/* The byte that an escape of systemd stands for, as "\x2d"; 0: this is none. */
static char escaped_byte(const char *at, size_t length)
{
	unsigned byte;

	if (length < 4 || at[0] != '\\' || at[1] != 'x' || !isxdigit((unsigned char)at[2]) ||
	    !isxdigit((unsigned char)at[3]) || sscanf(at + 2, "%2x", &byte) != 1)
		return 0;
	return (char)byte;
}

static void copy_container_id(const struct folder *from, bool is_escaped, char to[CONTAINER_ID_BYTES])
{
	size_t length = 0;

	for (size_t i = 0; i < from->length && length < CONTAINER_ID_BYTES - 1; i++) {
		char byte = is_escaped ? escaped_byte(from->at + i, from->length - i) : 0;

		to[length++] = byte ? byte : from->at[i];
		i += byte ? 3 : 0;
	}
	to[length] = 0;
}

/* Leaves away what a row lets stand before it. */
static void cut_slice(const struct container_convention *convention, struct folder *folder)
{
	size_t bytes = strlen(convention->before) + CONTAINER_HEX_DIGITS;
	struct folder slice = { folder->at, folder->length > bytes ? folder->length - bytes : 0 };

	if (ends(&(struct folder){ convention->before, strlen(convention->before) }, ":") && ends(&slice, ".slice:"))
		*folder = (struct folder){ folder->at + slice.length, bytes };
}

static bool follows(const struct container_convention *convention, const struct folder *parent, struct folder folder,
		    struct folder *id)
{
	size_t before = strlen(convention->before), behind = strlen(convention->behind);

	cut_slice(convention, &folder);
	if ((convention->parent && !is_folder_named(parent, convention->parent)) || folder.length <= before + behind ||
	    !folder_begins_with(&folder, convention->before) || !ends(&folder, convention->behind))
		return false;
	*id = (struct folder){ folder.at + before, folder.length - before - behind };
	return convention->form != CONTAINER_HEX || is_hex(id);
}

static bool take_container(const struct folder *parent, const struct folder *folder, struct container *container)
{
	for (size_t i = 0; i < CONTAINER_CONVENTIONS; i++) {
		const struct container_convention *convention = &container_conventions[i];
		struct folder id;

		if (!follows(convention, parent, *folder, &id))
			continue;
		container->runtime = convention->runtime;
		container->form = convention->form;
		copy_container_id(&id, convention->form == CONTAINER_UNIT_NAME, container->id);
		return true;
	}
	return false;
}

bool container_of_path(const char *path, struct container *container)
{
	struct folder parent = { "", 0 };
	struct container unit = { 0 };

	*container = (struct container){ 0 };
	for (const char *at = path + strspn(path, "/"); *at; at += strspn(at, "/")) {
		struct folder folder = { at, strcspn(at, "/") };

		if (!take_container(&parent, &folder, container) &&
		    (ends(&folder, ".service") || ends(&folder, ".scope")))
			copy_container_id(&folder, true, unit.id);
		parent = folder;
		at += folder.length;
	}
	if (!*container->id)
		*container = unit;
	return *container->id != 0;
}

bool container_of_text(const char *cgroups, struct container *container)
{
	for (int version = 2; version > 0; version--) {
		for (const char *line = cgroups; *line; line += strcspn(line, "\n"), line += *line == '\n') {
			const char *path = strchr(line, ':');
			char text[4096 + 1];
			bool is_v2 = strncmp(line, "0::", 3) == 0;

			path = path ? strchr(path + 1, ':') : NULL;
			if (!path || is_v2 != (version == 2))
				continue;
			snprintf(text, sizeof text, "%.*s", (int)strcspn(path + 1, "\n"), path + 1);
			if (container_of_path(text, container))
				return true;
		}
	}
	return false;
}

bool container_of_process(pid_t pid, struct container *container)
{
	char path[64], cgroups[CGROUPS_BYTES];

	snprintf(path, sizeof path, "/proc/%d/cgroup", (int)pid);
	return proc_read(path, cgroups, sizeof cgroups) > 0 && container_of_text(cgroups, container);
}

void container_print(const struct container *container, char text[CONTAINER_TEXT_BYTES])
{
	int length =
		container->runtime && container->form == CONTAINER_HEX ? CONTAINER_SHOWN_DIGITS : CONTAINER_ID_BYTES;

	length = snprintf(text, CONTAINER_TEXT_BYTES, "%s%s%.*s", container->runtime ? container->runtime : "",
			  container->runtime ? ":" : "", length, container->id);
	if (length >= CONTAINER_TEXT_BYTES && !container->runtime) /* events have containers as they are cut */
		memcpy(text + CONTAINER_TEXT_BYTES - sizeof "...", "...", sizeof "...");
}
