/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef EBPF_SOURCE_DISPATCH_H
#define EBPF_SOURCE_DISPATCH_H

/* The order in which the conditions of a unit's entries are asked. */

#include "ebpf/path/memo.h"
#include "ebpf/source/plan.h"

/* An entry and which of its conditions are decided before it is reached: bit i for condition i. */
struct dispatch_entry {
	const struct source_entry *entry;
	uint32_t decided;
	uint32_t undecided; /* how many are not */
	int64_t constant;   /* in the tree: what the path must be */
	size_t order;       /* as the unit has them */
};

struct dispatch {
	struct source_condition *shared; /* conditions of every entry: asked once, first */
	uint32_t shared_count;
	struct dispatch_entry *line; /* asked one after the other */
	size_t line_count;
	const struct source_node
		*path; /* then: entries that demand this to be one of several constants, in their order */
	struct dispatch_entry *tree;
	size_t tree_count;
};

/* Returns 0 or -ENOMEM. The unit must outlive the result. */
int dispatch_new(const struct source_unit *unit, struct dispatch **made);
void dispatch_free(struct dispatch *dispatch);

/* What is left to ask of an entry, in this order: that which reads no memory of the user, and that which does. */
void dispatch_note_conditions(const struct dispatch_entry *item, struct path_memo *memo);
void dispatch_emit_conditions(struct ebpf_asm *as, const struct source_style *style, const struct dispatch_entry *item,
			      bool of_user, uint32_t next);

#endif
