/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef RING_RING_H
#define RING_RING_H

/*
 * The one ring: what writers of events (programs in the kernel, sensors in applications) and readers agree on.
 *
 * Guarantees
 *   1. A writer finishes in a bounded number of its own steps whatever others do. It never waits, and never looks at
 *      readers. An event that finds no place in RING_ATTEMPTS attempts, or whose place another writer has not left
 *      since the last lap, is dropped and counted.
 *   2. Writers may interrupt each other (an interrupt over a task on one CPU, to any depth) and may run at the
 *      same time on several CPUs.
 *   3. The oldest sub-buffer is overwritten when a new one is needed.
 *   4. A reader finds in a bounded number of steps whether a sub-buffer is consistent, not yet complete or lost. What
 *      it calls consistent is what the writers wrote: no event of it is torn, missing or from another lap.
 *   5. In the order of the ring times never go back, and every event is preceded in its sub-buffer by the context
 *      that holds for it.
 *   6. Every sub-buffer knows how many events were written to the ring before it, so what is lost is known exactly.
 *      Contexts do not count. Dropped events were never in the ring; they are counted beside it.
 *
 * Memory. Everything is counted in units of 8 bytes; sub_units and sub_count are powers of two.
 *   control   struct ring_control, then one commit counter per sub-buffer
 *   data      sub_count sub-buffers of sub_units: struct ring_packet, then events; never full to the last unit
 *
 * The reserve word holds position (low half) and number of events (high half), both modulo 2^32 and counting from the
 * ring's beginning. A writer reads it, reads the clock, decides where its event goes, and replaces the word; if
 * somebody else did so first, it begins again. So a position and the number of events before it are known together,
 * and the clock's readings have the order of the positions. The writer that moves the position into another sub-buffer
 * opens it: writes the header, and closes the one before, whose rest becomes padding.
 *
 * A writer commits by adding the units that it has filled to the sub-buffer's counter; the padding of a sub-buffer is
 * committed by the one who closes it. Counters go on from lap to lap: after lap n (from 1) a complete sub-buffer's is
 * n * sub_units. A sub-buffer is only opened again once it is complete, so no writer touches a slot of another lap.
 *
 * Age. An event has the low 48 bits of its time, a sub-buffer's header the whole. So that the one gives the other, no
 * sub-buffer takes events of RING_AGE_MAX or more after it was opened: such an event opens the next. When that is due
 * stands in the control block, where it may be out of date only for a while after an opening, and then too early: an
 * event too soon in a sub-buffer of its own does no harm.
 *
 * Told. After its reservation a writer stores its thread and the position that it moved to in one word. The next one
 * needs not tell its context if the word names its own thread and the very position at which it goes on: only then the
 * last event in the ring is by the same thread.
 *
 * Order, each barrier with its partner:
 *   commit (release)           - reader's look at the counter (acquire): who sees all units sees all data
 *   exchange, then release fence before data
 *                              - reader's acquire fence after data, then a look at the word: who has read data of the
 *                                next lap sees that the sub-buffer was opened again
 *   commit (release)           - opener's look at the counter (acquire): the last lap is written before the next one
 *   told name, told (release)  - told (acquire), told name
 */

#include "ring/layout.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	RING_ATTEMPTS = 8,
};

/* A view of a ring that lies elsewhere. What is here is known from the ring's maker, never read from the ring. */
struct ring {
	struct ring_control *control;
	uint64_t *data;
	uint32_t sub_units;
	uint32_t sub_count; /* at least 2 */
	enum ring_clock clock;
	uint64_t (*now)(void); /* read instead of the clock, if not NULL */
};

/* Whether a ring can have this shape. */
bool ring_shape_is_valid(uint64_t sub_bytes, uint64_t sub_count);

/* Bytes of the control block. */
static inline size_t ring_control_bytes(uint32_t sub_count)
{
	return sizeof(struct ring_control) + sub_count * sizeof(uint64_t);
}

