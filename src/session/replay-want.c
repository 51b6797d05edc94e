// SPDX-License-Identifier: BSD-2-Clause
/*
 * Decides which fields of events reach the rules. A field is looked at by an expression or as part of a key; a rule
 * that returns its sequence keeps whole records. It does not matter here which rule it is, and of which event: what
 * some rule looks at is decoded for all.
 */

#include "session/replay-want.h"

#include "base/alloc.h"
#include "program/query.h"

#include <errno.h>
#include <string.h>

static void add_nodes(struct replay_want *want)
{
	const struct program *program = want->program;

	for (uint32_t i = 0; i < program->header->sections[PROGRAM_NODES].count; i++) {
		if (program->nodes[i].op == PROGRAM_OP_FIELD)
			want->fields[program->nodes[i].a] = true;
	}
}

static void add_keys(struct replay_want *want, const struct program_class *class)
{
	const struct program *program = want->program;

	for (uint32_t i = 0; i < class->key_count; i++) {
		const uint32_t *fields = program_key_fields(program, &program_keys(program, class)[i]);

		for (uint32_t j = 0; j < class->slot_count; j++) {
			if (fields[j] != PROGRAM_NONE) /* `*` of a machine */
				want->fields[fields[j]] = true;
		}
	}
}

static void add_rule(struct replay_want *want, const struct program_rule *rule)
{
	const struct program *program = want->program;

	for (uint32_t i = 0; i < rule->class_count; i++)
		add_keys(want, &program_classes(program, rule)[i]);
	if (rule->flags & PROGRAM_RULE_OVER_ALL)
		want->sees_all = true;
	if (rule->flags & PROGRAM_RULE_SEQUENCE)
		memset(want->fields, true, program->field_count * sizeof *want->fields);
}

int replay_want_init(struct replay_want *want, const struct program *program)
{
	*want = (struct replay_want){ .program = program,
				      .fields = alloc_zero(program->field_count, sizeof *want->fields) };
	if (!want->fields)
		return -ENOMEM;
	add_nodes(want);
	for (uint32_t i = 0; i < program->rule_count; i++)
		add_rule(want, &program->rules[i]);
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

	return program_type_find(want->program, type->name) != PROGRAM_NONE;
}

/* An OVER { * } asks for the headers of all. */
static bool wants(void *context, const struct event_type *type)
{
	const struct replay_want *want = context;

	return want->sees_all || names(context, type);
}

static bool wants_field(void *context, const struct event_type *type, uint32_t field)
{
	const struct replay_want *want = context;
	uint32_t index = program_type_find(want->program, type->name);

	return index != PROGRAM_NONE && field < want->program->types[index].field_count &&
	       want->fields[want->program->types[index].first_field + field];
}

struct trace_want replay_want_of(struct replay_want *want)
{
	return (struct trace_want){ .wants = wants, .names = names, .wants_field = wants_field, .context = want };
}
