/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef MONITOR_QUEUE_H
#define MONITOR_QUEUE_H

/*
 * Bounded messages from one thread to one other, neither of which ever waits: from who answers in real time to who may
 * allocate, print and call the system, and back. What finds no room is counted, and never anything else in its place.
 *
 * put: the sender stores a message's bytes, then written (release), which take loads (acquire). take: the receiver has
 * read a message's bytes, then stores read (release), which put loads (acquire) before it uses the room again.
 */

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

struct monitor_queue {
	uint8_t *bytes;
	uint64_t capacity;           /* a power of two */
	_Atomic uint64_t written;    /* stored by the sender */
	_Atomic uint64_t read;       /* by the receiver */
	_Atomic uint64_t overflowed; /* messages without room; by the sender */
	uint64_t reserved;           /* the sender's: written when what was reserved is sent */
	uint64_t next;               /* the receiver's: read when the message looked at is dropped */
};

/* At least so many bytes; messages may have half of them. Returns 0, -ENOMEM. monitor_queue_fini either way. */
int monitor_queue_init(struct monitor_queue *queue, size_t bytes);
void monitor_queue_fini(struct monitor_queue *queue);

/* Sender: room for a message, aligned for any type, or NULL, which is counted. It is sent by monitor_queue_send. */
void *monitor_queue_reserve(struct monitor_queue *queue, size_t bytes);
void monitor_queue_send(struct monitor_queue *queue);

/* Receiver: the oldest message, or NULL: there is none. It stays until monitor_queue_drop. */
const void *monitor_queue_look(struct monitor_queue *queue, size_t *bytes);
void monitor_queue_drop(struct monitor_queue *queue);

#endif
