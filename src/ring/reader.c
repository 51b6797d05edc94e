// SPDX-License-Identifier: BSD-2-Clause
/*
 * Reads sub-buffers without trusting who writes them. A sub-buffer that was complete before it was copied and not
 * opened again after that is consistent. What is read from the ring's memory is checked before it is used as a size: it
 * may belong to another lap, or to an application that writes nonsense.
 */

#include "ring/atomic.h"
#include "ring/ring-priv.h"

#include <errno.h>
#include <string.h>

/* The reserve word, and its halves without the modulo. */
struct look {
	uint64_t word, position, events;
};

/*
 * The word lies between two equal looks at the unreduced position, so both speak of the same time. Where openings come
 * so fast that this never happens, they are still near each other.
 */
static struct look look_at_ring(const struct ring *ring, uint64_t (*load)(struct ring_control *control))
{
	struct ring_control *control = ring->control;
	struct look look;
	uint64_t again, position = ring_long_load(&control->position);

	for (int i = 0; i < RING_LOOKS; i++) {
		look.word = load(control);
		look.events = ring_long_load(&control->events);
		again = ring_long_load(&control->position);
		if (again == position)
			break;
		position = again;
	}
	look.position = ring_lengthen(position, ring_word_position(look.word));
	look.events = ring_lengthen(look.events, ring_word_events(look.word));
	return look;
}

bool ring_shape_is_valid(uint64_t sub_bytes, uint64_t sub_count)
{
	uint64_t sub_units = sub_bytes / RING_UNIT_BYTES;

	return sub_bytes % RING_UNIT_BYTES == 0 && sub_units >= RING_SUB_UNITS_MIN && sub_units <= RING_UNITS_MAX &&
	       sub_count >= 2 && sub_count <= RING_UNITS_MAX / sub_units && (sub_units & (sub_units - 1)) == 0 &&
	       (sub_count & (sub_count - 1)) == 0;
}

/* The number of the last sub-buffer that position has been in. */
static uint64_t last_sub_buffer(const struct ring *ring, uint64_t position)
{
	return (position - 1) / ring->sub_units;
}

static uint64_t first_sub_buffer(const struct ring *ring, uint64_t last)
{
	return last < ring->sub_count ? 0 : last - ring->sub_count + 1;
}

bool ring_range(const struct ring *ring, uint64_t *first, uint64_t *last)
{
	struct look now = look_at_ring(ring, ring_word_load);

	if (!now.position)
		return false;
	*last = last_sub_buffer(ring, now.position);
	*first = first_sub_buffer(ring, *last);
	return true;
}

uint64_t ring_written(const struct ring *ring)
{
	return look_at_ring(ring, ring_word_load).events;
}

uint64_t ring_position(const struct ring *ring)
{
	return look_at_ring(ring, ring_word_load).position;
}

uint64_t ring_dropped(const struct ring *ring)
{
	return ring_drop_load(ring->control);
}

uint64_t ring_unread(const struct ring *ring)
{
	return ring_unread_load(ring->control);
}

bool ring_is_overwritten(const struct ring *ring, uint64_t sequence)
{
	return last_sub_buffer(ring, look_at_ring(ring, ring_word_load_again).position) >= sequence + ring->sub_count;
}

static void copy_ring_units(const struct ring *ring, uint64_t position, uint64_t *to, size_t units)
{
	uint64_t *from = ring_unit(ring, position);

	for (size_t i = 0; i < units; i++)
		to[i] = ring_data_load(&from[i]);
}

static bool is_sane(const struct ring *ring, const struct ring_packet *packet, uint64_t sequence)
{
	uint64_t bits = packet->content_bits, unit_bits = RING_UNIT_BYTES * 8;

	return packet->packet_seq_num == sequence && bits % unit_bits == 0 && bits > RING_HEADER_UNITS * unit_bits &&
	       bits < ring->sub_units * unit_bits && packet->events_after >= packet->events_before &&
	       packet->events_after - packet->events_before < ring->sub_units;
}

