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

/*
 * Whether field - slot is one of the span + 1 values from least on. Numbers have 64 bits and wrap, so this is any
 * comparison of integers, whatever its direction and their signs, and equality of a field and a slot.
 */
struct engine_range {
	uint32_t field, slot;           /* offsets in the record, in the slot area */
	uint64_t field_mask, slot_mask; /* what counts of the 8 bytes there; 0: it is not asked for */
	uint64_t least, span;
};

/* slot = field + number */
struct engine_copy {
	uint32_t field, slot;
	uint64_t mask; /* of the field; 0: a number alone */
	uint64_t number;
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

/* Offsets are those of 8 bytes that may be read, of a header field with less, too: mask takes what is the field's. */
static inline uint64_t engine_word_at(const char *from)
{
	uint64_t word;

	memcpy(&word, from, sizeof word);
	return word;
}

static inline bool engine_range_holds(const struct engine_range *range, const char *record, const char *slots)
{
	uint64_t field = engine_word_at(record + range->field) & range->field_mask;
	uint64_t slot = engine_word_at(slots + range->slot) & range->slot_mask;

	return field - slot - range->least <= range->span;
}

static inline void engine_copies_do(const struct engine_effect *effect, const char *record, char *slots)
{
	const struct engine_copy *copy = effect->copies, *end = copy + effect->copy_count;

	for (; copy < end; copy++) {
		uint64_t word = (engine_word_at(record + copy->field) & copy->mask) + copy->number;

		memcpy(slots + copy->slot, &word, sizeof word);
	}
}

/* The mask of a field with this many bytes, 4 or 8. */
static inline uint64_t engine_field_mask(uint32_t bytes)
{
	return bytes == sizeof(uint32_t) ? UINT32_MAX : UINT64_MAX;
}

/*
 * Plans a condition (node or PROGRAM_NONE), a transition's actions and hold. Until engine_condition_link and
 * engine_effect_link, which are for when the code is linked, rest is no pointer. Failures stick in code->failed.
 */
void engine_condition_plan(struct engine_code *code, const struct program *program, const struct program_rule *rule,
			   uint32_t node, struct engine_condition *planned);
void engine_effect_plan(struct engine_code *code, struct arena *arena, const struct program *program,
			const struct program_rule *rule, const struct program_transition *transition,
			struct engine_effect *planned);
void engine_condition_link(const struct engine_code *code, struct engine_condition *planned);
void engine_effect_link(const struct engine_code *code, struct engine_effect *planned);

#endif
