/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef EBPF_CODEGEN_DERIVED_H
#define EBPF_CODEGEN_DERIVED_H

/* Events that rules raise: how matches become events (codegen/derived.c), and how these are dealt with
 * (codegen/drain.c). */

#include "ebpf/codegen/codegen.h"
#include "ebpf/plan/cascade.h"

/* What the code that deals with a program's raised events is like; see codegen/derived.c. */
struct emit_derived {
	struct plan_cascade cascade;
	bool at_event;         /* not by the sweep */
	int map;               /* what follows per CPU: the queue, its nodes, scratch */
	uint32_t count, bytes; /* of nodes */
	uint32_t record_off;   /* of the record in them */
	uint32_t scratch_off, cpu_bytes;
	uint32_t drain; /* the function */
};

/*
 * derived: it begins as zeros; what is raised in a part at a type (PROGRAM_NONE: by the sweep) is added: whether there
 * is anything, or -errno. Then it is settled where it lies; keeps: in a map, else the code is only measured.
 */
int codegen_derived_add(const struct emit_context *context, uint32_t type, const struct plan_part *part,
			struct emit_derived *derived);
int codegen_derived_settle(const struct emit_context *context, struct emit_derived *derived, bool keeps);
void codegen_derived_fini(struct emit_derived *derived);
/* r8 = room for a match of a rule that raises; it is raised, or given back; the identity of the match in r8. */
bool codegen_raises(const struct emit *emit);
/* r8 = this CPU's queue, also in the frame; leaves for unknown. Overwrites r0-r5. */
void codegen_derived_queue(struct emit *emit, uint32_t unknown);
void codegen_derived_reserve(struct emit *emit, uint32_t none);
void codegen_derived_submit(struct emit *emit);
void codegen_derived_discard(struct emit *emit);
void codegen_derived_origin(struct emit *emit);
uint32_t codegen_derived_match_bytes(const struct plan_rule *rule);
void codegen_derived_node(struct emit *emit, uint8_t dst, uint8_t queue, uint8_t index);
/* What the rule at work raised, with the queue in r8, is pending behind everything else. Leaves for none; overwrites
 * r0-r4. The same after the rule's code, for when all have dealt with the event. */
void codegen_derived_take_over(struct emit *emit, uint32_t none);
void codegen_derived_later(struct emit *emit);

/* drain: the function (), which deals with what was raised. */
void codegen_drain_function(const struct emit_context *context, struct ebpf_asm *as, struct emit_derived *derived);

#endif
