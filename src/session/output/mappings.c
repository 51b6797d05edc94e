// SPDX-License-Identifier: BSD-2-Clause
/* Reads a process's memory map, and finds the files that are mapped. */

#include "session/output/mappings.h"

#include "base/alloc.h"
#include "base/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
	PATH_BYTES = 4 * PATH_MAX, /* the kernel writes one of four characters for some */
	LINE_BYTES = PATH_BYTES + 128,
};

static bool has_last_name(const struct mappings *mappings, const char *name)
{
	return mappings->count && strcmp(mappings_name(mappings, &mappings->items[mappings->count - 1]), name) == 0;
}

static int add_mapping(struct mappings *mappings, const struct proc_mapping *found)
{
	bool again = has_last_name(mappings, found->path);

	if (alloc_grow(&mappings->items, &mappings->capacity, mappings->count, sizeof *mappings->items))
		return -ENOMEM;
	mappings->items[mappings->count] = (struct mapping){
		.start = found->start,
		.end = found->end,
		.offset = found->offset,
		.inode = found->inode,
		.is_code = found->is_code,
		.is_writable = found->is_writable,
		.name = again ? mappings->items[mappings->count - 1].name : mappings->names.length,
	};
	if (!again)
		text_append_bytes(&mappings->names, found->path, strlen(found->path) + 1);
	if (mappings->names.failure)
		return -ENOMEM;
	mappings->count++;
	return 0;
}

int mappings_read(struct mappings *mappings, uint32_t pid)
{
	char path[64], line[LINE_BYTES];
	struct proc_mapping found;
	int result = 0;

	mappings->pid = pid;
	mappings->count = mappings->names.length = 0;
	snprintf(path, sizeof path, "/proc/%" PRIu32 "/maps", pid);
	FILE *maps = fopen(path, "re");

	while (maps && !result && mappings->count < MAPPINGS_MAX && proc_mapping_next(maps, line, LINE_BYTES, &found))
		result = add_mapping(mappings, &found);
	if (maps)
		fclose(maps);
	return result;
}

void mappings_fini(struct mappings *mappings)
{
	text_fini(&mappings->names);
	alloc_free(mappings->items);
	*mappings = (struct mappings){ 0 };
}

const struct mapping *mappings_find(const struct mappings *mappings, uint64_t address)
{
	size_t low = 0, high = mappings->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (mappings->items[middle].end <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low < mappings->count && mappings->items[low].start <= address ? &mappings->items[low] : NULL;
}

const char *mappings_name(const struct mappings *mappings, const struct mapping *mapping)
{
	return mappings->names.bytes + mapping->name;
}

/* The file that path names, if it is a regular one: opening anything else could do something. */
static int open_regular(const char *path, struct stat *about)
{
	char name[64];
	int place = open(path, O_PATH | O_CLOEXEC), fd = -1;

	if (place < 0)
		return -1;
	if (fstat(place, about) == 0 && S_ISREG(about->st_mode)) {
		snprintf(name, sizeof name, "/proc/self/fd/%d", place);
		fd = open(name, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	}
	close(place);
	return fd;
}

int mappings_open(const struct mappings *mappings, const struct mapping *mapping, struct stat *about)
{
	char path[PATH_BYTES + 64];
	int fd;

	snprintf(path, sizeof path, "/proc/%" PRIu32 "/map_files/%" PRIx64 "-%" PRIx64, mappings->pid, mapping->start,
		 mapping->end);
	fd = open_regular(path, about);
	if (fd >= 0)
		return fd;
	snprintf(path, sizeof path, "/proc/%" PRIu32 "/root%s", mappings->pid, mappings_name(mappings, mapping));
	fd = open_regular(path, about);
	if (fd < 0) /* it has ended; what it called so we may call so, too */
		fd = open_regular(mappings_name(mappings, mapping), about);
	if (fd >= 0 && about->st_ino != mapping->inode) {
		close(fd);
		return -1;
	}
	return fd;
}
