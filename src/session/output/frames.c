// SPDX-License-Identifier: BSD-2-Clause
/*
 * Decides what is read about a process to name the addresses of a stack: what is mapped where, and the symbols of those
 * files. The process goes on meanwhile, may end, and may make its files say anything.
 */

#include "session/output/frames.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/proc.h"
#include "base/text.h"
#include "session/output/symbols.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
	PATH_BYTES = 4 * PATH_MAX, /* the kernel writes one of four characters for some */
	LINE_BYTES = PATH_BYTES + 128,
	MAPPINGS_MAX = 1 << 16, /* more lines are not read; it is the usual limit of a process */
};

/* A file by what changes when it does. */
struct identity {
	dev_t device;
	ino_t inode;
	off_t size;
	struct timespec changed;
};

struct file {
	struct identity identity;
	struct symbols *symbols; /* NULL: it has none */
	uint64_t used;           /* when, in calls */
};

struct frames {
	struct file files[FRAMES_FILES_MAX];
	uint32_t file_count;
	uint64_t calls;
	size_t bytes; /* of all symbols */
	char line[LINE_BYTES];
	struct text_buffer texts[PROGRAM_FRAMES_MAX]; /* empty: not named yet */
	const char *told[PROGRAM_FRAMES_MAX];
};

struct frames *frames_new(void)
{
	return alloc_zero(1, sizeof(struct frames));
}

static void forget_texts(struct frames *frames)
{
	for (uint32_t i = 0; i < PROGRAM_FRAMES_MAX; i++)
		text_fini(&frames->texts[i]);
}

static void forget_file(struct frames *frames, uint32_t index)
{
	struct file *file = &frames->files[index];

	if (file->symbols)
		frames->bytes -= symbols_bytes(file->symbols);
	symbols_free(file->symbols);
	*file = frames->files[--frames->file_count];
}

void frames_free(struct frames *frames)
{
	if (!frames)
		return;
	while (frames->file_count)
		forget_file(frames, 0);
	forget_texts(frames);
	alloc_free(frames);
}

static uint32_t least_used(const struct frames *frames)
{
	uint32_t least = 0;

	for (uint32_t i = 1; i < frames->file_count; i++)
		if (frames->files[i].used < frames->files[least].used)
			least = i;
	return least;
}

static bool is_same(const struct identity *a, const struct identity *b)
{
	return a->device == b->device && a->inode == b->inode && a->size == b->size &&
	       a->changed.tv_sec == b->changed.tv_sec && a->changed.tv_nsec == b->changed.tv_nsec;
}

