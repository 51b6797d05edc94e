// SPDX-License-Identifier: BSD-2-Clause
/*
 * Checks the messages of a registry before they are believed: that a text is one, that a shape can be, that an area has
 * the size that follows from it and keeps it.
 */

#include "sensor/observer.h"

#include "sensor/packet.h"
#include "sensor/place.h"

#include "base/alloc.h"
#include "ring/atomic.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

enum { REFUSAL_BYTES = 160 };

struct sensor_observer {
	int fd;
	const struct sensor_clock *clock; /* mapped; NULL: not told yet, or it is CLOCK_MONOTONIC */
	bool wants_areas;
	char refusal[REFUSAL_BYTES];
	char left_out[REFUSAL_BYTES];
	struct sensor_packet packet;
};

/* inode: of the memory; may be NULL. Returns 0, -EBADMSG: it is not what it should be; -errno. */
static int map(int fd, uint64_t bytes, void **mapped, uint64_t *inode)
{
	int seals = fcntl(fd, F_GET_SEALS);
	struct stat status;
	void *memory;

	if (seals < 0 || !(seals & F_SEAL_SHRINK) || fstat(fd, &status) || (uint64_t)status.st_size != bytes)
		return -EBADMSG;
	if (inode)
		*inode = status.st_ino;
	memory = mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, 0);
	if (memory == MAP_FAILED)
		return -errno;
	*mapped = memory;
	return 0;
}

void sensor_mapping_free(struct sensor_mapping *mapping)
{
	if (!mapping)
		return;
	munmap(mapping->memory, mapping->bytes);
	alloc_free(mapping);
}

struct ring sensor_mapping_ring(const struct sensor_mapping *mapping, uint32_t index)
{
	char *at = (char *)mapping->memory + sensor_ring_offset(&mapping->shape, index);

	return (struct ring){ .control = (struct ring_control *)at,
			      .data = (uint64_t *)(at + sensor_data_offset(&mapping->shape)),
			      .sub_units = mapping->shape.sub_units,
			      .sub_count = mapping->shape.sub_count,
			      .clock = mapping->clock };
}

static int connect_to_directory(const char *path, struct asterism_diag *diag)
{
	int fd = sensor_place_connect(path);

	if (fd == -ENOENT || fd == -ECONNREFUSED) {
		diag_add(diag, ASTERISM_ERROR, NULL, "start asterismd, or: asterism sensors --serve",
			 "no sensor registry is running at %s", path);
		return -ENOENT;
	}
	if (fd < 0)
		return diag_error(diag, NULL, fd, "cannot query the sensor registry at %s: %s", path, strerror(-fd));
	return fd;
}

/* The first one that serves; the last one's refusal where none does. */
static int connect_to_first(const char *given, char path[SENSOR_PLACE_BYTES], struct asterism_diag *diag)
{
	int fd = -ENOENT;

	if (given) {
		snprintf(path, SENSOR_PLACE_BYTES, "%s", given);
		return connect_to_directory(given, diag);
	}
	for (int i = 0; fd < 0 && sensor_place_get(i, path); i++)
		fd = sensor_place_connect(path);
	if (fd >= 0 && !getenv(SENSOR_SOCKET_VARIABLE) && !sensor_place_is_trusted(fd)) {
		close(fd);
		return diag_error(
			diag, NULL, -EPERM,
			"the sensor registry at %s belongs neither to root nor to this user and is not trusted", path);
	}
	if (fd >= 0)
		return fd;
	if (!sensor_place_get(0, path)) /* cannot be: too long */
		return diag_error(diag, NULL, -ENAMETOOLONG, "the path of the sensor registry's socket is too long");
	return connect_to_directory(path, diag);
}

int sensor_observer_open(const char *path, char *path_found, struct asterism_diag *diag,
			 struct sensor_observer **opened)
{
	char found[SENSOR_PLACE_BYTES] = "";
	struct sensor_observer *observer;
	int fd = connect_to_first(path, found, diag);

