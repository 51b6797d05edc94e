// SPDX-License-Identifier: BSD-2-Clause
/*
 * Creates the files of a trace, and deletes those beyond its limit.
 *
 * Without a limit a stream is one file, stream_<n>. With one it is a sequence of files, stream_<n>_<part>, and a new
 * part begins when the current one has reached its share. When a packet would exceed the limit, parts that are
 * complete are deleted, those first whose last event is oldest; where none is complete, the current part whose last
 * event is oldest is completed and deleted. So what is left is the newest of all streams.
 *
 * A file always ends with a whole packet: what a failed write leaves behind is cut off.
 */

#include "trace/ctf/write-priv.h"

#include "base/create.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum { PARTS_PER_STREAM = 8, NAME_BYTES = 64 };

struct stream {
	int fd; /* -1: no part is open */
	uint32_t part;
	uint64_t bytes; /* of the current part */
	uint64_t last;  /* where its last packet begins */
	uint64_t timestamp_end;
};

/* A part that is complete. */
struct part {
	uint32_t stream, part;
	uint64_t bytes, timestamp_end;
};

struct ctf_files {
	char *path;
	int folder;
	struct asterism_diag *diag;
	mode_t mode;
	uint64_t max_bytes, bytes, deleted_bytes, metadata_bytes;
	struct stream *streams;
	uint32_t stream_count;
	bool has_sensors;
	struct part *parts;
	size_t part_count, part_capacity;
};

static int fail_trace_file(const struct ctf_files *files, const char *name, int error, const char *text)
{
	char path[512];
	struct diag_source source = { .file = path };

	snprintf(path, sizeof path, name ? "%s/%s" : "%s", files->path, name);
	return diag_error(files->diag, &(struct diag_location){ .source = &source }, -error, "%s: %s", text,
			  strerror(error));
}

static void name_part(const struct ctf_files *files, uint32_t stream, uint32_t part, char name[NAME_BYTES])
{
	uint32_t last = files->stream_count - 1;

	if (stream == last)
		snprintf(name, NAME_BYTES, "matches");
	else if (files->has_sensors && stream == last - 1)
		snprintf(name, NAME_BYTES, "sensors");
	else
		snprintf(name, NAME_BYTES, "stream_%u", stream);
	if (files->max_bytes)
		snprintf(name + strlen(name), NAME_BYTES - strlen(name), "_%u", part);
}

static int open_trace_folder(struct ctf_files *files)
{
	struct diag_source source = { .file = files->path };
	struct diag_location location = { .source = &source };
	const char *why;
	int result = create_folder(files->path, files->mode, NULL, &why);

	if (result < 0)
		return diag_error(files->diag, &location, result, "cannot create the directory: %s", why);
	files->folder = result;
	result = create_is_empty(files->folder);
	if (result < 0)
		return fail_trace_file(files, NULL, -result, "cannot read the directory");
	if (result)
		return 0;
	diag_add(files->diag, ASTERISM_ERROR, &location, "name a directory that does not exist, or empty it",
		 "the directory is not empty: a trace never overwrites files");
	return -EEXIST;
}

int ctf_files_new(const struct ctf_files_options *options, struct asterism_diag *diag, struct ctf_files **made)
{
	struct ctf_files *files = alloc_zero(1, sizeof *files);
	int result = -ENOMEM;

	if (!files)
		return diag_no_memory(diag);
	files->folder = -1;
	files->diag = diag;
	files->max_bytes = options->max_bytes;
	files->mode = options->mode;
	files->has_sensors = options->has_sensors;
	files->path = alloc_text(options->path);
	files->streams = alloc_zero(options->stream_count, sizeof *files->streams);
	if (files->streams)
		files->stream_count = options->stream_count;
	for (uint32_t i = 0; i < files->stream_count; i++)
		files->streams[i].fd = -1;
	result = files->path && files->streams ? open_trace_folder(files) : diag_no_memory(diag);
	if (result) {
		ctf_files_close(files);
		return result;
	}
	*made = files;
	return 0;
}

