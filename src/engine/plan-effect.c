// SPDX-License-Identifier: BSD-2-Clause
/*
 * Turns those actions of a transition that need no code into moves and stores. Three things are done one after the
 * other: a block of slots is moved, numbers that do not depend on slots are stored, the other actions are run as code.
 * So an action may change places with others: with none whose slot it reads or writes, and with none that reads its
 * own.
 */

#include "engine/plan-priv.h"
#include "program/query.h"

#include <errno.h>

enum { WORDS_MAX = PROGRAM_SLOT_BYTES_MAX / sizeof(uint64_t), TEXT_WORDS_MAX = 4 };

/* Words of the slot area. */
struct words {
	uint64_t bits[WORDS_MAX / 64];
};

struct plan {
	const struct engine_planner *planner;
	struct engine_effect *effect;
	struct engine_copy *copies;
	struct program_action *rest; /* what becomes code, in order */
	uint32_t rest_count;
	struct words copied, read, written; /* by copies; by the rest */
};

static const struct program_node *effect_node(const struct plan *plan, uint32_t node)
{
	return &plan->planner->program->nodes[node];
}

static const struct program_slot *effect_slot(const struct plan *plan, uint32_t slot)
{
	return &program_slots(plan->planner->program, plan->planner->rule)[slot];
}

static void add_word(struct words *words, uint32_t word)
{
	words->bits[word / 64] |= UINT64_C(1) << word % 64;
}

static bool has_word(const struct words *words, uint32_t word)
{
	return words->bits[word / 64] >> word % 64 & 1;
}

static void add_slot(struct words *words, const struct program_slot *slot)
{
	for (uint32_t i = 0; i < slot->bytes; i += sizeof(uint64_t))
		add_word(words, (slot->offset + i) / sizeof(uint64_t));
}

static bool has_slot(const struct words *words, const struct program_slot *slot)
{
	bool found = false;

	for (uint32_t i = 0; i < slot->bytes; i += sizeof(uint64_t))
		found |= has_word(words, (slot->offset + i) / sizeof(uint64_t));
	return found;
}

/* The slots that the node reads. The loader bounds how many nodes this visits. */
static void add_reads(struct plan *plan, uint32_t index)
{
	const struct program_node *node = effect_node(plan, index);

	if (node->op == PROGRAM_OP_SLOT)
		add_slot(&plan->read, effect_slot(plan, node->a));
	if (node->op < PROGRAM_OP_ADD)
		return;
	add_reads(plan, node->a);
	if (node->op != PROGRAM_OP_CONVERT && node->op != PROGRAM_OP_LNOT && node->op != PROGRAM_OP_LIKE)
		add_reads(plan, node->b);
}

static bool is_effect_integer(const struct program_node *node)
{
	return node->kind == PROGRAM_I64 || node->kind == PROGRAM_U64 || node->kind == PROGRAM_BOOL;
}

static bool plan_field_copy(const struct plan *plan, const struct program_node *node, struct engine_copy *copy);

/* Two halves of one aligned word: a << 32 | b. */
static bool read_halves(const struct plan *plan, const struct program_node *node, struct engine_copy *copy)
{
	const struct program_node *high = effect_node(plan, node->a);
	struct engine_copy a = { 0 }, b = { 0 };

	if (high->op != PROGRAM_OP_SHL || effect_node(plan, high->b)->op != PROGRAM_OP_CONST ||
	    effect_node(plan, high->b)->imm != 32)
		return false;
	if (!plan_field_copy(plan, effect_node(plan, high->a), &a) ||
	    !plan_field_copy(plan, effect_node(plan, node->b), &b))
		return false;
	if (a.number || b.number || a.field.mask != UINT32_MAX || b.field.mask != UINT32_MAX ||
	    a.field.offset != b.field.offset || a.field.turn == b.field.turn)
		return false;
	copy->field = (struct engine_field){ .offset = b.field.offset, .turn = b.field.turn, .mask = UINT64_MAX };
	return true;
}

