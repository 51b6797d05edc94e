/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SENSOR_LAYOUT_H
#define SENSOR_LAYOUT_H

/*
 * What lies in the memory that applications, the directory and readers of sensors share, in C11 and C++11 alike. There
 * are three kinds, each a sealed memfd:
 *
 *   area    one per process: a page for the header, the slots, then a ring per slot. The application writes; whoever
 *           else has it, reads and believes nothing: its shape is what the directory said (sensor/protocol.h), the
 *           header is for post-mortem eyes.
 *   gates   one per process, a page: a word per type, at the type's id. The directory writes, the application looks.
 *   clock   one per directory, a page: what the CPU's counter was at which time. The directory writes.
 *
 * Rings have the layout of ring/layout.h, are of the same shape, and say so themselves (ring_describe). Each has one
 * writer at a time (ring/exclusive.h), the thread whose id stands in its slot. Some are a thread's until it ends, some
 * are lent for an event: to threads that found none, and to signal handlers that interrupt a thread in its own. That is
 * the application's business; to readers all are the same.
 *
 * Types have the ids 1, 2, ... in the order in which the process told of them; 0 is a ring's context. A type's payload
 * is the C struct of its fields in their order: scalars aligned to their size (1 for bool), strings of so many bytes
 * as their capacity, which is a multiple of 8; filled up to whole units (sensor/payload.h).
 */

#include "ring/layout.h"

#define SENSOR_AREA_MAGIC  UINT64_C(0x61657261736e6573) /* "sensarea" */
#define SENSOR_CLOCK_MAGIC UINT64_C(0x6b636c63736e6573)

enum {
	SENSOR_LAYOUT_VERSION = 1,
	SENSOR_PAGE_BYTES = 4096,
	SENSOR_LINE_BYTES = 64,
	SENSOR_SLOTS_MAX = 256,
	SENSOR_SUB_UNITS_MIN = 256,
	SENSOR_AREA_BYTES_MAX = 1 << 28,
	SENSOR_TYPES_MAX = 512, /* of a process; ids are 1 to this */
	SENSOR_PAYLOAD_UNITS_MAX = 128,
	SENSOR_CLOCK_POINTS = 128,
};

/* Of a gate word. 0: nobody looks. */
enum sensor_gate {
	SENSOR_GATE_RING = 1,   /* somebody reads the area */
	SENSOR_GATE_KERNEL = 2, /* programs in the kernel wait for it */
	SENSOR_GATE_ALWAYS = 4, /* flight recorder: written although nobody may be there */
};

/*
 * With SENSOR_GATE_KERNEL the thread makes the call prctl(SENSOR_CALL, key, bytes, 0, payload) when it has written its
 * event: it fails, and programs in the kernel see it. The key is that of the type (sensor/key.h).
 */
#define SENSOR_CALL 0x41535345

/* The rest of its page is 0. */
struct sensor_area {
	uint64_t magic;
	uint32_t version;
	uint32_t clock; /* enum ring_clock */
	uint32_t pid;   /* as the directory sees it */
	uint32_t uid;
	uint64_t birth_ticks; /* /proc/PID/stat */
	uint64_t bytes;       /* of the whole area */
	uint64_t number;      /* of the process in its directory */
	uint32_t slots, sub_units, sub_count;
	uint32_t slots_offset, rings_offset, ring_bytes; /* from one ring to the next */
	uint64_t made_ns, made_tsc;                      /* CLOCK_MONOTONIC and the counter, when it was made */
};

RING_ASSERT(sizeof(struct sensor_area) == 88, "the area is a fixed layout");

/* A line of the CPU's cache each, so that threads that come and go do not disturb those that write. */
struct sensor_slot {
	uint64_t owner;   /* 0: free; else the thread's id, in the process's own numbers. Taken by exchange */
	uint64_t owners;  /* how many there have been */
	uint64_t dropped; /* events that found no ring; in the first slot, for all */
	uint64_t reserved[5];
};

RING_ASSERT(sizeof(struct sensor_slot) == SENSOR_LINE_BYTES, "the slot is a fixed layout");