int ctf_files_close(struct ctf_files *files)
{
	int result = 0;

	if (!files)
		return 0;
	for (uint32_t i = 0; i < files->stream_count; i++) {
		if (files->streams[i].fd >= 0 && close(files->streams[i].fd) && !result)
			result = fail_trace_file(files, NULL, errno, "cannot write a file of the trace completely");
	}
	if (files->folder >= 0)
		close(files->folder);
	alloc_free(files->streams);
	alloc_free(files->parts);
	alloc_free(files->path);
	alloc_free(files);
	return result;
}

/* The file is written under a name that readers of traces pass over. */
#define UNFINISHED ".metadata"

static int write_file_text(int fd, const char *text, size_t length)
{
	size_t done = 0;
	int result = 0;

	while (done < length && !result) {
		ssize_t wrote = write(fd, text + done, length - done);

		if (wrote >= 0)
			done += (size_t)wrote;
		else if (errno != EINTR)
			result = -errno;
	}
	if (close(fd) && !result)
		result = -errno;
	return result;
}

int ctf_files_metadata(struct ctf_files *files, const char *text, size_t length)
{
	const char *why;
	int fd = create_in(files->folder, UNFINISHED, files->mode, &why), result;

	if (fd < 0)
		return fail_trace_file(files, "metadata", -fd, "cannot create the file");
	result = write_file_text(fd, text, length);
	if (!result && renameat(files->folder, UNFINISHED, files->folder, "metadata"))
		result = -errno;
	if (result) {
		unlinkat(files->folder, UNFINISHED, 0);
		return fail_trace_file(files, "metadata", -result, "cannot write the file");
	}
	files->bytes += length - files->metadata_bytes;
	files->metadata_bytes = length;
	return 0;
}

int ctf_files_metadata_add(struct ctf_files *files, const char *text, size_t length)
{
	int fd = openat(files->folder, "metadata", O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW), result = 0;
	size_t done = 0;

	if (fd < 0)
		return fail_trace_file(files, "metadata", errno, "cannot reopen the file");
	while (done < length && !result) {
		ssize_t wrote = write(fd, text + done, length - done);

		if (wrote >= 0)
			done += (size_t)wrote;
		else if (errno != EINTR)
			result = -errno;
	}
	if (result && ftruncate(fd, (off_t)files->metadata_bytes))
		result = -errno;
	close(fd);
	if (result)
		return fail_trace_file(files, "metadata", -result, "cannot declare more types");
	files->bytes += length;
	files->metadata_bytes += length;
	return 0;
}

static int open_file_part(struct ctf_files *files, uint32_t index)
{
	struct stream *stream = &files->streams[index];
	char name[NAME_BYTES];
	const char *why;

	name_part(files, index, stream->part, name);
	stream->fd = create_in(files->folder, name, files->mode, &why);
	stream->bytes = 0;
	return stream->fd < 0 ? fail_trace_file(files, name, -stream->fd, "cannot create the file") : 0;
}

/* Completes the current part. */
static int complete(struct ctf_files *files, uint32_t index)
{
	struct stream *stream = &files->streams[index];
	char name[NAME_BYTES];
	int fd = stream->fd;

	if (alloc_grow(&files->parts, &files->part_capacity, files->part_count, sizeof *files->parts))
		return diag_no_memory(files->diag);
	files->parts[files->part_count++] = (struct part){ index, stream->part, stream->bytes, stream->timestamp_end };
	name_part(files, index, stream->part, name);
	stream->fd = -1;
	stream->part++;
	return close(fd) ? fail_trace_file(files, name, errno, "cannot write the file completely") : 0;
}

/* The part of a stream whose last event is the oldest, completed if it is not yet; NULL where nothing is left. */
static int find_oldest(struct ctf_files *files, struct part **found)
{
	struct part *oldest = NULL;
	uint32_t current = files->stream_count;

	for (size_t i = 0; i < files->part_count; i++) {
		if (!oldest || files->parts[i].timestamp_end < oldest->timestamp_end)
			oldest = &files->parts[i];
	}
	*found = oldest;
	if (oldest)
		return 0;
	/* The matches are why a snapshot is kept. */
	for (uint32_t i = 0; i + 1 < files->stream_count; i++) {
		if (files->streams[i].fd >= 0 &&
		    (current == files->stream_count ||
		     files->streams[i].timestamp_end < files->streams[current].timestamp_end))
			current = i;
	}
	if (current == files->stream_count)
		return 0;
	int result = complete(files, current);
	if (files->part_count)
		*found = &files->parts[files->part_count - 1];
	return result;
}