	if (path_found)
		strcpy(path_found, found);
	if (fd < 0)
		return fd;
	observer = alloc_zero(1, sizeof *observer);
	if (!observer) {
		close(fd);
		return diag_no_memory(diag);
	}
	observer->fd = fd;
	*opened = observer;
	return 0;
}

void sensor_observer_close(struct sensor_observer *observer)
{
	if (!observer)
		return;
	close(observer->fd);
	if (observer->clock)
		munmap((void *)observer->clock, SENSOR_PAGE_BYTES);
	alloc_free(observer);
}

int sensor_observer_fd(const struct sensor_observer *observer)
{
	return observer->fd;
}

/* The directory's words are its own: what would disturb a terminal is left out. */
static void take_words(char words[REFUSAL_BYTES], const char *text)
{
	size_t length = 0;

	for (; text && *text && length < REFUSAL_BYTES - 1; text++) {
		if (*text >= ' ' && *text < 0x7f)
			words[length++] = *text;
	}
	words[length] = 0;
}

static int take_refusal(struct sensor_observer *observer)
{
	const struct sensor_packet *packet = &observer->packet;
	const char *text = sensor_packet_text(packet, sizeof packet->is.refused);

	take_words(observer->refusal, text);
	return text && packet->is.refused.error < 0 && packet->is.refused.error > -4096 ? packet->is.refused.error
											: -EBADMSG;
}

bool sensor_observer_is_own(const struct sensor_observer *observer)
{
	struct ucred peer;
	socklen_t bytes = sizeof peer;

	return !getsockopt(observer->fd, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) && peer.pid == getpid();
}

int sensor_observer_ask(struct sensor_observer *observer, const char *pattern, uint32_t flags)
{
	struct sensor_observe observe = { .head = { SENSOR_OBSERVE, SENSOR_PROTOCOL_VERSION }, .flags = flags };
	struct sensor_sending sending = {
		.message = &observe, .bytes = sizeof observe, .text = pattern, .text_bytes = strlen(pattern) + 1
	};

	int result = sensor_packet_send(observer->fd, &sending);

	observer->wants_areas |= (flags & SENSOR_AREAS) != 0;
	/* It may have said why before it left. */
	if (result == -EPIPE && sensor_packet_receive(observer->fd, &observer->packet) == 1) {
		if (observer->packet.is.head.kind == SENSOR_REFUSED)
			result = take_refusal(observer);
		sensor_packet_close(&observer->packet);
	}
	return result;
}

const char *sensor_observer_reason(const struct sensor_observer *observer, int error)
{
	return *observer->refusal ? observer->refusal : strerror(-error);
}

static bool is_text(const char *field, size_t bytes)
{
	return memchr(field, 0, bytes) != NULL;
}

static int take_clock(struct sensor_observer *observer)
{
	const struct sensor_packet *packet = &observer->packet;
	void *clock = NULL;

	if (packet->length != sizeof packet->is.clock || packet->fd_count != 1 || observer->clock)
		return -EBADMSG;
	if (packet->is.clock.clock != RING_CLOCK_TSC)
		return packet->is.clock.clock == RING_CLOCK_MONOTONIC ? 0 : -EBADMSG;
	int result = map(packet->fds[0], SENSOR_PAGE_BYTES, &clock, NULL);

	observer->clock = clock;
	if (result)
		return result;
	return observer->clock->magic == SENSOR_CLOCK_MAGIC && observer->clock->version == SENSOR_LAYOUT_VERSION
		       ? 0
		       : -EBADMSG;
}

static bool has_texts(const struct sensor_process *process)
{
	return is_text(process->comm, sizeof process->comm) && is_text(process->path, sizeof process->path);
}

