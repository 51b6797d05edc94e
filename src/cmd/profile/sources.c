// SPDX-License-Identifier: BSD-2-Clause
/*
 * Reads source files, within limits. Their names are from a profile or from debugging information, so what they lead to
 * may be anything: only files are read, none that is too large, and all together no more than TOTAL_BYTES_MAX.
 */

#include "cmd/profile/annotate-priv.h"

#include "base/alloc.h"
#include "base/hash-table.h"
#include "base/hash.h"
#include "cli/print.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SOURCE_BYTES_MAX = 1 << 24, TOTAL_BYTES_MAX = 1 << 26, SOURCES_MAX = 1 << 12, LINE_BYTES = 240 };

struct source {
	char *name;
	char *text; /* NULL: it was not read */
	size_t length;
	uint32_t *starts; /* of lines */
	uint32_t line_count;
	struct timespec changed;
	bool is_newer; /* than the object */
};

struct sources {
	struct source *items;
	size_t count, capacity;
	struct hash_table by_name;
	uint64_t seed;
	size_t bytes;
	size_t unread, newer;
	char *first_unread, *first_newer; /* names of items */
	const char *why;                  /* the first was not read */
	char line[LINE_BYTES];
};

struct sources *sources_new(void)
{
	struct sources *sources = alloc_zero(1, sizeof *sources);

	if (sources)
		sources->seed = hash_seed(sources);
	return sources;
}

void sources_free(struct sources *sources)
{
	if (!sources)
		return;
	for (size_t i = 0; i < sources->count; i++) {
		alloc_free(sources->items[i].name);
		alloc_free(sources->items[i].text);
		alloc_free(sources->items[i].starts);
	}
	hash_table_fini(&sources->by_name);
	alloc_free(sources->items);
	alloc_free(sources);
}

/* The whole of an open file, as long as it was a moment ago. NULL: why. */
static const char *read_source_text(int fd, struct source *source)
{
	source->text = alloc_zero(source->length + 1, 1);
	if (!source->text)
		return "out of memory";
	for (size_t done = 0; done < source->length;) {
		ssize_t got = read(fd, source->text + done, source->length - done);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return strerror(errno);
		if (!got)
			source->length = done;
		done += (size_t)got;
	}
	return NULL;
}

static const char *find_lines(struct source *source)
{
	size_t capacity = 0;

	for (size_t at = 0; at < source->length;) {
		const char *newline = memchr(source->text + at, '\n', source->length - at);

		if (alloc_grow(&source->starts, &capacity, source->line_count, sizeof *source->starts))
			return "out of memory";
		source->starts[source->line_count++] = (uint32_t)at;
		at = newline ? (size_t)(newline - source->text) + 1 : source->length;
	}
	return NULL;
}

/* NULL, or why it is not read. */
static const char *read_object_source(struct sources *sources, struct source *source)
{
	int fd = open(source->name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	const char *why = NULL;
	struct stat about;

	if (fd < 0)
		return strerror(errno);
	if (fstat(fd, &about) || !S_ISREG(about.st_mode))
		why = "it is no file";
	else if (about.st_size > SOURCE_BYTES_MAX)
		why = "it is larger than 16 MiB";
	else if (sources->bytes + (size_t)about.st_size > TOTAL_BYTES_MAX)
		why = "64 MiB of sources have been read";
	if (!why) {
		source->length = (size_t)about.st_size;
		source->changed = about.st_mtim;
		sources->bytes += source->length;
		why = read_source_text(fd, source);
	}
	close(fd);
	return why ? why : find_lines(source);
}

static bool is_later(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec != b->tv_sec ? a->tv_sec > b->tv_sec : a->tv_nsec > b->tv_nsec;
}

static void add_profile_source(struct sources *sources, struct source *source, const char *object)
{
	const char *why = read_object_source(sources, source);
	struct stat about;

	if (why) {
		alloc_free(source->text);
		source->text = NULL;
		sources->why = sources->unread ? sources->why : why;
		sources->first_unread = sources->unread++ ? sources->first_unread : source->name;
	} else if (*object == '/' && stat(object, &about) == 0 && is_later(&source->changed, &about.st_mtim)) {
		sources->first_newer = sources->newer++ ? sources->first_newer : source->name;
	}
}

static struct source *find_source(struct sources *sources, const char *file, const char *object)
{
	uint64_t hash = hash_bytes(sources->seed, file, strlen(file));
	struct source *source;
	uint32_t number;

	for (size_t step = 0; (number = hash_table_next(&sources->by_name, hash, &step)) != HASH_NONE;) {
		if (strcmp(sources->items[number].name, file) == 0)
			return &sources->items[number];
	}
	if (sources->count == SOURCES_MAX ||
	    alloc_grow(&sources->items, &sources->capacity, sources->count, sizeof *sources->items) ||
	    hash_table_reserve(&sources->by_name, NULL, sources->count + 1))
		return NULL;
	source = &sources->items[sources->count];
	*source = (struct source){ .name = alloc_zero(strlen(file) + 1, 1) };
	if (!source->name)
		return NULL;
	strcpy(source->name, file);
	hash_table_add(&sources->by_name, hash, (uint32_t)sources->count++);
	add_profile_source(sources, source, object);
	return source;
}

const char *sources_line(struct sources *sources, const char *file, const char *object, uint32_t line)
{
	const struct source *source = *file ? find_source(sources, file, object) : NULL;
	size_t length = 0, from, end;

	if (!source || !source->text || !line || line > source->line_count)
		return NULL;
	from = source->starts[line - 1];
	end = line < source->line_count ? source->starts[line] : source->length;
	while (from < end && strchr(" \t", source->text[from]))
		from++;
	for (; from < end && length < LINE_BYTES - 1 && !strchr("\r\n", source->text[from]); from++)
		sources->line[length++] = source->text[from] == '\t' ? ' ' : source->text[from];
	sources->line[length] = 0;
	return sources->line;
}

void sources_tell(const struct sources *sources)
{
	if (sources->unread) {
		cli_note("%zu source file%s not be read, %s%s: %s", sources->unread,
			 sources->unread == 1 ? " could" : "s could", sources->unread == 1 ? "" : "such as ",
			 sources->first_unread, sources->why);
		cli_hint("the lines are correct nevertheless; run it where the sources are to see their text");
	}
	if (sources->newer) {
		cli_warning("%zu source file%s newer than the program, %s%s: its lines may have changed",
			    sources->newer, sources->newer == 1 ? " is" : "s are",
			    sources->newer == 1 ? "" : "such as ", sources->first_newer);
		cli_hint("build the program again, and take a new profile");
	}
	if (sources->count == SOURCES_MAX)
		cli_note("the text of at most %d sources is shown", SOURCES_MAX);
}
