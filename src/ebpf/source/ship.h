/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef EBPF_SOURCE_SHIP_H
#define EBPF_SOURCE_SHIP_H

/*
 * Events on their way to user space, for rules that cannot run in the kernel: whole records in a ring buffer, in the
 * order in which the kernel put them there. Where the ring was full there is a gap, and every record knows how many
 * were lost before it.
 *
 * The kernel wakes the reader only when the ring is half full, because waking costs more than everything else: the
 * reader looks by itself every SHIP_WAIT_NS.
 */

#include "base/diag.h"
#include "ebpf/asm/asm.h"
#include "event/type.h"

enum { SHIP_WAIT_NS = 5 * 1000 * 1000, SHIP_RING_BYTES = 2 * 1024 * 1024 };

struct ship;

struct ship_options {
	uint32_t ring_bytes; /* a power of two of at least a page; 0: SHIP_RING_BYTES */
	/* Called by ship_poll for every record, whose seq counts them from 1. A result other than 0 ends the poll. */
	int (*on_event)(void *context, const struct event_header *record);
	/* Called before the record that follows the loss. */
	void (*on_lost)(void *context, uint64_t lost);
	void *context;
};

/* Returns 0, -EPERM, -ENOMEM, with a sentence. */
int ship_new(const struct ship_options *options, struct asterism_diag *diag, struct ship **made);
void ship_free(struct ship *ship);

/*
 * Code that ships the record of bytes bytes at r6, complete but for seq, which it sets. flags: what its type will
 * carry, EVENT_LATE, EVENT_UNKNOWN (bytes are the header only). r0-r5 are lost.
 */
void ship_emit(const struct ship *ship, struct ebpf_asm *as, uint32_t bytes, uint32_t flags);

/* Readable when the ring is half full. */
int ship_fd(const struct ship *ship);

/* Hands out what is there. Returns 0, what on_event returned, or -errno. */
int ship_poll(struct ship *ship);

/* Records lost so far, as far as they are known to have been. */
uint64_t ship_lost(const struct ship *ship);

#endif
