// SPDX-License-Identifier: BSD-2-Clause
/*
 * Reads a sub-buffer while it is written to. Its counter is a prefix of what is written, so what lies below it is
 * whole, unless the sub-buffer has been opened again meanwhile; that is looked at after reading and before judging.
 */

#include "ring/elements.h"

#include "ring/atomic.h"
#include "ring/ring-priv.h"

#include <errno.h>
#include <string.h>

/* What parse found between the reader's position and the end of what is written. */
struct found {
	uint64_t begin; /* time of the sub-buffer */
	uint64_t ts;
	uint64_t before, after; /* events, as the header says */
	uint32_t content;       /* units of the sub-buffer that can be read */
	uint32_t at, end;       /* of the element's word, behind it; the same: there is none */
	struct ring_context who;
	uint16_t id;
	bool has_header, has_context, is_complete;
};

void ring_elements_init(struct ring_elements *reader, const struct ring *ring, const uint32_t *units, uint32_t ids)
{
	*reader = (struct ring_elements){ .ring = *ring, .units = units, .ids = ids };
}

static void go_on_at(struct ring_elements *reader, uint64_t sequence, bool is_late)
{
	reader->position = sequence * reader->ring.sub_units;
	reader->is_late |= is_late;
	reader->was_idle = false;
	reader->end = 0;
}

void ring_elements_newest(struct ring_elements *reader)
{
	uint64_t first, last;

	if (ring_range(&reader->ring, &first, &last))
		go_on_at(reader, last, true);
}

void ring_elements_oldest(struct ring_elements *reader)
{
	uint64_t first, last;

	if (ring_range(&reader->ring, &first, &last))
		go_on_at(reader, first, true);
}

static uint64_t word_at(const struct ring_elements *reader, uint32_t offset)
{
	uint64_t start = reader->position & ~(uint64_t)(reader->ring.sub_units - 1);

	return ring_data_load(ring_unit(&reader->ring, start + offset));
}

/* The time of a word that is not before ts. */
static uint64_t word_time(uint64_t word, uint64_t ts)
{
	return ts + (((word >> RING_ID_BITS) - ts) & (UINT64_MAX >> RING_ID_BITS));
}

static void parse_context(const struct ring_elements *reader, struct found *found)
{
	uint64_t ids = word_at(reader, found->at + 1), words[2];

	found->has_context = true;
	found->who.tid = (uint32_t)ids;
	found->who.pid = (uint32_t)(ids >> 32);
	words[0] = word_at(reader, found->at + 2);
	words[1] = word_at(reader, found->at + 3);
	memcpy(found->who.comm, words, sizeof words);
	found->at += RING_CONTEXT_UNITS;
}

/* An event word at found->at, with room behind it for units_min. False: it makes no sense. */
static bool parse_word(const struct ring_elements *reader, struct found *found, uint64_t *word)
{
	if (found->at >= found->content)
		return false;
	*word = word_at(reader, found->at);
	found->ts = word_time(*word, found->ts);
	found->id = (uint16_t)*word;
	return true;
}

/* Reads header, context and word of the next element, as far as there are any. False: they make no sense. */
static bool parse_element(const struct ring_elements *reader, struct found *found)
{
	uint64_t word, sequence = reader->position / reader->ring.sub_units;

	if (found->at == 0) {
		found->has_header = true;
		found->at = RING_HEADER_UNITS;
		found->before = word_at(reader, RING_HEADER_UNIT(events_before));
		found->begin = found->ts = word_at(reader, RING_HEADER_UNIT(timestamp_begin));
		if (word_at(reader, RING_HEADER_UNIT(packet_seq_num)) != sequence)
			return false;
	}
	found->end = found->at;
	if (found->at == found->content)
		return !found->has_header;
	if (!parse_word(reader, found, &word))
		return false;
	if (found->id == RING_ID_CONTEXT) {
		if (found->content - found->at < RING_CONTEXT_UNITS)
			return false;
		parse_context(reader, found);
		if (!parse_word(reader, found, &word))
			return false;
	}
	if (found->id == RING_ID_CONTEXT || found->id >= reader->ids)
		return false;
	/* Another thread may be told of types; what else it knows of this one it has stored before. */
	uint32_t units = __atomic_load_n(&reader->units[found->id], __ATOMIC_ACQUIRE);

	if (units >= found->content - found->at)
		return false;
	found->end = found->at + 1 + units;
	return true;
}

/* Whether what the header says agrees with what was read before. */
static bool header_agrees(const struct ring_elements *reader, const struct found *found)
{
	if (!found->has_header)
		return true;
	/* An event takes a unit at least. */
	return found->begin >= reader->ts && found->before <= reader->position &&
	       (reader->is_late || found->before >= reader->number);
}

/* Times lie within half of what 48 bits can tell of the one before: writers see to that. */
static bool time_agrees(const struct ring_elements *reader, const struct found *found)
{
	uint64_t before = found->has_header ? found->begin : reader->ts;

	return found->end == found->at || found->ts - before <= 2 * RING_AGE_MAX;
}

