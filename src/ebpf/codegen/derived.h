/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef EBPF_CODEGEN_DERIVED_H
#define EBPF_CODEGEN_DERIVED_H

/* Events that rules raise: how matches become events (codegen/derived.c), and how these are dealt with
 * (codegen/drain.c). */

#include "ebpf/codegen/emit-priv.h"

/* What the code that deals with a part's raised events is like; see codegen/derived.c. */
struct emit_derived {
	bool *rules;           /* per rule: it may raise an event here */
	uint32_t *rule_places; /* where the first event of a match of a rule is raised */
	uint32_t *type_places; /* where the rules that take a type begin; PROGRAM_NONE: none is raised here */
	uint32_t place_count;  /* places are numbered from 1 */
	int map;               /* what follows per CPU: the queue, its nodes, room aside */
	uint32_t count, bytes, record_off; /* of nodes; and of the record in them */
	uint32_t aside_off, cpu_bytes;
	uint32_t drain; /* the function */
};

/*
 * emit-derived: what is raised in a part at a type (PROGRAM_NONE: by the sweep). find: 0, -errno, and whether there is
 * anything; r8 = room for a match of a rule that raises; it is raised, or given back; the identity of the match in r8.
 */
int emit_derived_find(struct ebpf_matcher *matcher, uint32_t type, const struct matcher_part *part,
		      struct emit_derived *derived);
void emit_derived_fini(struct emit_derived *derived);
int emit_derived_map(struct ebpf_matcher *matcher, struct emit_derived *derived);
bool emit_raises(const struct emit *emit);
/* r8 = this CPU's queue, also in the frame; leaves for unknown. Overwrites r0-r5. */
void emit_derived_queue(struct emit *emit, uint32_t unknown);
void emit_derived_reserve(struct emit *emit, uint32_t none);
void emit_derived_submit(struct emit *emit);
void emit_derived_discard(struct emit *emit);
void emit_derived_origin(struct emit *emit);
uint32_t emit_derived_match_bytes(const struct emit *emit);
void emit_derived_node(struct emit *emit, uint8_t dst, uint8_t queue, uint8_t index);
void emit_derived_aside(struct emit *emit, uint8_t dst);

/*
 * emit-drain: the function that deals with what was raised; keeping what a rule raised, after its code, for when all
 * have dealt with the event; calling the function then. r6 and r9 stay.
 */
void emit_drain_function(struct ebpf_matcher *matcher, struct ebpf_asm *as, struct emit_derived *derived,
			 uint32_t lock);
void emit_drain_later(struct emit *emit);
void emit_drain(struct emit *emit);

#endif
