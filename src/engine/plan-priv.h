/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef ENGINE_PLAN_PRIV_H
#define ENGINE_PLAN_PRIV_H

/*
 * What most transitions ask and do, in a form that takes a few instructions: a comparison of a field, a slot or their
 * difference with a constant, and values of the event stored into slots. Where a transition asks or does more, the rest
 * of it is code. plan.c and plan-effect.c decide what goes where.
 */

#include "engine/code-priv.h"

#include <string.h>

/* Where a record has a number. What it shares its 8 bytes with has been written together with it; that makes a
 * difference when it is read right afterwards. */
struct engine_field {
	uint32_t offset; /* of the 8 aligned bytes that it is in */
	uint32_t turn;   /* bits to the right, what falls off comes back on the left */
	uint64_t mask;
};

/*
 * Whether field - slot is one of the span + 1 values from least on. Numbers have 64 bits and wrap, so this is any
 * comparison of integers, whatever its direction and their signs, and equality of a field and a slot.
 */
struct engine_range {
	struct engine_field field; /* mask 0: it is not asked for */
	uint64_t slot_mask;        /* 0: it is not asked for */
	uint64_t least, span;
	uint32_t slot; /* offset in the slot area */
};

/* slot = field + number */
struct engine_copy {
	struct engine_field field; /* mask 0: a number alone */
	uint64_t number;
	uint32_t slot;
};

struct engine_condition {
	struct engine_range range;
	uint32_t rest; /* code that is asked then, by its index from 1 on; 0: nothing */
};

/* Slots that are moved to higher places, which may overlap. */
struct engine_block {
	uint32_t from, to, bytes; /* none: 0 bytes */
};

struct engine_effect {
	struct engine_block block; /* moved first; then */
	const struct engine_copy *copies;
	uint32_t copy_count;
	bool fills;               /* the copies leave no byte of the slots as it was */
	uint32_t rest;            /* code of other actions and of hold, likewise */
	struct engine_range hold; /* asked at last */
};

static inline uint64_t engine_word_at(const char *from)
{
	uint64_t word;

	memcpy(&word, from, sizeof word);
	return word;
}

static inline uint64_t engine_field_at(const struct engine_field *field, const char *record)
{
	uint64_t word = engine_word_at(record + field->offset);

	return (word >> field->turn | word << (-field->turn & 63)) & field->mask;
}

static inline bool engine_range_holds(const struct engine_range *range, const char *record, const char *slots)
{
	if (range->span == UINT64_MAX)
		return true;
	uint64_t field = engine_field_at(&range->field, record);
	uint64_t slot = engine_word_at(slots + range->slot) & range->slot_mask;

	return field - slot - range->least <= range->span;
}

/* Its last words first, as they overlap upwards. */
static inline void engine_block_move(const struct engine_block *block, char *slots)
{
	uint32_t left = block->bytes;

	for (; left >= 3 * sizeof(uint64_t); left -= 3 * (uint32_t)sizeof(uint64_t)) {
		uint64_t words[3];

		memcpy(words, slots + block->from + left - sizeof words, sizeof words);
		memcpy(slots + block->to + left - sizeof words, words, sizeof words);
	}
	memmove(slots + block->to, slots + block->from, left);
}

static inline void engine_copies_do(const struct engine_effect *effect, const char *record, char *slots)
{
	const struct engine_copy *copy = effect->copies, *end = copy + effect->copy_count;

	if (__builtin_expect(effect->block.bytes != 0, false))
		engine_block_move(&effect->block, slots);
	for (; copy < end; copy++) {
		uint64_t word = engine_field_at(&copy->field, record) + copy->number;

		memcpy(slots + copy->slot, &word, sizeof word);
	}
}

/* Texts begin at multiples of 8; of one, offset alone means something. */
struct engine_field engine_field_of(const struct program_field *field);

/* For whom to plan: a rule of program; where code and copies go. */
struct engine_planner {
	struct engine_code *code;
	struct arena *arena;
	const struct program *program;
	const struct program_rule *rule;
};

extern const struct engine_range engine_everything;

/* Fills range if node, of kind BOOL, is a comparison that one can be. */
bool engine_range_find(const struct engine_planner *planner, uint32_t node, struct engine_range *range);

/*
 * Plans a condition (node or PROGRAM_NONE), a transition's actions and hold. Failures stick in code->failed.
 */
void engine_condition_plan(const struct engine_planner *planner, uint32_t node, struct engine_condition *planned);
void engine_effect_plan(const struct engine_planner *planner, const struct program_transition *transition,
			struct engine_effect *planned);

#endif