/* The reader is behind the header and the context that were found. */
static void enter_packet(struct ring_elements *reader, const struct found *found)
{
	uint64_t start = reader->position & ~(uint64_t)(reader->ring.sub_units - 1);

	if (found->has_header) {
		if (!reader->is_late)
			reader->lost += found->before - reader->number;
		reader->number = found->before;
		reader->is_late = false;
		reader->ts = found->begin;
	}
	if (found->has_context)
		reader->who = found->who;
	reader->position = start + found->at;
}

/* How much of the reader's sub-buffer is written. Returns 1, 0: no more than was read, -ESTALE, -EBADMSG. */
static int measure_sub_buffer(const struct ring_elements *reader, struct found *found)
{
	const struct ring *ring = &reader->ring;
	uint64_t sequence = reader->position / ring->sub_units, bits;
	uint64_t base = sequence / ring->sub_count * ring->sub_units;
	uint64_t filled = ring_commit_load(ring->control, ring_slot(ring, reader->position)) - base;

	found->at = (uint32_t)(reader->position & (ring->sub_units - 1));
	found->ts = reader->ts;
	if (filled > ring->sub_units) { /* as of another lap */
		if (ring_is_overwritten(ring, sequence))
			return -ESTALE;
		return found->at ? -EBADMSG : 0;
	}
	if (filled <= found->at && filled < ring->sub_units)
		return filled < found->at ? -EBADMSG : 0;
	found->content = (uint32_t)filled;
	found->is_complete = filled == ring->sub_units;
	if (!found->is_complete)
		return 1;
	bits = word_at(reader, RING_HEADER_UNIT(content_bits));
	found->after = word_at(reader, RING_HEADER_UNIT(events_after));
	/* Never full to the last unit. A size that is none is sent on as one that does not agree. */
	found->content = bits % 64 == 0 && bits / 64 < filled ? (uint32_t)(bits / 64) : 0;
	return 1;
}

/* One look. Returns 1; 0: there is none; -EAGAIN: a sub-buffer is read to its end; -ESTALE; -EBADMSG. */
static int look_once(struct ring_elements *reader, struct found *found)
{
	uint64_t sequence = reader->position / reader->ring.sub_units;
	int result = measure_sub_buffer(reader, found);

	if (result <= 0)
		return result;
	bool sane = found->content >= found->at && parse_element(reader, found);

	if (ring_is_overwritten(&reader->ring, sequence))
		return -ESTALE;
	if (!sane || !header_agrees(reader, found) || !time_agrees(reader, found))
		return -EBADMSG;
	enter_packet(reader, found);
	if (found->end != found->at)
		return 1;
	/* The counter was beyond us, so this is the end of the content of a complete sub-buffer. */
	if (found->after != reader->number)
		return -EBADMSG;
	reader->position = (sequence + 1) * reader->ring.sub_units;
	return -EAGAIN;
}

/* Goes on at the oldest sub-buffer; its header says how much is lost. */
static void catch_up(struct ring_elements *reader)
{
	uint64_t first, last;

	if (ring_range(&reader->ring, &first, &last) && first > reader->position / reader->ring.sub_units)
		go_on_at(reader, first, false);
}

int ring_elements_look(struct ring_elements *reader, struct ring_element *element)
{
	reader->end = 0;
	for (uint32_t i = 0; i < RING_LOOKS && !reader->failed; i++) {
		struct found found = { 0 };
		int result = look_once(reader, &found);

		if (result == -ESTALE)
			catch_up(reader);
		if (result == -EBADMSG)
			reader->failed = -EBADMSG;
		if (result == 0)
			return 0;
		if (result != 1)
			continue;
		reader->end = reader->position + found.end - found.at;
		reader->end_ts = found.ts;
		*element = (struct ring_element){
			.ts = found.ts,
			.number = reader->number,
			.payload = ring_unit(&reader->ring, reader->position + 1),
			.units = found.end - found.at - 1,
			.id = found.id,
		};
		return 1;
	}
	return reader->failed;
}

bool ring_elements_take(struct ring_elements *reader)
{
	if (!reader->end || ring_is_overwritten(&reader->ring, reader->position / reader->ring.sub_units))
		return false;
	reader->position = reader->end;
	reader->ts = reader->end_ts;
	reader->end = 0;
	reader->number++;
	return true;
}

bool ring_elements_in_flight(const struct ring_elements *reader)
{
	uint64_t position, word;

	return !ring_is_at_rest(&reader->ring, &position, &word);
}

bool ring_elements_is_idle(struct ring_elements *reader)
{
	uint64_t position;

	reader->was_idle =
		ring_is_at_rest(&reader->ring, &position, &reader->idle_word) && position == reader->position;
	return reader->was_idle;
}

bool ring_elements_is_still_idle(const struct ring_elements *reader)
{
	return reader->was_idle && ring_word_load(reader->ring.control) == reader->idle_word;
}
