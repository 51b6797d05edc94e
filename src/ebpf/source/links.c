// SPDX-License-Identifier: BSD-2-Clause
/* Detects that a file with probes has been replaced: by its inode, or by what is written in it. */

#include "ebpf/source/links.h"

#include "base/alloc.h"
#include "base/crew.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const uint64_t look_ns = 1000 * 1000 * 1000;

struct link {
	int fd;
	struct links_owner owner;
	bool is_probe;
};

struct probed_file {
	const char *path;
	struct stat was; /* when the first probe was set */
	bool is_other;
};

static struct probed_file *find_file(const struct links *links, const char *path)
{
	for (size_t i = 0; i < links->file_count; i++)
		if (strcmp(links->files[i].path, path) == 0)
			return &links->files[i];
	return NULL;
}

static int add_file(struct links *links, const char *path)
{
	struct probed_file file = { .path = path };

	if (find_file(links, path) || stat(path, &file.was))
		return 0;
	if (alloc_grow(&links->files, &links->file_capacity, links->file_count, sizeof *links->files))
		return -ENOMEM;
	links->files[links->file_count++] = file;
	return 0;
}

int links_add(struct links *links, int fd, const struct links_owner *owner, const struct attach_place *place)
{
	if (alloc_grow(&links->items, &links->capacity, links->count, sizeof *links->items) ||
	    (place && !place->is_own && add_file(links, place->path))) {
		close(fd);
		return -ENOMEM;
	}
	links->items[links->count++] = (struct link){ fd, *owner, place };
	return 0;
}

static void close_one(void *context, size_t index)
{
	const struct link *links = context;

	close(links[index].fd);
}

/* From first on, which are then gone. */
static void close_from(struct links *links, size_t first)
{
	crew_do(links->count - first, CREW_MAX, close_one, links->items + first);
	links->count = first;
}

void links_close(struct links *links)
{
	size_t probes = 0;

	for (size_t i = 0; i < links->count; i++) {
		if (links->items[i].is_probe)
			links->items[probes++] = links->items[i];
		else
			close(links->items[i].fd);
	}
	links->count = probes;
	close_from(links, 0);
	links->file_count = 0;
}

static bool is_link_of(const struct link *link, const struct links_owner *owner)
{
	return link->owner.program == owner->program && link->owner.spot == owner->spot;
}

bool links_has(const struct links *links, const struct links_owner *owner)
{
	for (size_t i = 0; i < links->count; i++)
		if (is_link_of(&links->items[i], owner))
			return true;
	return false;
}

void links_close_of(struct links *links, const struct links_owner *owner)
{
	size_t kept = 0;

	for (size_t i = 0; i < links->count; i++) {
		struct link link = links->items[i];

		if (is_link_of(&link, owner))
			continue;
		links->items[i] = links->items[kept];
		links->items[kept++] = link;
	}
	close_from(links, kept);
}

void links_fini(struct links *links)
{
	alloc_free(links->items);
	alloc_free(links->files);
	*links = (struct links){ 0 };
}

static bool is_same_file(const struct probed_file *file)
{
	struct stat is;

	return stat(file->path, &is) == 0 && is.st_dev == file->was.st_dev && is.st_ino == file->was.st_ino &&
	       is.st_size == file->was.st_size && is.st_mtim.tv_sec == file->was.st_mtim.tv_sec &&
	       is.st_mtim.tv_nsec == file->was.st_mtim.tv_nsec;
}

uint64_t links_look(struct links *links, uint64_t now_ns)
{
	uint64_t others = 0;

	if (!links->file_count || now_ns < links->next_look_ns)
		return 0;
	links->next_look_ns = now_ns + look_ns;
	for (size_t i = 0; i < links->file_count; i++) {
		struct probed_file *file = &links->files[i];

		if (file->is_other || is_same_file(file))
			continue;
		file->is_other = true;
		others++;
		diag_add(
			links->diag, ASTERISM_WARNING, NULL,
			"restart the session; with asterismd: asterism ctl reload, or deactivate and activate the unit",
			"%s has been replaced: processes that start the new one raise no events of its probes",
			file->path);
	}
	return others;
}

size_t links_replaced(const struct links *links)
{
	size_t count = 0;

	for (size_t i = 0; i < links->file_count; i++)
		count += links->files[i].is_other || !is_same_file(&links->files[i]);
	return count;
}
