/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TESTS_SENSOR_TALK_H
#define TESTS_SENSOR_TALK_H

/* A client's side of the protocol, packet by packet, so that it can be wrong. */

#include "rig.h"
#include "sensor/packet.h"

/* What follows the struct. */
struct talk_more {
	const char *text;
	size_t text_bytes;
	int fd; /* 0: none */
};

extern struct sensor_packet talk_reply;

void talk_send(int fd, const void *message, size_t bytes, const struct talk_more *more);

/* What the directory says next, into talk_reply: 1, or -EPIPE. */
int talk_hear(struct rig *rig, int fd);

/* A connection. */
int talk_meet(struct rig *rig);

/* Returns the kind of the answer, or what talk_hear does. */
int talk_register(struct rig *rig, int fd, uint32_t slots);
void talk_mapped(int fd);

/* Returns the fault, or -1. */
int talk_type(struct rig *rig, int fd, uint32_t first, const char *text);

/* A client that has registered as it should. */
int talk_join(struct rig *rig);

#endif
