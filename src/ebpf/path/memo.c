// SPDX-License-Identifier: BSD-2-Clause
/* Finds what paths have in common, and gives it room in the stack. */

#include "ebpf/path/memo.h"

#include "ebpf/path/value-priv.h"

#include <string.h>

enum { MEMO_WORD = 8 };

static bool is_part(const struct source_node *node)
{
	return (node->op == SOURCE_ACCESS && node->access.pointer_count) || node->op == SOURCE_CAST ||
	       node->op == SOURCE_KERNEL_WORD || node->op == SOURCE_USER_WORD;
}

/* How many pointers both accesses follow, from the first one on. */
static uint32_t common_pointers(const struct source_node *a, const struct source_node *b)
{
	uint32_t count = 0;

	while (count < a->access.pointer_count && count < b->access.pointer_count &&
	       memcmp(&a->access.pointers[count], &b->access.pointers[count], sizeof a->access.pointers[count]) == 0)
		count++;
	return count;
}

static struct path_memo_chain *find_chain(struct path_memo *memo, const struct source_node *node)
{
	for (uint32_t i = 0; i < memo->chain_count; i++)
		if (path_same(memo->chains[i].uses[0]->left, node->left))
			return &memo->chains[i];
	return NULL;
}

/* Returns whether the access begins where the one before it has been, so that what it begins at is not needed. */
static bool note_chain(struct path_memo *memo, const struct source_node *node)
{
	struct path_memo_chain *chain = find_chain(memo, node);

	if (!chain && memo->chain_count < PATH_MEMO_NOTED / 2)
		chain = &memo->chains[memo->chain_count++];
	if (!chain || chain->count == PATH_MEMO_USES)
		return false;
	chain->uses[chain->count++] = node;
	if (chain->count == 1)
		return false;
	uint32_t common = common_pointers(chain->uses[chain->count - 2], node);

	chain->keep[chain->count - 2] = common;
	if (common > chain->longest)
		chain->longest = common;
	return common;
}

/* What the code of the path takes of the stack, at most. */
static uint32_t stack_of(const struct source_node *path)
{
	if (!path || path->op == SOURCE_ACCESS)
		return MEMO_WORD;
	uint32_t left = stack_of(path->left), right = stack_of(path->right), bytes = left > right ? left : right;

	if (path->op == SOURCE_LENGTH)
		return bytes + PATH_LENGTH_BYTES;
	return path->op == SOURCE_USER_WORD || (path->right && path->right->op != SOURCE_CONST) ? bytes + MEMO_WORD
												: bytes;
}

static void note(struct path_memo *memo, const struct source_node *path)
{
	struct path_memo_part *part;

	if (!path)
		return;
	if (is_part(path)) {
		part = path_memo_part(memo, path);
		if (part) {
			part->uses++;
			return;
		}
		if (memo->part_count < PATH_MEMO_NOTED)
			memo->parts[memo->part_count++] = (struct path_memo_part){ .node = path, .uses = 1 };
	}
	if (path->op == SOURCE_ACCESS || (path->op == SOURCE_CAST && note_chain(memo, path)))
		return;
	note(memo, path->left);
	note(memo, path->right);
}

void path_memo_note(struct path_memo *memo, const struct source_node *path)
{
	uint32_t bytes = stack_of(path);

	note(memo, path);
	if (bytes > memo->deepest)
		memo->deepest = bytes;
}

void path_memo_begin(struct path_memo *memo, struct ebpf_asm *as, const struct source_style *style)
{
	uint32_t parts = 0, chains = 0, used = ebpf_stack_mark(as) + memo->deepest;
	uint32_t words = used < style->stack ? (style->stack - used) / MEMO_WORD : 0;

	memo->mark = ebpf_stack_mark(as);
	for (uint32_t i = 0; i < memo->part_count && parts < PATH_MEMO_PARTS && parts < words; i++)
		if (memo->parts[i].uses > 1)
			memo->parts[parts++] = memo->parts[i];
	for (uint32_t i = 0; i < memo->chain_count && chains < PATH_MEMO_CHAINS && parts + chains < words; i++)
		if (memo->chains[i].longest)
			memo->chains[chains++] = memo->chains[i];
	memo->part_count = parts;
	memo->chain_count = chains;
	for (uint32_t i = 0; i < parts; i++)
		memo->parts[i].slot = ebpf_stack_take(as, MEMO_WORD);
	for (uint32_t i = 0; i < chains; i++)
		memo->chains[i].slot = ebpf_stack_take(as, MEMO_WORD);
}

void path_memo_end(struct path_memo *memo, struct ebpf_asm *as)
{
	ebpf_stack_release(as, memo->mark);
}

struct path_memo_part *path_memo_part(struct path_memo *memo, const struct source_node *node)
{
	for (uint32_t i = 0; memo && i < memo->part_count; i++)
		if (path_same(memo->parts[i].node, node))
			return &memo->parts[i];
	return NULL;
}

struct path_memo_chain *path_memo_chain(struct path_memo *memo, const struct source_node *node, uint32_t *keep)
{
	struct path_memo_chain *chain = memo && node->op == SOURCE_CAST ? find_chain(memo, node) : NULL;

	*keep = 0;
	for (uint32_t i = 0; chain && i < chain->count; i++)
		if (chain->uses[i] == node)
			*keep = chain->keep[i];
	return chain;
}

uint32_t path_memo_have(const struct path_memo_chain *chain, const struct source_node *node)
{
	if (!chain || !chain->length || common_pointers(chain->last, node) < chain->length)
		return 0;
	return chain->length;
}
