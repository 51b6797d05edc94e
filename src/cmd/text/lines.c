// SPDX-License-Identifier: BSD-2-Clause
/* A queue of results for a descriptor, which counts those that the descriptor does not take. */

#include "cmd/text/lines.h"

#include "base/alloc.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WAITING_BYTES = 64 * 1024, RESULTS_MAX = 4096 };

int lines_init(struct lines *lines, int fd)
{
	*lines = (struct lines){ .fd = fd, .capacity = WAITING_BYTES };
	lines->stream = open_memstream(&lines->text, &lines->length);
	lines->waiting = alloc_zero(WAITING_BYTES, 1);
	lines->ends = alloc_zero(RESULTS_MAX, sizeof *lines->ends);
	return lines->stream && lines->waiting && lines->ends ? 0 : -ENOMEM;
}

void lines_fini(struct lines *lines)
{
	if (lines->stream)
		fclose(lines->stream);
	free(lines->text);
	alloc_free(lines->waiting);
	alloc_free(lines->ends);
	*lines = (struct lines){ .fd = -1 };
}

/* Takes written bytes from the front of what waits. */
static void advance_lines(struct lines *lines, size_t written)
{
	size_t done = 0, end;

	while (done < lines->count && lines->ends[done] <= written)
		done++;
	end = done ? lines->ends[done - 1] : 0;
	lines->begun_bytes = written - end + (done ? 0 : lines->begun_bytes);
	lines->count -= done;
	lines->used -= written;
	memmove(lines->waiting, lines->waiting + written, lines->used);
	for (size_t i = 0; i < lines->count; i++)
		lines->ends[i] = lines->ends[i + done] - written;
}

int lines_flush(struct lines *lines)
{
	size_t written = 0;

	lines->error = 0;
	while (written < lines->used && !lines->error) {
		ssize_t wrote = write(lines->fd, lines->waiting + written, lines->used - written);

		if (wrote > 0)
			written += (size_t)wrote;
		else if (wrote < 0 && errno == EAGAIN)
			poll(&(struct pollfd){ .fd = lines->fd, .events = POLLOUT }, 1, -1);
		else if (wrote == 0 || errno != EINTR)
			lines->error = wrote ? errno : EIO;
	}
	advance_lines(lines, written);
	return -lines->error;
}

/* Makes room for a result of length bytes. False: there is none. */
static bool make_result_room(struct lines *lines, size_t length)
{
	if (length <= lines->capacity - lines->used && lines->count < RESULTS_MAX)
		return true;
	lines_flush(lines);
	if (length > lines->capacity && !lines->used) {
		char *larger = alloc_resize(lines->waiting, length, 1);

		if (larger) {
			lines->waiting = larger;
			lines->capacity = length;
		}
	}
	return length <= lines->capacity - lines->used && lines->count < RESULTS_MAX;
}

int lines_put(struct lines *lines)
{
	bool whole = fflush(lines->stream) == 0 && !ferror(lines->stream);

	lines->error = 0;
	if (lines->length && whole && make_result_room(lines, lines->length)) {
		memcpy(lines->waiting + lines->used, lines->text, lines->length);
		lines->used += lines->length;
		lines->ends[lines->count++] = lines->used;
	} else if (lines->length) {
		lines->unwritten++;
	}
	clearerr(lines->stream);
	fseeko(lines->stream, 0, SEEK_SET);
	return -lines->error;
}

void lines_give_up(struct lines *lines, bool own_file)
{
	off_t end = lseek(lines->fd, 0, SEEK_CUR);

	if (lines->count && own_file && end >= (off_t)lines->begun_bytes &&
	    ftruncate(lines->fd, end - (off_t)lines->begun_bytes))
		lines->error = errno;
	lines->unwritten += lines->count;
	lines->count = lines->used = lines->begun_bytes = 0;
}
