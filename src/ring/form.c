// SPDX-License-Identifier: BSD-2-Clause
/* Writes and checks the description in a ring's memory, for who maps one that somebody else made. */

#include "ring/atomic.h"

#include <errno.h>

static uint64_t form_of(const struct ring *ring)
{
	return ring_form((uint32_t)ring->clock, ring->sub_units, ring->sub_count);
}

void ring_name(const struct ring *ring)
{
	ring_order_store_release(&ring->control->form, form_of(ring));
}

int ring_describe(const struct ring_memory *memory, struct ring *ring)
{
	uint64_t form;
	struct ring described;

	if (memory->control_bytes < sizeof(struct ring_control) || (uintptr_t)memory->control % RING_UNIT_BYTES ||
	    (uintptr_t)memory->data % RING_UNIT_BYTES)
		return -EBADMSG;
	form = ring_order_load_acquire(&((struct ring_control *)memory->control)->form);
	uint32_t unit_bits = form >> 8 & 0xff, count_bits = form & 0xff;

	if (unit_bits > 30 || count_bits > 30)
		return -EBADMSG;
	described = (struct ring){
		.control = memory->control,
		.data = memory->data,
		.sub_units = UINT32_C(1) << unit_bits,
		.sub_count = UINT32_C(1) << count_bits,
		.clock = (enum ring_clock)(form >> 16 & 0xff),
	};
	if (form != form_of(&described) || (unsigned int)described.clock >= RING_CLOCKS ||
	    !ring_shape_is_valid((uint64_t)described.sub_units * RING_UNIT_BYTES, described.sub_count) ||
	    memory->control_bytes < ring_control_bytes(described.sub_count) ||
	    memory->data_bytes / RING_UNIT_BYTES < (uint64_t)described.sub_units * described.sub_count)
		return -EBADMSG;
	*ring = described;
	return 0;
}
