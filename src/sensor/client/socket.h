/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SENSOR_CLIENT_SOCKET_H
#define SENSOR_CLIENT_SOCKET_H

/* Where an application finds a directory, and how messages come and go, each within a time. */

#include "sensor/client/state.h"

#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/auxv.h>
#include <sys/socket.h>
#include <sys/un.h>

/* A message with its descriptors. */
struct asterism_client_message {
	union {
		struct sensor_message head;
		struct sensor_area_message area;
		struct sensor_taken taken;
		char bytes[1024];
	} is;
	size_t length;
	int fds[2];
	uint32_t fd_count;
};

ASTERISM_CLIENT_FUNCTION uint64_t asterism_client_now_ms(void)
{
	return asterism_sensor_monotonic_ns() / 1000000;
}

/* A connection, or -1 and errno. */
ASTERISM_CLIENT_FUNCTION int asterism_client_connect(const char *path)
{
	struct sockaddr_un address;
	size_t length = strlen(path);
	int fd;

	memset(&address, 0, sizeof address);
	address.sun_family = AF_UNIX;
	if (length >= sizeof address.sun_path)
		return -1;
	memcpy(address.sun_path, path, length);
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd >= 0 && connect(fd, (const struct sockaddr *)&address, sizeof address)) {
		int error = errno;

		close(fd);
		errno = error;
		fd = -1;
	}
	return fd;
}

/* Whether root or this user serves there. */
ASTERISM_CLIENT_FUNCTION int asterism_client_trusts(int fd)
{
	struct { /* ucred, which has no name without _GNU_SOURCE */
		pid_t pid;
		uid_t uid;
		gid_t gid;
	} peer;
	socklen_t bytes = sizeof peer;

	return !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) && (!peer.uid || peer.uid == geteuid());
}

/* What the environment says, unless the program runs with more rights than who started it. */
ASTERISM_CLIENT_FUNCTION const char *asterism_client_given(const char *name)
{
	return getauxval(AT_SECURE) ? NULL : getenv(name);
}

/*
 * How many sub-buffers of the usual size a ring is to have, as the environment says: a power of two, as few as hold
 * that, or as many as an area can have. 0: it says nothing.
 */
ASTERISM_CLIENT_FUNCTION uint32_t asterism_client_given_count(void)
{
	const uint64_t sub_bytes = (uint64_t)SENSOR_SUB_UNITS * RING_UNIT_BYTES;
	const uint64_t count_max = SENSOR_AREA_BYTES_MAX / 2 / SENSOR_SLOTS / sub_bytes;
	const char *given = asterism_client_given(SENSOR_RING_VARIABLE);
	uint64_t bytes = 0, count = 2;

	for (; given && *given >= '0' && *given <= '9' && bytes < UINT32_MAX; given++)
		bytes = bytes * 10 + (uint64_t)(*given - '0');
	if (!bytes)
		return 0;
	bytes <<= *given == 'K' || *given == 'k' ? 10 : *given == 'M' || *given == 'm' ? 20 : 0;
	while (count < count_max && count * sub_bytes < bytes)
		count *= 2;
	return (uint32_t)count;
}

/* The path that the environment has, or NULL. */
ASTERISM_CLIENT_FUNCTION const char *asterism_client_given_path(void)
{
	return sensor_socket_path(asterism_client_given(SENSOR_SOCKET_VARIABLE));
}

/* Path number index of those where a directory may be. 0: there is no such one. */
ASTERISM_CLIENT_FUNCTION int asterism_client_path(int index, char *path, size_t size)
{
	const char *given = asterism_client_given_path();
	const char *folder = asterism_client_given("XDG_RUNTIME_DIR");

	path[0] = 0;
	if (given)
		return index == 0 && snprintf(path, size, "%s", given) < (int)size;
	if (index == 0)
		return snprintf(path, size, "%s", SENSOR_SOCKET_SYSTEM) < (int)size;
	return index == 1 && folder && snprintf(path, size, "%s/%s", folder, SENSOR_SOCKET_USER) < (int)size;
}

/* Sends a struct and a text behind it; fd -1: no descriptor. Returns 0 or -1. */
ASTERISM_CLIENT_FUNCTION int asterism_client_send(int to, struct iovec parts[2], int fd)
{
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control;
	struct msghdr message;

	memset(&message, 0, sizeof message);
	memset(&control, 0, sizeof control);
	message.msg_iov = parts;
	message.msg_iovlen = parts[1].iov_len ? 2 : 1;
	if (fd >= 0) {
		message.msg_control = &control;
		message.msg_controllen = sizeof control;
		control.header.cmsg_level = SOL_SOCKET;
		control.header.cmsg_type = SCM_RIGHTS;
		control.header.cmsg_len = CMSG_LEN(sizeof fd);
		memcpy(CMSG_DATA(&control.header), &fd, sizeof fd);
	}
	return sendmsg(to, &message, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 ? -1 : 0;
}

ASTERISM_CLIENT_FUNCTION void asterism_client_close_all(struct asterism_client_message *message)
{
	while (message->fd_count)
		close(message->fds[--message->fd_count]);
}

/* Takes the descriptors that came; more than there is room for never arrive. */
ASTERISM_CLIENT_FUNCTION void asterism_client_take(struct asterism_client_message *message, struct msghdr *header)
{
	for (struct cmsghdr *part = CMSG_FIRSTHDR(header); part; part = CMSG_NXTHDR(header, part)) {
		if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS)
			continue;
		size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);

		for (size_t i = 0; i < count && message->fd_count < 2; i++)
			memcpy(&message->fds[message->fd_count++], CMSG_DATA(part) + i * sizeof(int), sizeof(int));
	}
}

/* The next message, waited for so long. Returns 1; 0: none came; -1: the directory is gone, or talks nonsense. */
ASTERISM_CLIENT_FUNCTION int asterism_client_receive(int from, uint32_t wait_ms,
						     struct asterism_client_message *message)
{
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(2 * sizeof(int))];
	} control;
	uint64_t until = asterism_client_now_ms() + wait_ms;
	struct iovec part;
	struct msghdr header;
	ssize_t length;

	for (;;) {
		uint64_t now = asterism_client_now_ms();
		struct pollfd ready = { from, POLLIN, 0 };

		memset(&header, 0, sizeof header);
		part.iov_base = message->is.bytes;
		part.iov_len = sizeof message->is.bytes;
		header.msg_iov = &part;
		header.msg_iovlen = 1;
		header.msg_control = &control;
		header.msg_controllen = sizeof control;
		message->fd_count = 0;
		length = recvmsg(from, &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
		if (length >= 0 || (errno != EAGAIN && errno != EINTR))
			break;
		if (now >= until)
			return 0;
		poll(&ready, 1, (int)(until - now));
	}
	if (length <= 0)
		return -1;
	asterism_client_take(message, &header);
	message->length = (size_t)length;
	if (message->length >= sizeof message->is.head && !(header.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) &&
	    message->is.head.version == SENSOR_PROTOCOL_VERSION)
		return 1;
	asterism_client_close_all(message);
	return -1;
}

#endif
