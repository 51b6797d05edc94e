// SPDX-License-Identifier: BSD-2-Clause
/* Decides what the folders of a cgroup's path are called by, and by whom. */

#include "base/container.h"

#include "base/proc.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { HEX_DIGITS = 64, SHOWN_DIGITS = 12, CGROUPS_BYTES = 16384 };

/* Of what an id consists. */
enum id_form { ID_HEX, ID_NAME, ID_UNIT_NAME /* as systemd escapes it */ };

/* One way of calling a folder: what stands before and behind the id. */
struct convention {
	const char *runtime;
	const char *parent; /* the folder that it is in; NULL: any */
	const char *before, *behind;
	enum id_form form;
};

static const struct convention conventions[] = {
	{ "docker", NULL, "docker-", ".scope", ID_HEX },
	{ "docker", "docker", "", "", ID_HEX },
	{ "docker", NULL, "docker:", "", ID_HEX },
	{ "podman", NULL, "libpod-", ".scope", ID_HEX },
	{ "podman", NULL, "libpod-", "", ID_HEX },
	{ "podman", NULL, "libpod:", "", ID_HEX },
	{ "cri-o", NULL, "crio-", ".scope", ID_HEX },
	{ "cri-o", NULL, "crio-", "", ID_HEX },
	{ "cri-o", NULL, "crio:", "", ID_HEX },
	{ "containerd", NULL, "cri-containerd-", ".scope", ID_HEX },
	{ "containerd", NULL, "cri-containerd:", "", ID_HEX },
	{ "containerd", NULL, "nerdctl-", ".scope", ID_HEX },
	{ "lxc", "lxc", "", "", ID_NAME },
	{ "lxc", "lxc.payload", "", "", ID_NAME },
	{ "lxc", NULL, "lxc.payload.", "", ID_NAME },
	{ "machine", NULL, "machine-", ".scope", ID_UNIT_NAME },
	{ "machine", NULL, "systemd-nspawn@", ".service", ID_UNIT_NAME },
	{ "container", NULL, "", "", ID_HEX }, /* the kubelet and others without systemd */
};

/* One folder of a path. */
struct folder {
	const char *at;
	size_t length;
};

static bool is_named(const struct folder *folder, const char *name)
{
	return strlen(name) == folder->length && memcmp(name, folder->at, folder->length) == 0;
}

static bool begins(const struct folder *folder, const char *text)
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
	return id->length == HEX_DIGITS;
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

static void copy(const struct folder *from, bool is_escaped, char to[CONTAINER_ID_BYTES])
{
	size_t length = 0;

	for (size_t i = 0; i < from->length && length < CONTAINER_ID_BYTES - 1; i++) {
		char byte = is_escaped ? escaped_byte(from->at + i, from->length - i) : 0;

		to[length++] = byte ? byte : from->at[i];
		i += byte ? 3 : 0;
	}
	to[length] = 0;
}

static bool follows(const struct convention *convention, const struct folder *parent, const struct folder *folder,
		    struct folder *id)
{
	if ((convention->parent && !is_named(parent, convention->parent)) || !begins(folder, convention->before))
		return false;
	*id = (struct folder){ folder->at + strlen(convention->before), folder->length - strlen(convention->before) };
	if (!id->length || !ends(id, convention->behind))
		return false;
	id->length -= strlen(convention->behind);
	return id->length && (convention->form != ID_HEX || is_hex(id));
}

static bool take_container(const struct folder *parent, const struct folder *folder, struct container *container)
{
	for (size_t i = 0; i < sizeof conventions / sizeof *conventions; i++) {
		struct folder id;

		if (!follows(&conventions[i], parent, folder, &id))
			continue;
		container->runtime = conventions[i].runtime;
		copy(&id, conventions[i].form == ID_UNIT_NAME, container->id);
		return true;
	}
	return false;
}

/* Where a runtime was to make units and had none, "slice:runtime:id" is one folder: its last two parts count. */
static struct folder cut_slice(struct folder folder)
{
	const char *colon = memchr(folder.at, ':', folder.length);
	struct folder slice = { folder.at, colon ? (size_t)(colon - folder.at) : 0 };

	if (!colon || !ends(&slice, ".slice"))
		return folder;
	return (struct folder){ colon + 1, folder.length - slice.length - 1 };
}

bool container_of_path(const char *path, struct container *container)
{
	struct folder parent = { "", 0 };
	struct container unit = { 0 };

	*container = (struct container){ 0 };
	for (const char *at = path + strspn(path, "/"); *at; at += strspn(at, "/")) {
		struct folder folder = { at, strcspn(at, "/") }, named = cut_slice(folder);

		if (!take_container(&parent, &named, container) &&
		    (ends(&folder, ".service") || ends(&folder, ".scope")))
			copy(&folder, true, unit.id);
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
	struct folder id = { container->id, strlen(container->id) };
	int length = container->runtime && is_hex(&id) ? SHOWN_DIGITS : (int)id.length;

	snprintf(text, CONTAINER_TEXT_BYTES, "%s%s%.*s", container->runtime ? container->runtime : "",
		 container->runtime ? ":" : "", length, container->id);
}
