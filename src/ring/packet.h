/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef RING_PACKET_H
#define RING_PACKET_H

/*
 * The first bytes of a sub-buffer, and of the CTF packet that it becomes (docs/formats/trace.md). In a ring the writer
 * keeps timestamp_begin, packet_seq_num and events_before, and who closes the sub-buffer timestamp_end, content_bits
 * and events_after; the writer of the trace fills in the rest. Little endian.
 */

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#define RING_ASSERT(condition, text) static_assert(condition, text)
#else
#define RING_ASSERT(condition, text) _Static_assert(condition, text)
#endif

#define RING_PACKET_MAGIC UINT32_C(0xC1FC1FC1)

struct ring_packet {
	uint32_t magic;
	uint8_t uuid[16];         /* of the trace */
	uint16_t stream_id;       /* class of the stream */
	uint16_t stream_instance; /* one per ring; for rings of CPUs the CPU */
	uint64_t events_before;   /* in the stream before this packet, lost ones included, contexts not */
	uint64_t timestamp_begin; /* CLOCK_MONOTONIC, ns */
	uint64_t timestamp_end;
	uint64_t content_bits; /* with this header, without the padding behind the last event */
	uint64_t packet_bits;
	uint64_t events_discarded; /* in the stream up to the end of this packet */
	uint64_t events_after;     /* in a ring: those in this packet included; 0 in a trace */
	uint32_t cpu_id;
	uint32_t reserved_too;
	uint64_t packet_seq_num;
};

/* events_before and what is reserved lie where CTF's alignment leaves gaps, so that other readers do not show them. */
RING_ASSERT(sizeof(struct ring_packet) == 96, "the packet header is a fixed layout");
RING_ASSERT(offsetof(struct ring_packet, events_before) == 24, "the packet header is a fixed layout");
RING_ASSERT(offsetof(struct ring_packet, timestamp_begin) == 32, "the packet header is a fixed layout");
RING_ASSERT(offsetof(struct ring_packet, events_discarded) == 64, "the packet header is a fixed layout");
RING_ASSERT(offsetof(struct ring_packet, cpu_id) == 80, "the packet header is a fixed layout");
RING_ASSERT(offsetof(struct ring_packet, packet_seq_num) == 88, "the packet header is a fixed layout");

#endif