/* The file that path names, if it is a regular one: opening anything else could do something. */
static int open_regular(const char *path, struct identity *identity)
{
	char name[64];
	struct stat about;
	int place = open(path, O_PATH | O_CLOEXEC), fd = -1;

	if (place < 0)
		return -1;
	if (fstat(place, &about) == 0 && S_ISREG(about.st_mode)) {
		*identity = (struct identity){ about.st_dev, about.st_ino, about.st_size, about.st_mtim };
		snprintf(name, sizeof name, "/proc/self/fd/%d", place);
		fd = open(name, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	}
	close(place);
	return fd;
}

/* The very file that is mapped, whatever its name leads to by now; or what its name leads to in the process's view. */
static int open_mapped(uint32_t pid, const struct proc_mapping *mapping, struct identity *identity)
{
	char path[PATH_BYTES + 64];
	int fd;

	snprintf(path, sizeof path, "/proc/%" PRIu32 "/map_files/%" PRIx64 "-%" PRIx64, pid, mapping->start,
		 mapping->end);
	fd = open_regular(path, identity);
	if (fd >= 0)
		return fd;
	snprintf(path, sizeof path, "/proc/%" PRIu32 "/root%s", pid, mapping->path);
	return open_regular(path, identity);
}

/* The symbols of the file mapped there; NULL: there are none. */
static const struct symbols *symbols_of(struct frames *frames, uint32_t pid, const struct proc_mapping *mapping)
{
	struct identity identity;
	struct symbols *symbols = NULL;
	int fd = open_mapped(pid, mapping, &identity);

	if (fd < 0)
		return NULL;
	for (uint32_t i = 0; i < frames->file_count; i++) {
		if (!is_same(&frames->files[i].identity, &identity))
			continue;
		close(fd);
		frames->files[i].used = frames->calls;
		return frames->files[i].symbols;
	}
	symbols_read(fd, &symbols);
	close(fd);
	size_t bytes = symbols ? symbols_bytes(symbols) : 0;

	while (frames->file_count &&
	       (frames->file_count == FRAMES_FILES_MAX || frames->bytes + bytes > FRAMES_BYTES_MAX))
		forget_file(frames, least_used(frames));
	frames->files[frames->file_count++] = (struct file){ identity, symbols, frames->calls };
	frames->bytes += bytes;
	return symbols;
}

/* Where a frame that is not the innermost will return to may lie behind the function that it is in. */
static void name_frame(struct frames *frames, const struct program_match *match, uint32_t index,
		       const struct proc_mapping *mapping)
{
	uint64_t offset = match->stack[index] - mapping->start + mapping->offset, distance, back = index > 0;
	const struct symbols *symbols = mapping->path[0] == '/' ? symbols_of(frames, match->pid, mapping) : NULL;
	const char *name = symbols && offset >= back ? symbols_find(symbols, offset - back, &distance) : NULL;

	if (name)
		text_printf(&frames->texts[index], "%s+0x%" PRIx64 " (%s)", name, distance + back, mapping->path);
	else
		text_printf(&frames->texts[index], "0x%" PRIx64 " (%s)", offset, mapping->path);
}

static void name_mapped(struct frames *frames, const struct program_match *match)
{
	char path[64];
	uint32_t left = match->stack_count;
	struct proc_mapping mapping;

	snprintf(path, sizeof path, "/proc/%" PRIu32 "/maps", match->pid);
	FILE *maps = fopen(path, "re");

	for (uint32_t lines = 0;
	     maps && left && lines < MAPPINGS_MAX && proc_mapping_next(maps, frames->line, LINE_BYTES, &mapping);
	     lines++) {
		if (!*mapping.path)
			continue;
		for (uint32_t i = 0; i < match->stack_count; i++) {
			if (frames->texts[i].length || match->stack[i] < mapping.start ||
			    match->stack[i] >= mapping.end)
				continue;
			name_frame(frames, match, i, &mapping);
			left--;
		}
	}
	if (maps)
		fclose(maps);
}

/* Whether the process of this id now is the one that the match met. Births are counted while the machine sleeps, too.
 */
static bool is_there(const struct program_match *match)
{
	struct timespec boot;
	uint64_t ticks, birth, now = clock_now_ns(), hz = (uint64_t)sysconf(_SC_CLK_TCK);

	if (proc_birth((pid_t)match->pid, &ticks) || clock_gettime(CLOCK_BOOTTIME, &boot))
		return false;
	uint64_t slept = (uint64_t)boot.tv_sec * 1000000000 + (uint64_t)boot.tv_nsec - now;

	birth = ticks / hz * 1000000000 + ticks % hz * 1000000000 / hz;
	return birth <= match->ts + slept;
}

const char *const *frames_name(struct frames *frames, const struct program_match *match, bool foreign)
{
	forget_texts(frames);
	frames->calls++;
	if (!foreign && is_there(match))
		name_mapped(frames, match);
	for (uint32_t i = 0; i < match->stack_count; i++) {
		if (!frames->texts[i].length)
			text_printf(&frames->texts[i], "0x%" PRIx64, match->stack[i]);
		if (frames->texts[i].failure)
			return NULL;
		frames->told[i] = frames->texts[i].bytes;
	}
	return frames->told;
}
