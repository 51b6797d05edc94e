/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TESTS_TRACE_PACKETS_H
#define TESTS_TRACE_PACKETS_H

/* Packets as a ring hands them out, made of records. One maker per processor. Aborts when memory runs out. */

#include "trace/ctf/write.h"

#include "ring/packet.h"

enum { PACKETS_BYTES = 1 << 16, PACKETS_TYPES_MAX = 64 };

struct packets {
	struct ctf_writer *writer;
	uint32_t cpu;
	struct event_packed layouts[PACKETS_TYPES_MAX]; /* by id */
	struct event_packed_context context;
	struct ring_packet header;
	uint64_t events, lost;
	size_t length;
	char bytes[PACKETS_BYTES];
};

struct packets *packets_new(struct ctf_writer *writer, const struct ctf_writer_options *options, uint32_t cpu);

/* Appends the event with this id, after the context where that changes; a full packet is written first. */
int packets_add(struct packets *packets, uint32_t id, const struct event_header *record);

/* Events are lost from here on. */
void packets_lose(struct packets *packets, uint64_t count);

/* Writes what there is; with only losses, a packet without events. */
int packets_flush(struct packets *packets);

#endif
