// SPDX-License-Identifier: BSD-2-Clause
/* Finds which expressions can be lowered, and what lowering them takes. */

#include "ebpf/lower/lower-priv.h"

#include "base/alloc.h"
#include "ebpf/lower/pattern.h"
#include "program/eval.h"

#include <string.h>

static bool is_text_leaf(const struct program_node *node)
{
	return node->kind == PROGRAM_STRING;
}

static bool has_one_operand(const struct program_node *node)
{
	return node->op == PROGRAM_OP_CONVERT || node->op == PROGRAM_OP_LNOT;
}

const char *ebpf_pattern_text(const struct program *program, const struct program_node *node)
{
	return program_text(program, program->nodes[node->b].a);
}

static bool takes_automaton(const struct program *program, const struct program_node *node)
{
	return node->op == PROGRAM_OP_LIKE && !program_pattern_is_prefix(ebpf_pattern_text(program, node));
}

/* Floats may be carried, not computed with: BPF has no instructions for them. */
static bool can_lower(const struct program *program, const struct program_node *node)
{
	if (lower_is_leaf(node) || is_text_leaf(node))
		return true;
	if (node->kind == PROGRAM_F64 || program->nodes[node->a].kind == PROGRAM_F64)
		return false;
	return !takes_automaton(program, node) || ebpf_pattern_fits(ebpf_pattern_text(program, node));
}

static struct ebpf_node_info node_info(const struct program *program, const struct ebpf_node_info *infos,
				       const struct program_node *node)
{
	struct ebpf_node_info info = { .need = 1,
				       .in_kernel = can_lower(program, node),
				       .reads_slots = node->op == PROGRAM_OP_SLOT };

	if (lower_is_leaf(node) || is_text_leaf(node))
		return info;
	const struct ebpf_node_info *a = &infos[node->a], *b = has_one_operand(node) ? a : &infos[node->b];

	info.need = a->need > b->need ? a->need : b->need;
	if (a != b && a->need == b->need && !lower_is_leaf(&program->nodes[node->a]) &&
	    !lower_is_leaf(&program->nodes[node->b]))
		info.need++;
	info.divides = a->divides || b->divides || node->op == PROGRAM_OP_DIV || node->op == PROGRAM_OP_MOD;
	info.has_pattern = a->has_pattern || b->has_pattern || node->op == PROGRAM_OP_LIKE;
	info.reads_slots = a->reads_slots || b->reads_slots;
	info.in_kernel = info.in_kernel && a->in_kernel && b->in_kernel;
	return info;
}

struct ebpf_node_info *ebpf_node_info_new(const struct program *program)
{
	uint32_t count = program->header->sections[PROGRAM_NODES].count, patterns = 0;
	struct ebpf_node_info *infos = alloc_zero(count, sizeof *infos);

	for (uint32_t i = 0; infos && i < count; i++) {
		infos[i] = node_info(program, infos, &program->nodes[i]);
		if (infos[i].in_kernel && takes_automaton(program, &program->nodes[i]))
			infos[i].pattern = ++patterns;
	}
	return infos;
}

uint32_t ebpf_pattern_count(const struct program *program, const struct ebpf_node_info *infos)
{
	uint32_t patterns = 0;

	for (uint32_t i = 0; i < program->header->sections[PROGRAM_NODES].count; i++)
		patterns += infos[i].pattern != 0;
	return patterns;
}