static void describe_packet(struct ring_packet *packet, struct ring_part *part)
{
	part->sequence = packet->packet_seq_num;
	part->events_before = packet->events_before;
	part->events = packet->events_after - packet->events_before;
	part->bytes = (uint32_t)(packet->content_bits / 8);
	packet->events_after = 0;
}

int ring_read(const struct ring *ring, uint64_t sequence, void *buffer, struct ring_part *part)
{
	uint64_t position = sequence * ring->sub_units, *units = buffer;
	uint64_t complete = (sequence / ring->sub_count + 1) * ring->sub_units;
	struct ring_packet *packet = buffer;

	if (ring_commit_load(ring->control, ring_slot(ring, position)) != complete)
		return ring_is_overwritten(ring, sequence) ? -ESTALE : 0;
	copy_ring_units(ring, position, units, RING_HEADER_UNITS);
	bool sane = is_sane(ring, packet, sequence);

	if (sane)
		copy_ring_units(ring, position + RING_HEADER_UNITS, units + RING_HEADER_UNITS,
				packet->content_bits / 8 / RING_UNIT_BYTES - RING_HEADER_UNITS);
	if (ring_is_overwritten(ring, sequence))
		return -ESTALE;
	if (!sane)
		return -EBADMSG;
	describe_packet(packet, part);
	return 1;
}

/* Whether at one moment no writer was between reservation and commit: the word is the same before and after a look at
 * the counter, and the counter has all that the word gave away. */
static bool is_at_rest(const struct ring *ring, struct look *now)
{
	*now = look_at_ring(ring, ring_word_load);
	if (!now->position)
		return true;
	uint64_t last = last_sub_buffer(ring, now->position);
	uint64_t committed = ring_commit_load(ring->control, (uint32_t)(last & (ring->sub_count - 1)));
	uint64_t units = now->position - last * ring->sub_units + last / ring->sub_count * ring->sub_units;

	return committed == units && ring_word_load_again(ring->control) == now->word;
}

bool ring_is_at_rest(const struct ring *ring, uint64_t *position, uint64_t *word)
{
	struct look now;

	if (!is_at_rest(ring, &now))
		return false;
	*position = now.position;
	*word = now.word;
	return true;
}

/* Looks until no writer is in between. */
static bool settle_look(const struct ring *ring, struct look *now)
{
	for (int i = 0; i < RING_LOOKS; i++)
		if (is_at_rest(ring, now))
			return now->position != 0;
	return false;
}

int ring_drain(const struct ring *ring, void *buffer, struct ring_part *part)
{
	struct ring_packet *packet = buffer;
	struct look now;

	if (!settle_look(ring, &now))
		return 0;
	uint64_t sequence = last_sub_buffer(ring, now.position), position = sequence * ring->sub_units;

	copy_ring_units(ring, position, buffer, (size_t)(now.position - position));
	if (ring_is_overwritten(ring, sequence))
		return 0;
	packet->content_bits = (now.position - position) * RING_UNIT_BYTES * 8;
	packet->timestamp_end = ring_clock_now(ring);
	packet->events_after = ring_lengthen(packet->events_before, ring_word_events(now.word));
	if (!is_sane(ring, packet, sequence))
		return -EBADMSG;
	describe_packet(packet, part);
	return 1;
}

void ring_cursor_rewind(const struct ring *ring, struct ring_cursor *cursor)
{
	uint64_t last;

	*cursor = (struct ring_cursor){ .is_late = true };
	ring_range(ring, &cursor->next, &last);
}

/* Leaves what has been handed out of the part's sub-buffer before out of its counts. Returns 1 or -EBADMSG. */
static int leave_handed_out(const struct ring_cursor *cursor, struct ring_part *part)
{
	uint64_t end = part->events_before + part->events;

	if (part->events_before > cursor->events || cursor->events > end || part->bytes < cursor->bytes)
		return -EBADMSG;
	part->skip = cursor->bytes;
	part->events_before = cursor->events;
	part->events = end - cursor->events;
	return 1;
}

