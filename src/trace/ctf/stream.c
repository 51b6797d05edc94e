// SPDX-License-Identifier: BSD-2-Clause
/*
 * Opens the files of a stream and checks their packets. After ctf_stream_packet, content_end lies within the file, and
 * everything up to there may be read.
 */

#include "trace/ctf/read-priv.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* What has been read is given back in pieces of this size. */
enum { KEPT_BYTES = 1 << 20 };

static bool is_stream_file(const char *name)
{
	return strncmp(name, "stream_", 7) == 0 || strncmp(name, "matches", 7) == 0 || strncmp(name, "sensors", 7) == 0;
}

/* Opens a regular file of the trace. Returns the descriptor or -errno. */
static int open_stream_part(int folder, const char *name, struct stat *status)
{
	int fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0)
		return -errno;
	if (fstat(fd, status) == 0 && S_ISREG(status->st_mode))
		return fd;
	close(fd);
	return -EINVAL;
}

/* Notes what the first packet of the file says. Returns 1; 0 where there is nothing to read; -errno. */
static int look_at_packet(int folder, const char *name, struct ctf_part *part)
{
	struct ring_packet header;
	struct stat status = { 0 };
	int fd = open_stream_part(folder, name, &status);

	if (fd < 0)
		return fd == -ENOENT || fd == -EINVAL ? 0 : fd;
	*part = (struct ctf_part){ .bytes = (uint64_t)status.st_size };
	if (pread(fd, &header, sizeof header, 0) == sizeof header && header.magic == RING_PACKET_MAGIC) {
		part->instance = header.stream_instance;
		part->timestamp_begin = header.timestamp_begin;
		part->packet_seq_num = header.packet_seq_num;
	} else {
		part->is_wrong = true;
	}
	close(fd);
	if (!status.st_size)
		return 0;
	part->name = alloc_text(name);
	return part->name ? 1 : -ENOMEM;
}

/* Those that are wrong come first, each for itself; then by stream and in the order in which they were written. */
static int compare_parts(const void *left, const void *right)
{
	const struct ctf_part *a = left, *b = right;

	if (a->is_wrong != b->is_wrong)
		return a->is_wrong ? -1 : 1;
	if (a->instance != b->instance)
		return a->instance < b->instance ? -1 : 1;
	if (a->packet_seq_num != b->packet_seq_num)
		return a->packet_seq_num < b->packet_seq_num ? -1 : 1;
	return strcmp(a->name, b->name);
}

int ctf_parts_list(int folder, struct ctf_part **parts, size_t *count)
{
	int copy = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), result = 0;
	DIR *listing = copy >= 0 ? fdopendir(copy) : NULL;
	const struct dirent *entry;
	size_t capacity = 0;

	*parts = NULL;
	*count = 0;
	if (!listing) {
		result = -errno;
		if (copy >= 0)
			close(copy);
		return result;
	}
	while (result >= 0 && (entry = readdir(listing))) {
		if (!is_stream_file(entry->d_name))
			continue;
		result = alloc_grow(parts, &capacity, *count, sizeof **parts);
		if (!result)
			result = look_at_packet(folder, entry->d_name, &(*parts)[*count]);
		*count += result > 0;
	}
	closedir(listing);
	if (result >= 0 && *count)
		qsort(*parts, *count, sizeof **parts, compare_parts);
	return result < 0 ? result : 0;
}

void ctf_parts_free(struct ctf_part *parts, size_t count)
{
	for (size_t i = 0; i < count; i++)
		alloc_free(parts[i].name);
	alloc_free(parts);
}

static int damaged(struct ctf_stream *stream, uint64_t offset, const char *text)
{
	stream->damage = (struct ctf_damage){ text, offset };
	return 0;
}

static void close_file(struct ctf_stream *stream)
{
	if (stream->map)
		munmap((void *)stream->map, stream->map_bytes);
	if (stream->fd >= 0)
		close(stream->fd);
	stream->map = NULL;
	stream->fd = -1;
	stream->bytes_before += stream->size;
	stream->size = stream->packet_end = stream->at = stream->content_end = stream->dropped = 0;
}

/* Maps the next file of the stream. */
static int open_stream_file(struct ctf_stream *stream, int folder)
{
	struct stat status = { 0 };
	void *map;

	close_file(stream);
	stream->fd = open_stream_part(folder, stream->parts[stream->next_part++].name, &status);
	if (stream->fd < 0)
		return damaged(stream, 0, "cannot reopen the file");
	if (!status.st_size)
		return damaged(stream, 0, "the file is empty");
	map = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_SHARED, stream->fd, 0);
	if (map == MAP_FAILED)
		return damaged(stream, 0, "cannot map the file");
	madvise(map, (size_t)status.st_size, MADV_SEQUENTIAL);
	stream->map = map;
	stream->size = stream->map_bytes = (size_t)status.st_size;
	return 1;
}

