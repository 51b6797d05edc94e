// SPDX-License-Identifier: BSD-2-Clause
/*
 * Sends records through the ring. The kernel's count of lost records travels in the seq field of every record, read
 * just before the record enters the ring; the reader compares it with the last one it saw and replaces it by the
 * ordinal.
 */

#include "ebpf/source/ship.h"

#include "base/alloc.h"
#include "ebpf/kernel/array.h"
#include "ebpf/kernel/consumer.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

/* In the high bits of the seq field of a record on its way: flags of its type. */
enum { SEQ_FLAGS_SHIFT = 32 };
#define SEQ_FLAGS ((uint64_t)(EVENT_LATE | EVENT_UNKNOWN) << SEQ_FLAGS_SHIFT)

struct ship {
	struct ship_options options;
	int ring_map;
	struct ebpf_array lost; /* the kernel's count, a u64 */
	uint64_t lost_seen;
	uint64_t seq;
	struct consumer *reader;
	_Alignas(8) char record[EVENT_RECORD_BYTES_MAX];
};

static int make_maps(struct ship *ship, struct asterism_diag *diag)
{
	ship->ring_map = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "ship", 0, 0, ship->options.ring_bytes, NULL);
	if (ship->ring_map < 0)
		return diag_error(diag, NULL, ship->ring_map, "cannot create a ring of %u bytes for events: %s",
				  ship->options.ring_bytes, strerror(-ship->ring_map));
	int result = ebpf_array_init(&ship->lost, "ship_lost", sizeof(uint64_t), 1, PROT_READ);

	return result ? diag_error(diag, NULL, result, "cannot create a counter of lost events: %s", strerror(-result))
		      : 0;
}

static void see_lost(struct ship *ship, uint64_t lost)
{
	if (lost <= ship->lost_seen)
		return;
	uint64_t more = lost - ship->lost_seen;

	ship->lost_seen = lost;
	if (ship->options.on_lost)
		ship->options.on_lost(ship->options.context, more);
}

/* The ring is mapped read-only, so the ordinal goes into a copy. */
static int receive_record(void *context, void *data, size_t bytes)
{
	struct ship *ship = context;
	struct event_header *record = (void *)ship->record;

	if (bytes < sizeof *record || bytes > sizeof ship->record)
		return -EINVAL;
	memcpy(ship->record, data, bytes);
	see_lost(ship, record->seq & ~SEQ_FLAGS);
	record->type |= (uint32_t)((record->seq & SEQ_FLAGS) >> SEQ_FLAGS_SHIFT);
	if (event_is_unknown(record))
		memset(ship->record + bytes, 0, sizeof ship->record - bytes);
	record->seq = ++ship->seq;
	return ship->options.on_event(ship->options.context, record);
}

int ship_new(const struct ship_options *options, struct asterism_diag *diag, struct ship **made)
{
	struct ship *ship = alloc_zero(1, sizeof *ship);

	if (!ship)
		return diag_no_memory(diag);
	ship->options = *options;
	if (!ship->options.ring_bytes)
		ship->options.ring_bytes = SHIP_RING_BYTES;
	ship->ring_map = -1;
	int result = make_maps(ship, diag);

	if (!result) {
		result = consumer_new(ship->ring_map, ship->options.ring_bytes, receive_record, ship, &ship->reader);
		if (result == -ENOMEM)
			diag_no_memory(diag);
		else if (result)
			diag_error(diag, NULL, result, "cannot map a ring for events: %s", strerror(-result));
	}
	if (result)
		ship_free(ship);
	else
		*made = ship;
	return result;
}

void ship_free(struct ship *ship)
{
	if (!ship)
		return;
	consumer_free(ship->reader);
	ebpf_array_fini(&ship->lost);
	if (ship->ring_map >= 0)
		close(ship->ring_map);
	alloc_free(ship);
}

static void emit_lost(const struct ship *ship, struct ebpf_asm *as)
{
	ebpf_load_value(as, R1, ship->lost.fd, 0);
	ebpf_mov_imm(as, R2, 1);
	ebpf_atomic_add(as, R1, 0, R2);
}

void ship_emit(const struct ship *ship, struct ebpf_asm *as, uint32_t bytes, uint32_t flags)
{
	uint32_t quiet = ebpf_label(as), shipped = ebpf_label(as);

	ebpf_note(as, "ship %u bytes", bytes);
	ebpf_load_map(as, R1, ship->ring_map);
	ebpf_mov_imm(as, R2, BPF_RB_AVAIL_DATA);
	ebpf_call(as, BPF_FUNC_ringbuf_query);
	ebpf_mov_imm(as, R4, BPF_RB_NO_WAKEUP);
	ebpf_jump_if_imm(as, BPF_JLT, R0, (int32_t)(ship->options.ring_bytes / 2), quiet);
	ebpf_mov_imm(as, R4, BPF_RB_FORCE_WAKEUP);
	ebpf_bind(as, quiet);
	ebpf_load_value(as, R1, ship->lost.fd, 0);
	ebpf_load(as, BPF_DW, R1, R1, 0);
	if (flags) {
		ebpf_mov_imm(as, R2, (uint64_t)flags << SEQ_FLAGS_SHIFT);
		ebpf_alu(as, BPF_OR, R1, R2);
	}
	ebpf_store(as, BPF_DW, R6, offsetof(struct event_header, seq), R1);
	ebpf_load_map(as, R1, ship->ring_map);
	ebpf_mov(as, R2, R6);
	ebpf_mov_imm(as, R3, bytes);
	ebpf_call(as, BPF_FUNC_ringbuf_output);
	ebpf_jump_if_imm(as, BPF_JEQ, R0, 0, shipped);
	ebpf_note(as, "the ring is full");
	emit_lost(ship, as);
	ebpf_bind(as, shipped);
}

int ship_fd(const struct ship *ship)
{
	return consumer_fd(ship->reader);
}

int ship_poll(struct ship *ship)
{
	int result = consumer_read(ship->reader);

	if (result < 0)
		return result;
	see_lost(ship, __atomic_load_n((const uint64_t *)ship->lost.memory, __ATOMIC_RELAXED));
	return 0;
}

uint64_t ship_lost(const struct ship *ship)
{
	return ship->lost_seen;
}
