// SPDX-License-Identifier: BSD-2-Clause
/*
 * Collects the fields of events that reach the rules. It does not matter here which rule it is: what some rule looks at
 * is decoded for all.
 */

#include "session/replay/want.h"

#include "base/alloc.h"
#include "program/reads.h"
#include "session/replay/replay.h"

#include <errno.h>

static void add_field(void *context, uint32_t field, enum program_read what_for)
{
	const struct replay_want *want = context;

	(void)what_for;
	want->fields[field] = true;
}

int replay_want_init(struct replay_want *want, const struct program *program, const struct session_tap *tap)
{
	*want = (struct replay_want){ .program = program,
				      .tap = tap,
				      .fields = alloc_zero(program->field_count, sizeof *want->fields) };
	if (!want->fields)
		return -ENOMEM;
	for (uint32_t i = 0; i < program->rule_count; i++) {
		program_each_read(program, i, PROGRAM_NONE, add_field, want);
		want->sees_all |= program->rules[i].flags & PROGRAM_RULE_OVER_ALL;
	}
	return 0;
}

void replay_want_fini(struct replay_want *want)
{
	alloc_free(want->fields);
	*want = (struct replay_want){ 0 };
}

static bool names(void *context, const struct event_type *type)
{
	const struct replay_want *want = context;

	return program_type_find(want->program, type->name) != PROGRAM_NONE ||
	       (want->tap && want->tap->wants(want->tap->context, type));
}

/* An OVER { * } asks for the headers of all. */
static bool rules_want_type(void *context, const struct event_type *type)
{
	const struct replay_want *want = context;

	return want->sees_all || names(context, type);
}

static bool rules_want_field(void *context, const struct event_type *type, uint32_t field)
{
	const struct replay_want *want = context;
	uint32_t index = program_type_find(want->program, type->name);

	if (want->tap && want->tap->wants_field(want->tap->context, type, field))
		return true;
	return index != PROGRAM_NONE && field < want->program->types[index].field_count &&
	       want->fields[want->program->types[index].first_field + field];
}

struct event_want replay_want_of(struct replay_want *want)
{
	return (struct event_want){
		.wants = rules_want_type, .names = names, .wants_field = rules_want_field, .context = want
	};
}
