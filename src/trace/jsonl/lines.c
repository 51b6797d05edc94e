// SPDX-License-Identifier: BSD-2-Clause
/* Reads lines from a descriptor: through one buffer that grows to the longest line, up to the limit. */

#include "trace/jsonl/jsonl-priv.h"

#include "base/alloc.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

enum { FIRST_BYTES = 1 << 16 };

int jsonl_lines_init(struct jsonl_lines *lines, int fd)
{
	*lines = (struct jsonl_lines){ .fd = fd };
	lines->bytes = alloc_resize(NULL, FIRST_BYTES, 1);
	lines->room = FIRST_BYTES;
	return lines->bytes ? 0 : -ENOMEM;
}

void jsonl_lines_fini(struct jsonl_lines *lines)
{
	alloc_free(lines->bytes);
}

static int make_line_room(struct jsonl_lines *lines)
{
	size_t wanted = lines->room * 2;
	char *larger;

	if (lines->start) {
		memmove(lines->bytes, lines->bytes + lines->start, lines->end - lines->start);
		lines->end -= lines->start;
		lines->start = 0;
	}
	if (lines->end < lines->room)
		return 0;
	larger = alloc_resize(lines->bytes, wanted, 1);
	if (!larger)
		return -ENOMEM;
	lines->bytes = larger;
	lines->room = wanted;
	return 0;
}

/* Reads more. Returns 0, also at the end of the input, or -errno. */
static int fill_jsonl_lines(struct jsonl_lines *lines)
{
	int result = make_line_room(lines);
	ssize_t got;

	if (result)
		return result;
	got = read(lines->fd, lines->bytes + lines->end, lines->room - lines->end);
	if (got < 0)
		return -errno;
	lines->at_end = got == 0;
	lines->end += (size_t)got;
	return 0;
}

static void consume(struct jsonl_lines *lines, size_t bytes)
{
	lines->start += bytes;
	lines->offset += bytes;
}

/* Passes over the rest of a line that was too long. */
static int skip(struct jsonl_lines *lines)
{
	while (lines->skips) {
		char *from = lines->bytes + lines->start, *newline = memchr(from, '\n', lines->end - lines->start);
		int result;

		consume(lines, newline ? (size_t)(newline + 1 - from) : lines->end - lines->start);
		lines->skips = !newline && !lines->at_end;
		if (!lines->skips)
			break;
		result = fill_jsonl_lines(lines);
		if (result)
			return result;
	}
	return 0;
}

int jsonl_lines_next(struct jsonl_lines *lines, struct jsonl_line *line)
{
	size_t searched = 0;
	int result = skip(lines);

	while (!result) {
		char *from = lines->bytes + lines->start;
		size_t length = lines->end - lines->start;
		char *newline = memchr(from + searched, '\n', length - searched);

		if (!newline && lines->at_end && !length)
			return 0;
		if (newline || lines->at_end || length > TRACE_JSONL_LINE_BYTES_MAX) {
			*line = (struct jsonl_line){ from, newline ? (size_t)(newline - from) : length, !newline,
						     lines->offset };
			lines->number++;
			if (line->length > TRACE_JSONL_LINE_BYTES_MAX) {
				lines->skips = true;
				return -E2BIG;
			}
			consume(lines, line->length + (newline != NULL));
			return 1;
		}
		searched = length;
		result = fill_jsonl_lines(lines);
	}
	return result;
}