/* Where a ring lies that somebody else has made. */
struct ring_memory {
	void *control, *data;
	uint64_t control_bytes, data_bytes;
};

/* Writes the ring's shape and clock into its control block, before anybody else has it. */
void ring_name(const struct ring *ring);

/* The ring that memory says it is. Returns 0, or -EBADMSG: it says nothing, or what cannot be. */
int ring_describe(const struct ring_memory *memory, struct ring *ring);

/*
 * Writes one event: its id (not 0) and payload_units of payload. Any thread, any number at a time, signal handlers too.
 * Returns 0, or what became of it instead, all counted as dropped: -EMSGSIZE (a sub-buffer cannot hold it), -EBUSY (a
 * writer of the last lap is still where it should go), -EAGAIN (others were always faster).
 */
int ring_put(const struct ring *ring, const struct ring_context *who, uint16_t id, const uint64_t *payload,
	     uint32_t payload_units);

/* What a reader has in its buffer. */
struct ring_part {
	uint64_t sequence;      /* of the sub-buffer, from 0 */
	uint64_t events_before; /* in the ring before it */
	uint64_t events;        /* in it */
	uint32_t bytes;         /* with the header, without padding */
	uint32_t skip; /* of these, what ring_peek has handed out before; 0: nothing. The counts are of the rest */
};

/* The sub-buffers that may be read: first to last, the last being the one that is written to. False: none yet. */
bool ring_range(const struct ring *ring, uint64_t *first, uint64_t *last);

/* Events written since the ring's beginning, overwritten ones included, dropped ones not. */
uint64_t ring_written(const struct ring *ring);

/* Likewise units, headers and padding included. */
uint64_t ring_position(const struct ring *ring);
uint64_t ring_dropped(const struct ring *ring);

/* Of the dropped: those that their writer could not read. */
uint64_t ring_unread(const struct ring *ring);

/*
 * Copies a sub-buffer into buffer (sub_units): the header, in which the ring's own fields are filled, and the events.
 * Returns 1; 0 where it is not complete (yet); -ESTALE where it is overwritten; -EBADMSG where its header is nonsense,
 * which no writer of ours can bring about.
 */
int ring_read(const struct ring *ring, uint64_t sequence, void *buffer, struct ring_part *part);

/*
 * As ring_read for the last sub-buffer, as far as it is written. 0: somebody was writing at every one of our
 * attempts, or there is nothing at all.
 */
int ring_drain(const struct ring *ring, void *buffer, struct ring_part *part);

/* Somebody's way through a ring. Zero: from its beginning. */
struct ring_cursor {
	uint64_t next;   /* sub-buffer */
	uint64_t events; /* written before it, handed out or lost */
	uint64_t lost;   /* events, exactly, of those before next */
	uint32_t bytes;  /* of sub-buffer next, handed out by ring_peek */
	bool is_late;    /* nothing is handed out yet, and what lies before the first part is not missed */
};

/* Begins with the oldest sub-buffer that there is; what was overwritten before does not count as lost. */
void ring_cursor_rewind(const struct ring *ring, struct ring_cursor *cursor);

/*
 * Hands out the next complete sub-buffer as ring_read. Returns 1; 0 where there is none now; -EBADMSG.
 */
int ring_next(const struct ring *ring, struct ring_cursor *cursor, void *buffer, struct ring_part *part);

/*
 * The same, and where nothing is complete, what has been written to the last sub-buffer since it was last handed out:
 * for events that come so slowly that it takes long to fill one. Then cursor->bytes is not 0.
 */
int ring_peek(const struct ring *ring, struct ring_cursor *cursor, void *buffer, struct ring_part *part);

/*
 * The same as ring_next without waiting for more: sub-buffers that are not complete after some looks are skipped, and
 * the last one is drained. Where writers are at rest, lost is exact after the 0 at the end: written = handed out +
 * lost.
 */
int ring_finish(const struct ring *ring, struct ring_cursor *cursor, void *buffer, struct ring_part *part);

#endif
