// SPDX-License-Identifier: BSD-2-Clause
/* Lays out returned values in C, and computes what identifies the layout. */

#include "program/values.h"

#include "base/hash.h"
#include "program/query.h"
#include "program/returned.h"

#include <string.h>

/* The NUL included, so that two texts are not taken for another two. */
static uint64_t hash_name(uint64_t hash, const char *text)
{
	return hash_bytes(hash, text, strlen(text) + 1);
}

static size_t align_to(size_t at, size_t size)
{
	return (at + size - 1) / size * size;
}

/* The bytes that a text takes, its NUL included. */
static size_t bytes_of_text(const struct program *program, const struct program_rule *rule,
			    const struct program_node *node)
{
	return node->op == PROGRAM_OP_TEXT ? (size_t)node->b + 1 : program_slots(program, rule)[node->a].bytes;
}

static void begin_values(const struct program *program, const struct program_rule *rule, struct program_values *values)
{
	values->bytes = PROGRAM_VALUES_HEAD_BYTES;
	values->layout = hash_name(HASH_START, program_text(program, rule->name));
}

bool program_values_next(const struct program *program, uint32_t index, struct program_values *values,
			 struct program_place *place)
{
	const struct program_rule *rule = &program->rules[index];

	if (values->count == 0)
		begin_values(program, rule, values);
	if (values->count == rule->return_count) {
		values->bytes = align_to(values->bytes, 8);
		return false;
	}
	const struct program_return *row = &program_returns(program, rule)[values->count++];
	const struct program_node *node = &program->nodes[row->node];

	*place = (struct program_place){ .name = row->name, .node = row->node, .kind = node->kind, .bytes = 8 };
	if (node->kind == PROGRAM_BOOL)
		place->bytes = 1;
	else if (node->kind == PROGRAM_STRING)
		place->bytes = bytes_of_text(program, rule, node);
	place->offset = align_to(values->bytes, place->bytes == 8 && node->kind != PROGRAM_STRING ? 8 : 1);
	values->bytes = place->offset + place->bytes;

	const uint64_t shape[] = { node->kind, place->offset, place->bytes };

	values->layout = hash_name(values->layout, program_text(program, row->name));
	values->layout = hash_bytes(values->layout, shape, sizeof shape);
	return true;
}

void program_values_layout(const struct program *program, uint32_t rule, struct program_values *values)
{
	struct program_place place;

	*values = (struct program_values){ 0 };
	while (program_values_next(program, rule, values, &place))
		;
}

static void put_value_of_place(const struct program_place *place, const struct program_value *value, char *memory)
{
	if (place->kind == PROGRAM_STRING)
		memcpy(memory + place->offset, value->text, strnlen(value->text, place->bytes - 1));
	else if (place->kind == PROGRAM_BOOL)
		memory[place->offset] = value->boolean;
	else
		memcpy(memory + place->offset, &value->u64, sizeof value->u64);
}

void program_values_fill(const struct program *program, const struct program_match *match,
			 const struct program_values *layout, void *memory)
{
	struct program_values at = { 0 };
	struct program_place place;
	uint64_t missing = 0;

	memset(memory, 0, layout->bytes);
	while (program_values_next(program, match->rule, &at, &place)) {
		struct program_value value;

		if (program_returned(program, match, at.count - 1, &value) == 0)
			put_value_of_place(&place, &value, memory);
		else
			missing |= at.count <= 64 ? UINT64_C(1) << (at.count - 1) : 0;
	}
	memcpy(memory, &layout->layout, sizeof layout->layout);
	memcpy((char *)memory + sizeof layout->layout, &missing, sizeof missing);
}
