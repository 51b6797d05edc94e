/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SENSOR_PACKET_H
#define SENSOR_PACKET_H

/* Messages of sensor/protocol.h over a socket, with the descriptors that come with them. */

#include "sensor/protocol.h"

#include <stddef.h>

enum { SENSOR_PACKET_FDS = 2 };

struct sensor_packet {
	union {
		struct sensor_message head;
		struct sensor_register registration;
		struct sensor_types types;
		struct sensor_presence presence;
		struct sensor_observe observe;
		struct sensor_process process;
		struct sensor_type type;
		struct sensor_ended ended;
		struct sensor_clock_message clock;
		struct sensor_refused refused;
		char bytes[SENSOR_MESSAGE_BYTES_MAX];
	} is;
	size_t length;
	int fds[SENSOR_PACKET_FDS];
	uint32_t fd_count;
};

/* What is sent: a struct, a text behind it (NULL: none) with its NUL, descriptors that stay the sender's. */
struct sensor_sending {
	const void *message;
	size_t bytes;
	const char *text;
	size_t text_bytes;
	int fds[SENSOR_PACKET_FDS];
	uint32_t fd_count;
};

/* Never waits. Returns 0, -EAGAIN: the other side does not take it; -errno. */
int sensor_packet_send(int fd, const struct sensor_sending *sending);

/*
 * Takes the next one; its descriptors are the taker's. Never waits. Returns 1; 0: there is none; -EPIPE: the other side
 * is gone; -EBADMSG: it is no message; -EMFILE: there it is, without its descriptors, for which there was no place;
 * -errno.
 */
int sensor_packet_receive(int fd, struct sensor_packet *packet);

/* Closes the descriptors that nobody has taken: that are not -1. */
void sensor_packet_close(struct sensor_packet *packet);

/* The text behind the struct of bytes, if there is one and it is one: ends with its only NUL. Else NULL. */
const char *sensor_packet_text(const struct sensor_packet *packet, size_t bytes);

#endif
