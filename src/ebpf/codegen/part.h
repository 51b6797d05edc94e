/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef EBPF_CODEGEN_PART_H
#define EBPF_CODEGEN_PART_H

/* The code for one event type, all its rules or a part of them; and that for deadlines. */

#include "ebpf/codegen/derived.h"

/* The code of a part, under way. */
struct emit_parts {
	const struct emit_context *context;
	const struct plan *plan;
	struct ebpf_asm *as;
	uint32_t type;
	const struct plan_part *part;
	struct plan_header header; /* what is left to be fetched */
	struct emit_functions functions;
	int16_t irq_flags;
	const struct emit_derived *derived;
	uint32_t wanting; /* rules that want the type */
};

/*
 * part: what code a program has for several types. Before that its context has room, and derived where what was added
 * to it is raised. keeps: the maps for that are made, and stay; else the code is only measured. Errors stick to as.
 */
void codegen_begin(struct emit_context *context, struct ebpf_asm *as, struct emit_derived *derived, bool keeps);
void codegen_part(const struct emit_context *context, struct ebpf_asm *as, uint32_t type, const struct plan_part *part);

/*
 * unread: code for an event that the rules of the part cannot be shown, because what they look at could not be read: it
 * is unread for each that looks at anything that may be, or for all.
 */
void codegen_part_unread(const struct emit_context *context, struct ebpf_asm *as, uint32_t type,
			 const struct plan_part *part, bool for_all);
/* Leaves for unread if the event lacks what some rule looks at. Returns how many strings that may be. */
uint32_t codegen_look_for_unread(struct emit_parts *parts, uint32_t unread);
/*
 * What becomes of an event in which one of so many strings is unread: a rule that looks at it does not see the event,
 * and its open runs are marked; the others see it.
 */
void codegen_unread(struct emit_parts *parts, uint32_t strings);

/* rule: all that the event's rule does, and what it raises is kept for later. */
void codegen_one_rule(struct emit_parts *parts, const struct plan_event *event);

/* sweep: the code for runs whose time may be up. Errors stick to as. */
void codegen_sweep(const struct emit_context *context, struct ebpf_asm *as);

#endif
