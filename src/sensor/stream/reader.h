/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SENSOR_STREAM_READER_H
#define SENSOR_STREAM_READER_H

/*
 * A ring of an application as an input of a merge: elements become event records. Nothing in the ring is believed
 * (ring/elements.h); who the process is comes from elsewhere. An element is copied and looked at once more before
 * anybody sees it, so a record is what was written.
 *
 * A ring in which nothing is begun has no event before now, less what a store takes to be seen. One with a writer in
 * between holds the merge back, as that event may have any time since the ring was seen at rest; but only for so long:
 * a writer that is preempted there, or that never goes on, is passed over, and its event is late.
 */

#include "ring/elements.h"
#include "sensor/stream/clock.h"
#include "sensor/stream/merge.h"

/* How a field of an element gets into a record. */
struct stream_field {
	uint32_t from, from_bytes; /* in the element: 1, 2, 4, 8, or those of a text */
	uint32_t to, to_bytes;     /* in the record */
	enum event_value value;
};

/* How an element becomes a record. */
struct stream_form {
	uint32_t type; /* of the record; STREAM_NO_TYPE: nobody wants it */
	uint32_t want; /* of them: which */
	uint32_t record_bytes;
	const struct stream_field *fields;
	uint32_t field_count;
};

#define STREAM_NO_TYPE UINT32_MAX

enum {
	STREAM_VISIBLE_NS = 2000,     /* in which a store is seen by others */
	STREAM_HOLD_NS = 1000 * 1000, /* how long a writer that is in between holds others back */
};

/* What all rings that are read together share. */
struct stream_reading {
	struct stream_clock clock; /* its owner looks now and then */
	uint64_t (*now)(void);     /* CLOCK_MONOTONIC */
	/*
	 * What that was when the owner's turn began, for rings that are still as they were: 0, and each look reads the
	 * clock.
	 */
	uint64_t turn_ns;
	uint64_t visible_ns, hold_ns;
	uint64_t begin_ns;     /* what was raised before is left out, */
	uint64_t end_ns;       /* and what came later; MERGE_NEVER: there is no end yet */
	uint32_t record_bytes; /* of the largest record */
	uint64_t events;       /* handed to the merge */
	uint64_t held;         /* how often a writer was passed over */
	/*
	 * Where another thread takes what the directory tells: how often it has done so. What it had begun to take when
	 * an element made no sense may lack the type. NULL: that happens between two looks.
	 */
	const _Atomic uint64_t *served;
};

struct stream_reader {
	struct merge_input input; /* first */
	struct ring_elements elements;
	struct stream_reading *reading;
	const struct stream_form *forms; /* per id of the ring */
	uint32_t pid;
	bool is_closed;     /* set by its owner: nobody writes any more */
	bool is_over;       /* an element came after the end */
	bool passed;        /* the writer in between has had its time */
	bool doubts;        /* the next element made no sense; it may be of a type that is being told of right now */
	uint64_t served;    /* doubts: how often the directory had been listened to by then */
	uint64_t since_ns;  /* when one was first seen in between; 0: none is */
	uint64_t last_ns;   /* time of the last element */
	uint64_t lost_told; /* what its owner has told of stream_reader_lost */
	uint64_t begun_ns;  /* for its owner: when it began to be read, */
	uint64_t position_before; /* and how far it had come */
	struct event_header *record;
};

/* units and forms per id, borrowed as reading is. */
struct stream_reader_options {
	const struct ring *ring;
	const uint32_t *units;
	const struct stream_form *forms;
	uint32_t ids;
	uint32_t pid;
	bool is_new; /* the ring: whatever it has lost, this reader has */
};

/* Returns 0 or -ENOMEM; stream_reader_fini is in place either way. */
int stream_reader_init(struct stream_reader *reader, struct stream_reading *reading,
		       const struct stream_reader_options *options);
void stream_reader_fini(struct stream_reader *reader);

/* Elements that were lost since this reader began. Before its head is handed out, this counts all
 * that were lost before that. */
uint64_t stream_reader_lost(const struct stream_reader *reader);

/*
 * look of its input. An element that makes no sense is looked at again, until the owner has told of all the types that
 * there may be: by the next look, or as stream_reading says.
 */
void stream_reader_look(struct merge_input *input);

#endif
