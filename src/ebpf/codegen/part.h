/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef EBPF_CODEGEN_PART_H
#define EBPF_CODEGEN_PART_H

/* The code for one event type: all its rules, or a part of them. */

#include "ebpf/codegen/emit-priv.h"

/* emit-part: the code of a part, under way. */
struct emit_parts {
	struct ebpf_matcher *matcher;
	struct ebpf_asm *as;
	uint32_t type;
	const struct matcher_part *part;
	struct emit_functions functions;
	int16_t irq_flags;
	const struct emit_derived *derived;
	uint32_t wanting; /* rules that want the type */
};

/* derived: NULL where nothing is raised. */
void emit_part(struct ebpf_matcher *matcher, struct ebpf_asm *as, uint32_t type, const struct matcher_part *part,
	       struct emit_derived *derived);
void emit_one_rule(struct emit_parts *parts, uint32_t rule);

/* emit-guards: rules that are only concerned if a field has one value, sorted by it. */
struct emit_guarded {
	uint32_t field;
	int32_t value;
	uint32_t rule;
};

struct emit_guards {
	struct emit_guarded *items;
	uint32_t count;
};

int emit_guards_find(struct ebpf_matcher *matcher, uint32_t type, const struct matcher_part *part,
		     struct emit_guards *guards);
void emit_guards_fini(struct emit_guards *guards);
bool emit_guards_has(const struct emit_guards *guards, uint32_t rule);
void emit_guards(struct emit_parts *parts, const struct emit_guards *guards);

#endif
