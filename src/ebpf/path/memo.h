/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef EBPF_PATH_MEMO_H
#define EBPF_PATH_MEMO_H

/*
 * What paths have in common is computed once. Catalogs have no loops: whether a file lies below some directory is ten
 * conditions, each of which begins at the file and goes one directory further. A memo knows which parts occur more than
 * once, and keeps their values in the stack.
 *
 * Usage: note all paths in the order in which their code will run, each of them only where those before it have run;
 * begin; emit them with the memo in their style; end.
 */

#include "ebpf/path/value.h"

enum { PATH_MEMO_PARTS = 6, PATH_MEMO_CHAINS = 2, PATH_MEMO_USES = 16, PATH_MEMO_NOTED = 16 };

/* A value that occurs more than once. */
struct path_memo_part {
	const struct source_node *node;
	uint32_t uses;
	bool is_there;
	int16_t slot;
};

/* Accesses that begin at the same number and follow the same pointers for a while; the last one followed is kept. */
struct path_memo_chain {
	const struct source_node *uses[PATH_MEMO_USES];
	uint32_t keep[PATH_MEMO_USES]; /* so many pointers of this one are the next one's, too */
	uint32_t count, longest;       /* the longest of keep */
	const struct source_node *last;
	uint32_t length; /* of the pointers of last, where the slot is; 0: not yet */
	int16_t slot;
};

struct path_memo {
	struct path_memo_part parts[PATH_MEMO_NOTED];
	struct path_memo_chain chains[PATH_MEMO_NOTED / 2];
	uint32_t part_count, chain_count;
	uint32_t conditions; /* in so many the code is: what is computed there is not kept, it may not be computed */
	uint32_t deepest;    /* what the paths themselves take of the stack */
	uint32_t mark;       /* of the stack */
};

void path_memo_note(struct path_memo *memo, const struct source_node *path);
void path_memo_begin(struct path_memo *memo, struct ebpf_asm *as, const struct source_style *style);
void path_memo_end(struct path_memo *memo, struct ebpf_asm *as);

/* The part with this value, or NULL. */
struct path_memo_part *path_memo_part(struct path_memo *memo, const struct source_node *node);

/* The chain that the access belongs to, and how many of its pointers are to be kept; or NULL. */
struct path_memo_chain *path_memo_chain(struct path_memo *memo, const struct source_node *node, uint32_t *keep);

/* How many pointers of the access the chain's slot stands for already. */
uint32_t path_memo_have(const struct path_memo_chain *chain, const struct source_node *node);

#endif
