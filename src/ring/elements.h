/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef RING_ELEMENTS_H
#define RING_ELEMENTS_H

/*
 * Reading a ring with an exclusive writer event by event, each as soon as it is committed. Elements are used where they
 * lie:
 *
 *	while ((result = ring_elements_look(&reader, &element)) == 1) {
 *		... prepare from element.payload, which may be overwritten meanwhile ...
 *		if (ring_elements_take(&reader))
 *			... what was prepared from is what was written ...
 *	}
 *
 * Nothing in the ring's memory is believed: it may belong to somebody who writes nonsense into it at any time. Every
 * call takes a bounded number of steps. What is read lies within the ring; what makes no sense and was not overwritten
 * meanwhile is -EBADMSG, then and ever after, as what lies behind it cannot be found: sizes of elements that do not
 * fit, ids that nobody announced, counters that go back, headers that contradict what was read before, times that go
 * back. A writer that lies consistently is believed.
 *
 * Many readers may read one ring; each has its own struct ring_elements, which belongs to one thread.
 */

#include "ring/ring.h"

enum { RING_ELEMENT_NONE = UINT32_MAX };

struct ring_elements {
	struct ring ring;
	const uint32_t *units; /* of payload, per id; RING_ELEMENT_NONE: there is no such element */
	uint32_t ids;
	bool is_late;      /* what comes before the first element is not missed */
	uint64_t position; /* of what comes next */
	uint64_t number;   /* of the next element: read, or lost before it */
	uint64_t lost;     /* exactly, of those before number */
	uint64_t ts;       /* of what was taken last */
	struct ring_context who;
	uint64_t end; /* of the element looked at; 0: none */
	uint64_t end_ts;
	int failed; /* 0, -EBADMSG */
	bool was_idle;
	uint64_t idle_word; /* the reserve word then */
};

struct ring_element {
	uint64_t ts;
	uint64_t number;         /* in the ring, from 0, lost ones included */
	const uint64_t *payload; /* in the ring */
	uint32_t units;          /* of it */
	uint16_t id;
};

/* A reader from the ring's beginning. units is borrowed. */
void ring_elements_init(struct ring_elements *reader, const struct ring *ring, const uint32_t *units, uint32_t ids);

/*
 * Goes on at the newest sub-buffer, or the oldest that there is; what lies before is not missed. For a reader that
 * comes later, or that has lost the thread.
 */
void ring_elements_newest(struct ring_elements *reader);
void ring_elements_oldest(struct ring_elements *reader);

/*
 * The next element; the reader stays before it. reader->who is who raised it. Returns 1; 0 where there is none now, or
 * all that is looked at is overwritten meanwhile; -EBADMSG.
 */
int ring_elements_look(struct ring_elements *reader, struct ring_element *element);

/*
 * Goes behind the element looked at. True: it was not overwritten until now. False: it counts as lost, and nothing that
 * was made of it must be used.
 */
bool ring_elements_take(struct ring_elements *reader);

/*
 * Whether the writer has begun an event and not committed it. If it has not, every later event will be committed after
 * this call began; but its writer may see the clock a moment earlier than we see the store.
 */
bool ring_elements_in_flight(const struct ring_elements *reader);

/*
 * Whether, besides, everything that it has committed is taken: then every event that the reader has not taken will be
 * committed after this call began, however long ago the last look was.
 */
bool ring_elements_is_idle(struct ring_elements *reader);

/*
 * Whether nothing has been begun since ring_elements_is_idle said so: then it would say so again. A load and no more.
 * A word that is the same again after 2^32 events is taken for the same; the next event tells.
 */
bool ring_elements_is_still_idle(const struct ring_elements *reader);

#endif
