/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef ENGINE_PLAN_PRIV_H
#define ENGINE_PLAN_PRIV_H

/*
 * What most transitions ask and do, in a form that takes a few instructions: a comparison of a field, a slot or their
 * difference with a constant, and values of the event stored into slots. Where a transition asks or does more, the rest
 * of it is code. plan.c decides what goes where.
 */

#include "engine/code-priv.h"

#include <string.h>

/* Where a record has a number. What it shares its 8 bytes with has been written together with it; that makes a
 * difference when it is read right afterwards. */
struct engine_field {
	uint32_t offset; /* of the 8 aligned bytes that it is in */
	uint32_t shift;
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
	const struct engine_op *rest; /* asked then; NULL: nothing */
};

struct engine_effect {
	const struct engine_copy *copies;
	uint32_t copy_count;
	bool fills;                   /* the copies leave no byte of the slots as it was */
	const struct engine_op *rest; /* further actions, hold; NULL: nothing */
	struct engine_range hold;     /* asked at last */
};

static inline uint64_t engine_word_at(const char *from)
{
	uint64_t word;

	memcpy(&word, from, sizeof word);
	return word;
}

static inline uint64_t engine_field_at(const struct engine_field *field, const char *record)
{
	return engine_word_at(record + field->offset) >> field->shift & field->mask;
}

static inline bool engine_range_holds(const struct engine_range *range, const char *record, const char *slots)
{
	if (range->span == UINT64_MAX)
		return true;
	uint64_t field = engine_field_at(&range->field, record);
	uint64_t slot = engine_word_at(slots + range->slot) & range->slot_mask;

	return field - slot - range->least <= range->span;
}

static inline void engine_copies_do(const struct engine_effect *effect, const char *record, char *slots)
{
	const struct engine_copy *copy = effect->copies, *end = copy + effect->copy_count;

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

/*
 * Plans a condition (node or PROGRAM_NONE), a transition's actions and hold. Until engine_condition_link and
 * engine_effect_link, which are for when the code is linked, rest is no pointer. Failures stick in code->failed.
 */
void engine_condition_plan(const struct engine_planner *planner, uint32_t node, struct engine_condition *planned);
void engine_effect_plan(const struct engine_planner *planner, const struct program_transition *transition,
			struct engine_effect *planned);
void engine_condition_link(const struct engine_code *code, struct engine_condition *planned);
void engine_effect_link(const struct engine_code *code, struct engine_effect *planned);

#endif