/* The shape of an area, from which all offsets follow. */
struct sensor_shape {
	uint32_t slots;                /* rings */
	uint32_t sub_units, sub_count; /* of every ring, powers of two */
};

static inline uint64_t sensor_round(uint64_t bytes, uint64_t to)
{
	return (bytes + to - 1) & ~(to - 1);
}

/* So no event is too large for a sub-buffer, and no ring ever drops one: control->dropped says nothing here. */
RING_ASSERT(SENSOR_SUB_UNITS_MIN > RING_HEADER_UNITS + RING_CONTEXT_UNITS + 1 + SENSOR_PAYLOAD_UNITS_MAX,
	    "a sub-buffer has room for the largest event");

/* Where in a ring's memory the data begin, behind its control block. */
static inline uint64_t sensor_data_offset(const struct sensor_shape *shape)
{
	return sensor_round(sizeof(struct ring_control) + shape->sub_count * sizeof(uint64_t), SENSOR_LINE_BYTES);
}

static inline uint64_t sensor_ring_bytes(const struct sensor_shape *shape)
{
	return sensor_data_offset(shape) + (uint64_t)shape->sub_units * shape->sub_count * RING_UNIT_BYTES;
}

static inline uint64_t sensor_slots_offset(void)
{
	return SENSOR_PAGE_BYTES;
}

static inline uint64_t sensor_rings_offset(const struct sensor_shape *shape)
{
	return sensor_round(SENSOR_PAGE_BYTES + shape->slots * sizeof(struct sensor_slot), SENSOR_PAGE_BYTES);
}

/* Where ring number index begins, with its control block. */
static inline uint64_t sensor_ring_offset(const struct sensor_shape *shape, uint32_t index)
{
	return sensor_rings_offset(shape) + index * sensor_ring_bytes(shape);
}

/* Of the whole area. */
static inline uint64_t sensor_area_bytes(const struct sensor_shape *shape)
{
	return sensor_round(sensor_ring_offset(shape, shape->slots), SENSOR_PAGE_BYTES);
}

/* The shape where nobody wishes another: 12 threads of their own, 4 rings to be lent, 128 KiB each. */
enum { SENSOR_SLOTS = 16, SENSOR_SUB_UNITS = 1024, SENSOR_SUB_COUNT = 16 };

/* Whether an area can have this shape; without this nothing above may be asked of what somebody else said. */
static inline int sensor_shape_is_valid(const struct sensor_shape *shape)
{
	return shape->slots >= 2 && shape->slots <= SENSOR_SLOTS_MAX && shape->sub_units >= SENSOR_SUB_UNITS_MIN &&
	       shape->sub_units <= 1 << 20 && shape->sub_count >= 2 && shape->sub_count <= 1 << 12 &&
	       !(shape->sub_units & (shape->sub_units - 1)) && !(shape->sub_count & (shape->sub_count - 1)) &&
	       sensor_area_bytes(shape) <= SENSOR_AREA_BYTES_MAX;
}

/*
 * The clock's page. The directory adds a point every second, at item count % SENSOR_CLOCK_POINTS, and then stores
 * count + 1 (release). The item that count names next may be in construction. Between points time goes evenly; behind
 * the last one it goes on as between the last two, at first as per hz.
 */
struct sensor_clock_point {
	uint64_t tsc;
	uint64_t ns; /* CLOCK_MONOTONIC */
};

struct sensor_clock {
	uint64_t magic;
	uint32_t version;
	uint32_t clock; /* enum ring_clock of all areas; with RING_CLOCK_MONOTONIC there are no points */
	uint64_t count;
	uint64_t hz; /* measured at the start, over some ms */
	struct sensor_clock_point points[SENSOR_CLOCK_POINTS];
};

RING_ASSERT(sizeof(struct sensor_clock) <= SENSOR_PAGE_BYTES, "the clock has one page");
RING_ASSERT((SENSOR_TYPES_MAX + 1) * 4 <= SENSOR_PAGE_BYTES, "the gates have one page");

#endif