static int take_left_out(struct sensor_observer *observer, struct sensor_notice *notice)
{
	const struct sensor_packet *packet = &observer->packet;
	const char *text = sensor_packet_text(packet, sizeof packet->is.process);

	if (!text || !has_texts(&packet->is.process))
		return -EBADMSG;
	take_words(observer->left_out, text);
	notice->process = &packet->is.process;
	notice->text = observer->left_out;
	return 1;
}

static int take_observed_process(struct sensor_observer *observer, struct sensor_notice *notice)
{
	const struct sensor_packet *packet = &observer->packet;
	const struct sensor_process *process = &packet->is.process;
	struct sensor_shape shape = { process->slots, process->sub_units, process->sub_count };

	if (packet->length != sizeof *process || !has_texts(process) || !sensor_shape_is_valid(&shape) ||
	    process->clock >= RING_CLOCKS)
		return -EBADMSG;
	notice->process = process;
	notice->number = process->number;
	if (!packet->fd_count) {
		notice->fault = observer->wants_areas ? -EMFILE : 0;
		return 1;
	}
	notice->area = alloc_zero(1, sizeof *notice->area);
	if (!notice->area)
		return -ENOMEM;
	*notice->area = (struct sensor_mapping){ .bytes = sensor_area_bytes(&shape),
						 .shape = shape,
						 .clock = (enum ring_clock)process->clock };
	notice->fault = map(packet->fds[0], notice->area->bytes, &notice->area->memory, &notice->area->inode);
	if (!notice->fault)
		return 1;
	alloc_free(notice->area);
	notice->area = NULL;
	return 1;
}

static int take_notice_type(const struct sensor_packet *packet, struct sensor_notice *notice)
{
	const struct sensor_type *type = &packet->is.type;

	notice->type = type;
	notice->number = type->number;
	notice->text = sensor_packet_text(packet, sizeof *type);
	return notice->text && is_text(type->name, sizeof type->name) && type->id && type->id <= SENSOR_TYPES_MAX &&
			       type->units <= SENSOR_PAYLOAD_UNITS_MAX
		       ? 1
		       : -EBADMSG;
}

/* Returns 1; 0: it is for us; -errno. */
static int take_notice(struct sensor_observer *observer, struct sensor_notice *notice)
{
	const struct sensor_packet *packet = &observer->packet;

	*notice = (struct sensor_notice){ .kind = (enum sensor_kind)packet->is.head.kind };
	switch (notice->kind) {
	case SENSOR_CLOCK:
		return take_clock(observer);
	case SENSOR_REFUSED:
		return take_refusal(observer);
	case SENSOR_PROCESS:
		return take_observed_process(observer, notice);
	case SENSOR_TYPE:
		return take_notice_type(packet, notice);
	case SENSOR_LEFT_OUT:
		return take_left_out(observer, notice);
	case SENSOR_ENDED:
	case SENSOR_END:
		notice->number = packet->is.ended.number;
		return packet->length == sizeof packet->is.ended ? 1 : -EBADMSG;
	default:
		return -EBADMSG;
	}
}

int sensor_observer_next(struct sensor_observer *observer, int wait_ms, struct sensor_notice *notice)
{
	for (;;) {
		int result = sensor_packet_receive(observer->fd, &observer->packet);
		struct pollfd ready = { .fd = observer->fd, .events = POLLIN };

		/* A process whose memory has no place among our descriptors is not the end of the others. */
		if (result == 1 || (result == -EMFILE && observer->packet.is.head.kind == SENSOR_PROCESS)) {
			result = take_notice(observer, notice);
			sensor_packet_close(&observer->packet);
			if (result)
				return result;
			continue;
		}
		if (result || !wait_ms)
			return result;
		result = poll(&ready, 1, wait_ms);
		if (result < 0)
			return -errno;
		if (result == 0)
			return 0;
	}
}

const struct sensor_clock *sensor_observer_clock(const struct sensor_observer *observer)
{
	return observer->clock;
}
