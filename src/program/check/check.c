// SPDX-License-Identifier: BSD-2-Clause
/* Decides the order in which tables are judged, how ranges are owned and how a fault is told. */

#include "program/check/check-priv.h"

#include "base/alloc.h"
#include "event/type.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Far above what any rule asks for, a second or so of a reader's time. */
#define WORK_MAX (UINT64_C(1) << 28)

int check_fail(struct check *check, struct check_item item, const char *format, ...)
{
	const struct program_section_shape *shape = &program_section_shapes[item.section];
	uint64_t offset = check->program->header->sections[item.section].offset;
	struct diag_place place = { .source = check->source, .offset = offset + item.index * shape->item_bytes };
	char text[800];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	return diag_error(check->diag, &place, -EINVAL, "%s %" PRIu32 " of the image: %s", shape->name, item.index,
			  text);
}

int check_work(struct check *check, struct check_item item, uint64_t steps)
{
	check->work += steps;
	return check->work > WORK_MAX ? check_fail(check, item, "the image is too entangled to be checked") : 0;
}

int check_bounds(struct check *check, struct check_item owner, struct check_range range)
{
	uint32_t count = check->program->header->sections[range.section].count;

	if (range.first > count || range.count > count - range.first)
		return check_fail(check, owner, "its range %" PRIu32 "+%" PRIu32 " of %s items is not in the image",
				  range.first, range.count, program_section_shapes[range.section].name);
	return 0;
}

int check_claim(struct check *check, struct check_item owner, struct check_range range)
{
	uint32_t *claims = check->claims[range.section];
	int result = check_bounds(check, owner, range);

	if (result)
		return result;
	for (uint32_t i = range.first; i < range.first + range.count; i++) {
		if (claims[i] != PROGRAM_NONE)
			return check_fail(check, owner, "%s %" PRIu32 " belongs to another one already",
					  program_section_shapes[range.section].name, i);
		claims[i] = owner.index;
	}
	return 0;
}

uint32_t check_new_mark(struct check *check)
{
	return ++check->mark;
}

enum program_kind check_kind_of(uint32_t value)
{
	switch ((enum event_value)value) {
	case EVENT_U64:
	case EVENT_ADDR:
		return PROGRAM_U64;
	case EVENT_F64:
		return PROGRAM_F64;
	case EVENT_BOOL:
		return PROGRAM_BOOL;
	case EVENT_STRING:
		return PROGRAM_STRING;
	default:
		return PROGRAM_I64;
	}
}

bool check_in_stream(const struct check *check, uint32_t rule, uint32_t type)
{
	return check->program->rules[rule].flags & PROGRAM_RULE_OVER_ALL || check->type_stream[type] == rule;
}

/* count words of PROGRAM_NONE, or NULL. */
static uint32_t *new_words(uint32_t count)
{
	uint32_t *words = alloc_zero(count, sizeof *words);

	if (words)
		memset(words, 0xff, count * sizeof *words);
	return words;
}

static int make_scratch(struct check *check)
{
	static const enum program_section_id claimed[] = {
		PROGRAM_FIELDS,      PROGRAM_ELEMENTS, PROGRAM_SLOTS,   PROGRAM_STATES,
		PROGRAM_TRANSITIONS, PROGRAM_CLASSES,  PROGRAM_KEYS,    PROGRAM_RETURNS,
		PROGRAM_STATEMENTS,  PROGRAM_ARGS,     PROGRAM_NOTICES, PROGRAM_PIECES,
	};
	const struct program_section *sections = check->program->header->sections;
	uint32_t nodes = sections[PROGRAM_NODES].count, types = sections[PROGRAM_TYPES].count;

	for (size_t i = 0; i < sizeof claimed / sizeof *claimed; i++) {
		check->claims[claimed[i]] = new_words(sections[claimed[i]].count);
		if (!check->claims[claimed[i]])
			return -ENOMEM;
	}
	check->texts = alloc_zero(sections[PROGRAM_STRINGS].count, 1);
	check->node_reads = new_words(nodes);
	check->node_size = new_words(nodes);
	check->node_rule = new_words(nodes);
	check->type_stream = new_words(types);
	check->type_mark = alloc_zero(types, sizeof *check->type_mark);
	return check->texts && check->node_reads && check->node_size && check->node_rule && check->type_stream &&
			       check->type_mark
		       ? 0
		       : -ENOMEM;
}

static void free_scratch(struct check *check)
{
	for (int i = 0; i < PROGRAM_SECTION_COUNT; i++)
		alloc_free(check->claims[i]);
	alloc_free(check->texts);
	alloc_free(check->node_reads);
	alloc_free(check->node_size);
	alloc_free(check->node_rule);
	alloc_free(check->type_stream);
	alloc_free(check->type_mark);
}

int check_program(const struct program *program, const struct diag_source *source, struct asterism_diag *diag)
{
	static int (*const parts[])(struct check *) = {
		check_texts, check_types, check_nodes, check_rules, check_emissions,
	};
	struct check check = { .program = program, .source = source, .diag = diag };
	int result = make_scratch(&check);

	for (size_t i = 0; i < sizeof parts / sizeof *parts && !result; i++)
		result = parts[i](&check);
	free_scratch(&check);
	return result == -ENOMEM ? diag_no_memory(diag) : result;
}