/* What lies between the cursor and part is lost, and part is behind it now. Returns 1 or -EBADMSG. */
static int advance_cursor(struct ring_cursor *cursor, struct ring_part *part)
{
	part->skip = 0;
	if (cursor->bytes && part->sequence == cursor->next && leave_handed_out(cursor, part) < 0)
		return -EBADMSG;
	if (cursor->is_late)
		cursor->events = part->events_before;
	if (part->events_before < cursor->events)
		return -EBADMSG;
	cursor->is_late = false;
	cursor->lost += part->events_before - cursor->events;
	cursor->events = part->events_before + part->events;
	cursor->next = part->sequence + 1;
	cursor->bytes = 0;
	return 1;
}

/* Gives up the sub-buffers before next. */
static void go_on_at(struct ring_cursor *cursor, uint64_t next)
{
	cursor->next = next;
	cursor->bytes = 0;
}

/* force: sub-buffers that are not complete after some looks are given up. Returns as ring_next, -ENODATA at the last
 * one. */
static int step_ring(const struct ring *ring, struct ring_cursor *cursor, bool force, void *buffer,
		     struct ring_part *part)
{
	uint64_t first, last;
	int result = -ESTALE, looks = 0;

	for (uint64_t i = 0; i < (ring->sub_count + 1ull) * RING_LOOKS; i++) {
		if (!ring_range(ring, &first, &last))
			return -ENODATA;
		if (cursor->next < first)
			go_on_at(cursor, first);
		if (cursor->next >= last)
			return -ENODATA;
		result = ring_read(ring, cursor->next, buffer, part);
		if (result == 1)
			return advance_cursor(cursor, part);
		if (result == -EBADMSG || (result == 0 && !force))
			return result;
		if (result == 0 && ++looks == RING_LOOKS) {
			go_on_at(cursor, cursor->next + 1);
			looks = 0;
		}
	}
	return 0;
}

int ring_next(const struct ring *ring, struct ring_cursor *cursor, void *buffer, struct ring_part *part)
{
	int result = step_ring(ring, cursor, false, buffer, part);

	return result == -ENODATA ? 0 : result;
}

/* Whether everything in the last sub-buffer has been handed out. */
static bool is_empty(const struct ring *ring, const struct ring_cursor *cursor)
{
	return cursor->bytes && ring_written(ring) == cursor->events;
}

int ring_peek(const struct ring *ring, struct ring_cursor *cursor, void *buffer, struct ring_part *part)
{
	int result = step_ring(ring, cursor, false, buffer, part);
	uint64_t first, last;

	if (result != -ENODATA)
		return result;
	if (!ring_range(ring, &first, &last) || cursor->next > last || is_empty(ring, cursor))
		return 0;
	result = ring_drain(ring, buffer, part);
	if (result == 1)
		result = advance_cursor(cursor, part);
	if (result == 1) {
		cursor->next = part->sequence;
		cursor->bytes = part->bytes;
	}
	return result;
}

int ring_finish(const struct ring *ring, struct ring_cursor *cursor, void *buffer, struct ring_part *part)
{
	int result = step_ring(ring, cursor, true, buffer, part);
	uint64_t first, last;

	if (result != -ENODATA)
		return result;
	if (!ring_range(ring, &first, &last))
		return 0;
	if (cursor->next <= last && !is_empty(ring, cursor)) {
		result = ring_drain(ring, buffer, part);
		if (result)
			return result == 1 ? advance_cursor(cursor, part) : result;
	}
	uint64_t written = ring_written(ring);

	if (!cursor->is_late && written > cursor->events)
		cursor->lost += written - cursor->events;
	cursor->events = written;
	go_on_at(cursor, last + 1);
	return 0;
}