/* An operation on integers one of which is a constant. */
static bool read_operation(const struct plan *plan, const struct program_node *node, struct engine_copy *copy)
{
	const struct program_node *a = effect_node(plan, node->a), *b = effect_node(plan, node->b);
	bool swaps = a->op == PROGRAM_OP_CONST;
	uint64_t constant = swaps ? a->imm : b->imm;

	if ((swaps ? a : b)->op != PROGRAM_OP_CONST || !plan_field_copy(plan, swaps ? b : a, copy))
		return false;
	switch (node->op) {
	case PROGRAM_OP_ADD:
		copy->number += constant;
		return true;
	case PROGRAM_OP_AND:
		copy->field.mask &= constant;
		return copy->number == 0;
	default: /* OR, where it is an addition */
		copy->number += constant;
		return copy->number == constant && !(copy->field.mask & constant);
	}
}

/* Whether the node, which is all zero bits in copy so far, is a field's bits and a number. */
static bool plan_field_copy(const struct plan *plan, const struct program_node *node, struct engine_copy *copy)
{
	switch (node->op) {
	case PROGRAM_OP_CONST:
		copy->number = node->imm;
		return true;
	case PROGRAM_OP_FIELD:
		copy->field = engine_field_of(&plan->planner->program->fields[node->a]);
		return true;
	case PROGRAM_OP_CONVERT: /* integers share their bits */
		return is_effect_integer(node) && is_effect_integer(effect_node(plan, node->a)) &&
		       plan_field_copy(plan, effect_node(plan, node->a), copy);
	case PROGRAM_OP_OR:
		return is_effect_integer(node) && (read_halves(plan, node, copy) || read_operation(plan, node, copy));
	case PROGRAM_OP_ADD:
	case PROGRAM_OP_AND:
		return is_effect_integer(node) && read_operation(plan, node, copy);
	default:
		return false;
	}
}

/* A text of some words that fills its slot is stored by words. What stands behind its NUL means nothing. */
static bool is_copied_by_words(const struct plan *plan, const struct program_node *node,
			       const struct program_slot *slot)
{
	const struct program_field *field = &plan->planner->program->fields[node->a];

	return node->op == PROGRAM_OP_FIELD && field->bytes == slot->bytes &&
	       slot->bytes <= TEXT_WORDS_MAX * sizeof(uint64_t) && field->offset % sizeof(uint64_t) == 0;
}

static void add_copy(struct plan *plan, struct engine_copy copy)
{
	plan->copies[plan->effect->copy_count++] = copy;
	add_word(&plan->copied, copy.slot / sizeof(uint64_t));
}

static void copy_slot_text(struct plan *plan, const struct program_node *node, const struct program_slot *slot)
{
	uint32_t from = plan->planner->program->fields[node->a].offset;

	for (uint32_t at = 0; at < slot->bytes; at += sizeof(uint64_t)) {
		bool is_last = at + sizeof(uint64_t) == slot->bytes;

		add_copy(plan, (struct engine_copy){
				       .field = { .offset = from + at, .mask = is_last ? UINT64_MAX >> 8 : UINT64_MAX },
				       .slot = slot->offset + at,
			       });
	}
}

/* Stores the action's value ahead of the code, if that may be. */
static bool plan_copy(struct plan *plan, const struct program_action *action)
{
	const struct program_slot *slot = effect_slot(plan, action->slot);
	const struct program_node *node = effect_node(plan, action->node);
	struct engine_copy copy = { .slot = slot->offset };

	if (action->op != PROGRAM_SET || has_slot(&plan->read, slot) || has_slot(&plan->written, slot))
		return false;
	if (slot->kind == PROGRAM_STRING) {
		if (!is_copied_by_words(plan, node, slot))
			return false;
		copy_slot_text(plan, node, slot);
		return true;
	}
	if (!plan_field_copy(plan, node, &copy))
		return false;
	add_copy(plan, copy);
	return true;
}

/* Whether the action copies another slot of one word; fills in where that is. */
static bool is_move(const struct plan *plan, const struct program_action *action, uint32_t *from)
{
	const struct program_node *node = effect_node(plan, action->node);

	if (action->op != PROGRAM_SET || node->op != PROGRAM_OP_SLOT ||
	    effect_slot(plan, action->slot)->bytes != sizeof(uint64_t))
		return false;
	*from = effect_slot(plan, node->a)->offset;
	return true;
}

