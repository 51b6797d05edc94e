// SPDX-License-Identifier: BSD-2-Clause
/* Checks that a message is complete: whole, of this version, with no more descriptors than any has. */

#include "sensor/packet.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

union control {
	struct cmsghdr header;
	char bytes[CMSG_SPACE(SENSOR_PACKET_FDS * sizeof(int))];
};

int sensor_packet_send(int fd, const struct sensor_sending *sending)
{
	struct iovec parts[2] = { { (void *)sending->message, sending->bytes },
				  { (void *)sending->text, sending->text_bytes } };
	union control control = { 0 };
	struct msghdr message = { .msg_iov = parts, .msg_iovlen = sending->text ? 2 : 1 };
	size_t fd_bytes = sending->fd_count * sizeof(int);

	if (sending->fd_count) {
		message.msg_control = &control;
		message.msg_controllen = CMSG_SPACE(fd_bytes);
		control.header.cmsg_level = SOL_SOCKET;
		control.header.cmsg_type = SCM_RIGHTS;
		control.header.cmsg_len = CMSG_LEN(fd_bytes);
		memcpy(CMSG_DATA(&control.header), sending->fds, fd_bytes);
	}
	while (sendmsg(fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT) < 0) {
		if (errno != EINTR)
			return errno == ENOBUFS ? -EAGAIN : -errno;
	}
	return 0;
}

static void take_fds(struct sensor_packet *packet, struct msghdr *message)
{
	for (struct cmsghdr *part = CMSG_FIRSTHDR(message); part; part = CMSG_NXTHDR(message, part)) {
		if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS)
			continue;
		size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);

		for (size_t i = 0; i < count && packet->fd_count < SENSOR_PACKET_FDS; i++)
			memcpy(&packet->fds[packet->fd_count++], CMSG_DATA(part) + i * sizeof(int), sizeof(int));
	}
}

int sensor_packet_receive(int fd, struct sensor_packet *packet)
{
	struct iovec part = { packet->is.bytes, sizeof packet->is.bytes };
	union control control;
	struct msghdr message = {
		.msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control
	};
	bool was_reset = false;
	ssize_t length;

	packet->fd_count = 0;
	packet->length = 0;
	while ((length = recvmsg(fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC)) < 0) {
		bool is_reset = errno == ECONNRESET && !was_reset; /* said once, before what was sent before it */

		if (errno != EINTR && !is_reset)
			break;
		was_reset |= is_reset;
	}
	if (length < 0)
		return errno == EAGAIN ? 0 : errno == ECONNRESET ? -EPIPE : -errno;
	take_fds(packet, &message);
	packet->length = (size_t)length;
	bool is_whole = packet->length >= sizeof packet->is.head && !(message.msg_flags & MSG_TRUNC) &&
			packet->is.head.version == SENSOR_PROTOCOL_VERSION;

	if (is_whole && !(message.msg_flags & MSG_CTRUNC))
		return 1;
	/* Descriptors that came cut, though there was room to be told of them, found no place among ours. */
	bool lacks_place = is_whole && packet->fd_count < SENSOR_PACKET_FDS;

	sensor_packet_close(packet);
	return !length ? -EPIPE : lacks_place ? -EMFILE : -EBADMSG;
}

void sensor_packet_close(struct sensor_packet *packet)
{
	for (uint32_t i = 0; i < packet->fd_count; i++) {
		if (packet->fds[i] >= 0)
			close(packet->fds[i]);
	}
	packet->fd_count = 0;
}

const char *sensor_packet_text(const struct sensor_packet *packet, size_t bytes)
{
	const char *text = packet->is.bytes + bytes;

	if (packet->length <= bytes || memchr(text, 0, packet->length - bytes) != packet->is.bytes + packet->length - 1)
		return NULL;
	return text;
}
