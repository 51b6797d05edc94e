// SPDX-License-Identifier: BSD-2-Clause

#include "talk.h"

#include "sensor/place.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

void talk_send(int fd, const void *message, size_t bytes, const struct talk_more *more)
{
	struct sensor_sending sending = { .message = message,
					  .bytes = bytes,
					  .text = more ? more->text : NULL,
					  .text_bytes = more ? more->text_bytes : 0,
					  .fds = { more ? more->fd : 0 },
					  .fd_count = more && more->fd };

	sensor_packet_send(fd, &sending);
}

struct sensor_packet talk_reply;

/* What the directory says next, or -EPIPE. */
int talk_hear(struct rig *rig, int fd)
{
	int result = 0;

	for (int i = 0; i < 100000 && !result; i++) {
		rig_turn(rig);
		result = sensor_packet_receive(fd, &talk_reply);
		if (!result)
			usleep(i < 20 ? 0 : 100);
	}
	return result;
}

int talk_meet(struct rig *rig)
{
	int fd = sensor_place_connect(rig->path);

	assert_true(fd >= 0);
	rig_turn(rig);
	return fd;
}

int talk_register(struct rig *rig, int fd, uint32_t slots)
{
	struct sensor_register message = { .head = { SENSOR_REGISTER, SENSOR_PROTOCOL_VERSION }, .slots = slots };
	int result;

	talk_send(fd, &message, sizeof message, NULL);
	result = talk_hear(rig, fd);
	return result == 1 ? (int)talk_reply.is.head.kind : result;
}

void talk_mapped(int fd)
{
	struct sensor_message message = { SENSOR_MAPPED, SENSOR_PROTOCOL_VERSION };

	talk_send(fd, &message, sizeof message, NULL);
}

int talk_type(struct rig *rig, int fd, uint32_t first, const char *text)
{
	struct sensor_types message = { { SENSOR_TYPES, SENSOR_PROTOCOL_VERSION }, first, 1 };

	talk_send(fd, &message, sizeof message, &(struct talk_more){ text, strlen(text) + 1, 0 });
	return talk_hear(rig, fd) == 1 && talk_reply.is.head.kind == SENSOR_TAKEN
		       ? talk_reply.is.bytes[sizeof(struct sensor_taken)]
		       : -1;
}

/* A client that has registered as it should. */
int talk_join(struct rig *rig)
{
	int fd = talk_meet(rig);

	assert_int_equal(talk_register(rig, fd, 0), SENSOR_AREA);
	sensor_packet_close(&talk_reply);
	talk_mapped(fd);
	rig_turn(rig);
	return fd;
}