/* How many actions from the first on move a block upwards, its last word first; fills in the block. */
static uint32_t find_block(const struct plan *plan, const struct program_action *actions, uint32_t count,
			   struct engine_block *block)
{
	uint32_t first, from, found = 0;

	if (!is_move(plan, actions, &first) || effect_slot(plan, actions->slot)->offset <= first)
		return 0;
	uint32_t to = effect_slot(plan, actions->slot)->offset;
	while (found < count && is_move(plan, &actions[found], &from) && from + found * sizeof(uint64_t) == first &&
	       effect_slot(plan, actions[found].slot)->offset + found * sizeof(uint64_t) == to)
		found++;
	uint32_t back = (found - 1) * (uint32_t)sizeof(uint64_t);
	*block = (struct engine_block){ .from = first - back, .to = to - back, .bytes = back + sizeof(uint64_t) };
	return found;
}

/* Returns how many actions the block that the first ones move takes the place of: 0, if it is none or may not be. */
static uint32_t plan_block(struct plan *plan, const struct program_action *actions, uint32_t count)
{
	struct engine_block block;
	uint32_t found = plan->effect->block.bytes ? 0 : find_block(plan, actions, count, &block);

	if (found < 2)
		return 0;
	for (uint32_t at = 0; at < block.bytes; at += sizeof(uint64_t)) {
		uint32_t from = (block.from + at) / sizeof(uint64_t), to = (block.to + at) / sizeof(uint64_t);

		if (has_word(&plan->copied, from) || has_word(&plan->written, from) || has_word(&plan->copied, to) ||
		    has_word(&plan->written, to) || has_word(&plan->read, to))
			return 0;
	}
	plan->effect->block = block;
	return found;
}

static void plan_code(struct plan *plan, const struct program_action *action)
{
	const struct program_slot *slot = effect_slot(plan, action->slot);

	plan->rest[plan->rest_count++] = *action;
	add_reads(plan, action->node);
	add_slot(&plan->written, slot);
}

static void plan_actions(struct plan *plan, const struct program_action *actions, uint32_t count)
{
	for (uint32_t i = 0, found; i < count; i += found) {
		found = plan_block(plan, &actions[i], count - i);
		if (found)
			continue;
		found = 1;
		if (!plan_copy(plan, &actions[i]))
			plan_code(plan, &actions[i]);
	}
}

/* Whether the copies leave no word of the slots as it was. */
static bool fills(const struct plan *plan)
{
	bool filled = !plan->effect->block.bytes;

	for (uint32_t at = 0; at < plan->planner->rule->slot_bytes; at += sizeof(uint64_t))
		filled &= has_word(&plan->copied, at / sizeof(uint64_t));
	return filled;
}

void engine_effect_plan(const struct engine_planner *planner, const struct program_transition *transition,
			struct engine_effect *planned)
{
	const struct program_action *actions = program_actions(planner->program, transition);
	uint32_t count = transition->action_count;
	struct plan plan = {
		.planner = planner,
		.effect = planned,
		.copies = arena_zero(planner->arena, (size_t)count * TEXT_WORDS_MAX, sizeof *plan.copies),
		.rest = arena_zero(planner->arena, count, sizeof *plan.rest),
	};
	struct engine_work rest = { .actions = plan.rest, .hold = transition->hold };

	*planned = (struct engine_effect){ .copies = plan.copies, .hold = engine_everything };
	if (!plan.copies || !plan.rest) {
		planner->code->failed = planner->code->failed ? planner->code->failed : -ENOMEM;
		return;
	}
	plan_actions(&plan, actions, count);
	planned->fills = fills(&plan);
	rest.count = plan.rest_count;
	if (rest.hold != PROGRAM_NONE && engine_range_find(planner, rest.hold, &planned->hold))
		rest.hold = PROGRAM_NONE;
	if (rest.count || rest.hold != PROGRAM_NONE)
		planned->rest = 1 + engine_compile_effect(planner->code, planner->program, planner->rule, &rest);
}