static int make_files_room(struct ctf_files *files, uint64_t bytes)
{
	while (files->max_bytes && files->bytes + bytes > files->max_bytes) {
		struct part *oldest;
		char name[NAME_BYTES];
		int result = find_oldest(files, &oldest);

		if (result || !oldest)
			return result;
		name_part(files, oldest->stream, oldest->part, name);
		if (unlinkat(files->folder, name, 0))
			return fail_trace_file(files, name, errno, "cannot delete the oldest file of the trace");
		files->bytes -= oldest->bytes;
		files->deleted_bytes += oldest->bytes;
		*oldest = files->parts[--files->part_count];
	}
	return 0;
}

/* Takes back what a failed write has left of a packet. */
static int cut(struct ctf_files *files, uint32_t index, int error)
{
	struct stream *stream = &files->streams[index];
	char name[NAME_BYTES];

	name_part(files, index, stream->part, name);
	if (ftruncate(stream->fd, (off_t)stream->bytes) || lseek(stream->fd, (off_t)stream->bytes, SEEK_SET) < 0)
		return fail_trace_file(files, name, errno, "cannot remove an incompletely written packet");
	return fail_trace_file(files, name, error, error == ENOSPC ? "the disk is full" : "cannot write the file");
}

static int write_packet(struct ctf_files *files, uint32_t index, const struct ctf_packet *packet)
{
	static const char zeros[EVENT_PACKED_ALIGN];
	size_t padding = event_packed_round(packet->content_bytes) - packet->content_bytes;
	struct iovec pieces[3] = {
		{ (void *)packet->header, sizeof *packet->header },
		{ (void *)packet->content, packet->content_bytes },
		{ (void *)zeros, padding },
	};
	struct stream *stream = &files->streams[index];
	size_t left = pieces[0].iov_len + pieces[1].iov_len + padding;

	while (left > 0) {
		ssize_t wrote = writev(stream->fd, pieces, 3);

		if (wrote < 0 && errno == EINTR)
			continue;
		if (wrote <= 0)
			return cut(files, index, wrote ? errno : EIO);
		left -= (size_t)wrote;
		for (int i = 0; i < 3; i++) {
			size_t done = (size_t)wrote < pieces[i].iov_len ? (size_t)wrote : pieces[i].iov_len;

			pieces[i].iov_base = (char *)pieces[i].iov_base + done;
			pieces[i].iov_len -= done;
			wrote -= (ssize_t)done;
		}
	}
	return 0;
}

int ctf_files_append(struct ctf_files *files, uint32_t index, const struct ctf_packet *packet)
{
	struct stream *stream = &files->streams[index];
	uint64_t bytes = sizeof *packet->header + event_packed_round(packet->content_bytes);
	uint64_t share = files->max_bytes / (PARTS_PER_STREAM * (uint64_t)files->stream_count);
	int result = 0;

	if (files->max_bytes && stream->fd >= 0 && stream->bytes && stream->bytes + bytes > share)
		result = complete(files, index);
	if (!result)
		result = make_files_room(files, bytes);
	if (!result && stream->fd < 0)
		result = open_file_part(files, index);
	if (!result)
		result = write_packet(files, index, packet);
	if (result)
		return result;
	stream->last = stream->bytes;
	stream->bytes += bytes;
	stream->timestamp_end = packet->header->timestamp_end;
	files->bytes += bytes;
	return 0;
}

int ctf_files_discarded(struct ctf_files *files, uint32_t index, uint64_t discarded)
{
	const struct stream *stream = &files->streams[index];
	off_t at = (off_t)(stream->last + offsetof(struct ring_packet, events_discarded));

	if (stream->fd < 0 || !stream->bytes)
		return -ENOENT;
	return pwrite(stream->fd, &discarded, sizeof discarded, at) == sizeof discarded ? 0 : -errno;
}

uint64_t ctf_files_bytes(const struct ctf_files *files)
{
	return files->bytes;
}

uint64_t ctf_files_deleted_bytes(const struct ctf_files *files)
{
	return files->deleted_bytes;
}
