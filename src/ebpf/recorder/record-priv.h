/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef EBPF_RECORDER_RECORD_PRIV_H
#define EBPF_RECORDER_RECORD_PRIV_H

/* What makes up a recorder: the rings' maps, and the code that writes to them. */

#include "ebpf/kernel/array.h"
#include "ebpf/recorder/record.h"
#include "ebpf/source/set.h"

/* The rings of all CPUs. */
struct record_rings {
	uint32_t cpu_count, sub_units, sub_count;
	struct ebpf_array control; /* one value; for every CPU stride bytes, in them its control block */
	uint32_t stride;
	struct ebpf_array data; /* a value per sub-buffer, those of one CPU one after the other */
};

/* Stores what it has made even on failure; record_rings_fini gives it back. Returns 0, -EPERM, -ENOMEM, -E2BIG. */
int record_rings_init(struct record_rings *rings, uint32_t sub_bytes, uint32_t sub_count, struct asterism_diag *diag);
void record_rings_fini(struct record_rings *rings);

/* The view of one ring. */
struct ring record_ring_view(const struct record_rings *rings, uint32_t cpu);

/* Which types are taken, where that may change: a byte for each. No map: all are, always. */
enum { RECORD_GATES = 4096 };

struct record_gates {
	struct ebpf_array open;
};

/* Stores what it has made even on failure, as record_rings_init. All are closed. Returns 0 or -errno, with a sentence.
 */
int record_gates_init(struct record_gates *gates, struct asterism_diag *diag);
void record_gates_fini(struct record_gates *gates);
void record_gates_set(struct record_gates *gates, size_t index, bool open);
bool record_gates_has(const struct record_gates *gates, size_t index);

/* Goes to closed if type number index is not taken. r1 is lost. */
void record_emit_gate(const struct record_gates *gates, struct ebpf_asm *as, uint32_t index, uint32_t closed);

struct record_code {
	const struct record_rings *rings;
	const struct record_gates *gates;
	/* Of the current task; NULL where its type is not known. comm is a plain array of two words. */
	const struct source_node *tid, *tgid, *comm;
};

/* How a type is written. */
struct record_form {
	struct event_packed layout;
	uint16_t id;
};

/* For the host of a guest: what it wants, the code for that, and what the host has found to be missing. */
const struct source_want *record_wants(const struct ebpf_recorder *recorder, size_t *count);
void record_body(void *context, struct ebpf_asm *as, const struct source_entry *entry, const struct source_style *style,
		 const struct scope *scope);
void record_unread(void *context, struct ebpf_asm *as, const struct source_entry *entry,
		   const struct source_style *style, const struct scope *scope);
void record_missed(struct ebpf_recorder *recorder, uint64_t missed);
/* What sources have found so far that raises no event. */
void record_bypassed(struct ebpf_recorder *recorder, const struct source_set *sources);

/* The units that telling more of an event takes (EVENT_PACKED_ID_LATE). */
enum { RECORD_LATE_UNITS = 1 + sizeof(struct event_packed_late) / RING_UNIT_BYTES };

/* The units that an event takes at most, with its context, but without these. */
uint32_t record_units_max(const struct event_packed *layout);

/* Code that writes one event of a packed want, as a body of source/emit.h. */
void record_emit(const struct record_code *code, struct ebpf_asm *as, const struct source_entry *entry,
		 const struct source_style *style, const struct record_form *form);

/*
 * The functions for the seldom case that an event opens a sub-buffer. Both take the CPU and the reserve word
 * found.
 *   settled(cpu, word)   1 if the next sub-buffer is complete as of the last lap, else 0
 *   open(cpu, word, ts)  closes the sub-buffer of the word, and writes the header of the next
 */
uint32_t record_function_settled(const struct record_rings *rings, struct ebpf_asm *as);
uint32_t record_function_open(const struct record_rings *rings, struct ebpf_asm *as);

/* reg = the control block of the CPU whose number, small enough, is in r0, which is lost. */
void record_emit_control(const struct record_rings *rings, struct ebpf_asm *as, uint8_t reg);

/* Counts an event as one that cannot be read, and so dropped. r0-r2, r8 are lost. */
void record_emit_unread(const struct record_rings *rings, struct ebpf_asm *as);

/* r0 = the sub-buffer with the number in the 4 bytes at r10 + key; goes to label if there is none. r1-r5 are lost. */
void record_emit_sub_buffer(const struct record_rings *rings, struct ebpf_asm *as, int16_t key, uint32_t label);

/* The counter at byte offset dst + off gets src more, after everything stored before; src is lost. */
void record_emit_commit(struct ebpf_asm *as, uint8_t dst, int16_t off, uint8_t src);

static inline int32_t record_log2(uint32_t power)
{
	return __builtin_ctz(power);
}

#endif
