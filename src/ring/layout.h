/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef RING_LAYOUT_H
#define RING_LAYOUT_H

/*
 * What lies in a ring's memory (ring/ring.h says what it means), in C11 and C++11 alike. The words of a control block
 * and of the data are accessed by nothing but what ring/order.h has.
 */

#include "ring/packet.h"

#include <stddef.h>
#include <stdint.h>

enum {
	RING_UNIT_BYTES = 8,
	RING_HEADER_UNITS = sizeof(struct ring_packet) / RING_UNIT_BYTES,
	RING_CONTEXT_UNITS = 4, /* with its event word */
	RING_COMM_BYTES = 16,
	RING_SUB_UNITS_MIN = 32,
	RING_UNITS_MAX = 1 << 30, /* of all sub-buffers together */
	RING_ID_BITS = 16,
	RING_ID_CONTEXT = 0,
};

/* What times are. Its number stands in shared memory. */
enum ring_clock {
	RING_CLOCK_MONOTONIC, /* CLOCK_MONOTONIC, ns */
	RING_CLOCK_TSC,       /* the CPU's counter, as it is read */
	RING_CLOCKS,
};

/* In the clock's units: 19 hours of ns, 6 of a counter at 3 GHz. Readers take 48 bits that seem to go back for damage,
 * so less than half of these. */
#define RING_AGE_MAX (UINT64_C(1) << 46)

struct ring_control {
	uint64_t reserve;          /* position | events << 32 */
	uint64_t reported;         /* position | tid << 32 */
	uint64_t reported_comm[2]; /* the name last told */
	uint64_t dropped;          /* events */
	/* Both halves of the reserve word without the modulo, as of a recent opening; for telling laps of the word. */
	uint64_t position;
	uint64_t events;
	uint64_t unread; /* of the dropped: what they need lies in memory that could not be read */
	uint64_t due;    /* the time from which on an event opens a sub-buffer; 0: none is open yet */
	uint64_t form;   /* RING_FORM, the clock, the shape: ring_describe; 0: known to the ring's maker only */
	uint64_t reserved[6];
#ifndef __cplusplus
	uint64_t commits[]; /* units, per sub-buffer */
#endif
};

RING_ASSERT(sizeof(struct ring_control) == 128, "programs in the kernel know this layout");

/* Who raises an event. */
struct ring_context {
	uint32_t tid;
	uint32_t pid;
	char comm[RING_COMM_BYTES];
};

/* Where a 64-bit field of the packet header lies, in units. */
#define RING_HEADER_UNIT(field) (offsetof(struct ring_packet, field) / RING_UNIT_BYTES)

RING_ASSERT(offsetof(struct ring_packet, events_before) % RING_UNIT_BYTES == 0, "written as one unit");
RING_ASSERT(offsetof(struct ring_packet, events_after) % RING_UNIT_BYTES == 0, "written as one unit");

static inline uint64_t *ring_commit_counter(struct ring_control *control, uint32_t slot)
{
	return (uint64_t *)(control + 1) + slot;
}

/* Most significant first: "RING", version, clock, log2 of units and number of sub-buffers. */
#define RING_FORM UINT64_C(0x52494e4701000000)

static inline uint64_t ring_form(uint32_t clock, uint32_t sub_units, uint32_t sub_count)
{
	return RING_FORM | (uint64_t)clock << 16 | (uint64_t)__builtin_ctz(sub_units) << 8 |
	       (uint64_t)__builtin_ctz(sub_count);
}

static inline uint64_t ring_event_word(uint16_t id, uint64_t ts)
{
	return ts << RING_ID_BITS | id;
}

#endif