static int check_header(struct ctf_stream *stream, const struct ring_packet *header, const struct ctf_types *types)
{
	size_t at = stream->packet_end;

	if (header->magic != RING_PACKET_MAGIC)
		return damaged(stream, at, "no packet begins here");
	if (memcmp(header->uuid, types->uuid, CTF_UUID_BYTES) != 0)
		return damaged(stream, at + offsetof(struct ring_packet, uuid), "the packet belongs to another trace");
	if (header->stream_id != (header->stream_instance == CTF_STREAM_SENSORS ? CTF_CLASS_SENSORS : 0) ||
	    header->stream_instance != stream->parts[0].instance)
		return damaged(stream, at + offsetof(struct ring_packet, stream_id),
			       "the packet belongs to another stream");
	if (header->content_bits % 8 || header->content_bits / 8 < sizeof *header ||
	    header->content_bits > header->packet_bits)
		return damaged(stream, at + offsetof(struct ring_packet, content_bits), "invalid size of a packet");
	if (header->packet_bits % 64)
		return damaged(stream, at + offsetof(struct ring_packet, packet_bits), "invalid size of a packet");
	if (header->timestamp_begin > header->timestamp_end || header->timestamp_end > INT64_MAX ||
	    (stream->has_packet && header->timestamp_begin < stream->timestamp_end))
		return damaged(stream, at + offsetof(struct ring_packet, timestamp_begin), "time goes back");
	if (stream->has_packet && header->events_discarded < stream->events_discarded)
		return damaged(stream, at + offsetof(struct ring_packet, events_discarded),
			       "the number of lost events has decreased");
	return 1;
}

/*
 * What was lost, by what the stream has lost so far and by the events that are not there. Where the events missing
 * between the packets are all that were lost, the packet itself is whole.
 */
static void find_loss(const struct ctf_stream *stream, const struct ring_packet *header, struct ctf_loss *loss)
{
	uint64_t discarded = header->events_discarded, expected = stream->events_before + stream->packet_events;
	uint64_t missing = 0;

	*loss = (struct ctf_loss){ 0 };
	if (stream->has_packet) {
		discarded -= stream->events_discarded;
		missing = header->events_before > expected ? header->events_before - expected : 0;
	} else if (header->packet_seq_num) {
		discarded = 0; /* the beginning is not there: what came before was not asked for */
	}
	loss->count = discarded > missing ? discarded : missing;
	if (loss->count)
		loss->until_ns = missing >= discarded ? header->timestamp_begin : header->timestamp_end;
}

static void enter_stream_packet(struct ctf_stream *stream, const struct ring_packet *header)
{
	size_t left = stream->size - stream->packet_end, content = header->content_bits / 8;

	stream->is_cut = header->packet_bits / 8 > left;
	stream->at = stream->packet_end + sizeof *header;
	stream->content_end = stream->packet_end + (content < left ? content : left);
	stream->packet_end += stream->is_cut ? left : header->packet_bits / 8;
	stream->ts = header->timestamp_begin;
	stream->timestamp_end = header->timestamp_end;
	stream->events_before = header->events_before;
	stream->events_discarded = header->events_discarded;
	stream->packet_events = 0;
	stream->has_packet = true;
	stream->header = (struct event_header){ .cpu = header->stream_id ? EVENT_NO_CPU : header->cpu_id };
}

/* Gives the pages before the packet back. */
static void drop_pages(struct ctf_stream *stream)
{
	size_t end = stream->packet_end & ~(size_t)(KEPT_BYTES - 1);

	if (end <= stream->dropped)
		return;
	madvise((void *)(stream->map + stream->dropped), end - stream->dropped, MADV_DONTNEED);
	stream->dropped = end;
}

/* A file that has been made shorter must not be read where it was. */
static void look_at_size(struct ctf_stream *stream)
{
	struct stat status;

	if (fstat(stream->fd, &status) == 0 && (size_t)status.st_size < stream->size)
		stream->size =
			(size_t)status.st_size > stream->packet_end ? (size_t)status.st_size : stream->packet_end;
}

int ctf_stream_packet(struct ctf_stream *stream, int folder, const struct ctf_types *types, struct ctf_loss *loss)
{
	struct ring_packet header;
	int result;

	if (stream->is_cut)
		return damaged(stream, stream->size, "the file ends in the middle of a packet");
	if (!stream->map || stream->packet_end == stream->size) {
		if (stream->next_part == stream->part_count)
			return 0;
		result = open_stream_file(stream, folder);
		if (!result)
			return 0;
	}
	look_at_size(stream);
	drop_pages(stream);
	if (stream->size - stream->packet_end < sizeof header)
		return damaged(stream, stream->size, "the file ends in the middle of a packet's header");
	memcpy(&header, stream->map + stream->packet_end, sizeof header);
	if (!check_header(stream, &header, types))
		return 0;
	find_loss(stream, &header, loss);
	stream->classes = &types->classes[header.stream_id];
	enter_stream_packet(stream, &header);
	return 1;
}

void ctf_stream_fini(struct ctf_stream *stream)
{
	close_file(stream);
}
