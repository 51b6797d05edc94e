// SPDX-License-Identifier: BSD-2-Clause
/* Checks how ranges are owned and reports faults; all checks use it. */

#include "program/check/check-priv.h"

#include "event/type.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

/* Far above what any rule asks for, a second or so of a reader's time. */
#define WORK_MAX (UINT64_C(1) << 28)

int check_fail(struct check *check, struct check_item item, const char *format, ...)
{
	const struct program_section_shape *shape = &program_section_shapes[item.section];
	uint64_t offset = check->program->header->sections[item.section].offset;
	struct diag_location location = { .source = check->source, .offset = offset + item.index * shape->item_bytes };
	char text[800];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	return diag_error(check->diag, &location, -EINVAL, "%s %" PRIu32 " of the image: %s", shape->name, item.index,
			  text);
}

int check_work(struct check *check, struct check_item item, uint64_t steps)
{
	check->work += steps;
	return check->work > WORK_MAX ? check_fail(check, item, "the image is nested too deeply to be checked") : 0;
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
			return check_fail(check, owner, "%s %" PRIu32 " already belongs to another one",
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

bool check_is_machine(const struct check *check, uint32_t rule)
{
	return check->program->rules[rule].semantics == PROGRAM_MACHINE;
}
