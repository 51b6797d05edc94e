// SPDX-License-Identifier: BSD-2-Clause
/* The words for the parts of an automaton. */

#include "base/alloc.h"
#include "program/emissions.h"
#include "program/explain/explain-priv.h"

#include <errno.h>
#include <string.h>

const char *explain_semantics(const struct program_rule *rule)
{
	static const char *const names[] = {
		[PROGRAM_STRICT_SEQUENCE] = "STRICTSEQUENCE",
		[PROGRAM_STRICT_PARTITION] = "STRICTPARTITION",
		[PROGRAM_SKIP_TILL_NEXT] = "SKIPTILLNEXT",
		[PROGRAM_SKIP_TILL_ANY] = "SKIPTILLANY",
		[PROGRAM_MACHINE] = "MACHINE",
	};

	return names[rule->semantics];
}

const char *explain_loss(const struct program_rule *rule)
{
	static const char *const names[] = {
		[PROGRAM_TAINT] = "TAINT",
		[PROGRAM_DISCARD] = "DISCARD",
		[PROGRAM_KEEP] = "KEEP",
	};

	return names[rule->loss];
}

const char *explain_mode(const struct program_rule *rule)
{
	static const char *const names[] = {
		[PROGRAM_ANY_MODE] = "",
		[PROGRAM_SYNCHRONOUS] = "SYNCHRONOUS",
		[PROGRAM_ASYNCHRONOUS] = "ASYNCHRONOUS",
	};

	return names[rule->mode];
}

const char *explain_kind(uint32_t kind)
{
	static const char *const names[] = {
		[PROGRAM_I64] = "i64",   [PROGRAM_U64] = "u64",       [PROGRAM_F64] = "f64",
		[PROGRAM_BOOL] = "bool", [PROGRAM_STRING] = "string",
	};

	return names[kind];
}

const char *explain_type_name(const struct explain *explain, uint32_t type)
{
	if (type == PROGRAM_TIMER)
		return "AFTER";
	return program_text(explain->program, explain->program->types[type].name);
}

const struct program_state *explain_state(const struct explain *explain, uint32_t state)
{
	return &program_states(explain->program, explain->rule)[state];
}

void explain_event(const struct explain *explain, const struct program_transition *transition)
{
	if (transition->type == PROGRAM_TIMER && transition->note != PROGRAM_NONE) {
		text_append(explain->out, program_text(explain->program, transition->note));
		return;
	}
	text_append(explain->out, explain_type_name(explain, transition->type));
	if (transition->element == PROGRAM_NONE)
		return;
	const struct program_element *element = &program_elements(explain->program, explain->rule)[transition->element];
	if (element->flags & PROGRAM_ELEMENT_ARRAY)
		text_append(explain->out, "[]");
	if (element->name != PROGRAM_NONE)
		text_printf(explain->out, ":%s", program_text(explain->program, element->name));
}

void explain_action(const struct explain *explain, const struct program_action *action)
{
	struct text_buffer *out = explain->out;

	program_print_slot(out, explain->program, explain->rule, action->slot);
	text_append(out, " = ");
	if (action->op == PROGRAM_SET) {
		program_print(out, explain->program, explain->rule, action->node);
		return;
	}
	text_append(out, action->op == PROGRAM_MIN ? "min(" : "max(");
	program_print_slot(out, explain->program, explain->rule, action->slot);
	text_append(out, ", ");
	program_print(out, explain->program, explain->rule, action->node);
	text_append(out, ")");
}

void explain_statement(const struct explain *explain, const struct program_statement *statement)
{
	const struct program *program = explain->program;
	bool emits = program_is_emission(statement);

	text_append(explain->out, emits ? "EMIT " : "CALL ");
	text_append(explain->out,
		    emits ? explain_type_name(explain, statement->type) : program_text(program, statement->function));
	text_append(explain->out, "(");
	for (uint32_t i = 0; i < statement->arg_count; i++) {
		const struct program_arg *arg = &program_args(program, statement)[i];

		text_append(explain->out, i ? ", " : "");
		if (emits)
			text_printf(explain->out, "%s = ", program_text(program, program->fields[arg->field].name));
		program_print(explain->out, program, explain->rule, arg->node);
	}
	text_append(explain->out, ")");
}

static uint32_t explained_key_field(const struct explain *explain, const struct program_key *key, uint32_t slot)
{
	return program_key_fields(explain->program, key)[slot];
}

/* Whether two keys of class take their values from fields of the same names. */
static bool keys_agree(const struct explain *explain, const struct program_class *class, uint32_t i, uint32_t j)
{
	const struct program *program = explain->program;
	const struct program_key *keys = program_keys(program, class);

	for (uint32_t slot = 0; slot < class->slot_count; slot++) {
		uint32_t a = explained_key_field(explain, &keys[i], slot),
			 b = explained_key_field(explain, &keys[j], slot);

		if (a == PROGRAM_NONE || b == PROGRAM_NONE
			    ? a != b
			    : strcmp(program_text(program, program->fields[a].name),
				     program_text(program, program->fields[b].name)) != 0)
			return false;
	}
	return true;
}

/* tid = a.tid, x = a.x; a join, whose slot is called as the field, by its name alone. */
static void explain_key(const struct explain *explain, const struct program_class *class, const struct program_key *key)
{
	const struct program *program = explain->program;

	for (uint32_t i = 0; i < class->slot_count; i++) {
		uint32_t slot = program_class_slots(program, class)[i];
		const char *kept = program_text(program, program_slots(program, explain->rule)[slot].name), *field;

		text_append(explain->out, i ? ", " : "");
		if (explained_key_field(explain, key, i) == PROGRAM_NONE) {
			text_append(explain->out, "any ");
			program_print_slot(explain->out, program, explain->rule, slot);
			continue;
		}
		field = program_text(program, program->fields[explained_key_field(explain, key, i)].name);
		text_append(explain->out, field);
		if (!strcmp(field, kept))
			continue;
		text_append(explain->out, " = ");
		program_print_slot(explain->out, program, explain->rule, slot);
	}
}

void explain_class(const struct explain *explain, uint32_t class)
{
	const struct program_class *row = &program_classes(explain->program, explain->rule)[class];

	if (!row->key_count) {
		text_append(explain->out, "no event can continue a run");
		return;
	}
	if (!row->slot_count) {
		text_append(explain->out, "no key: every event is compared with every open run");
		return;
	}
	text_append(explain->out, "runs wait under ");
	explain_keys(explain, row);
}

void explain_keys(const struct explain *explain, const struct program_class *class)
{
	const struct program_key *keys = program_keys(explain->program, class);
	uint32_t alike = 1;

	while (alike < class->key_count && keys_agree(explain, class, 0, alike))
		alike++;
	for (uint32_t i = 0; i < class->key_count; i++) {
		if (i == 0 || !keys_agree(explain, class, i - 1, i)) {
			text_append(explain->out, i ? "; " : "");
			explain_key(explain, class, &keys[i]);
			text_append(explain->out, alike == class->key_count ? "" : " of ");
		} else if (alike != class->key_count) {
			text_append(explain->out, ", ");
		}
		if (alike != class->key_count)
			text_append(explain->out, keys[i].type == PROGRAM_NONE
							  ? "any other event"
							  : explain_type_name(explain, keys[i].type));
	}
}

void explain_put_node(const struct explain *explain, uint32_t node)
{
	struct text_buffer draft = { 0 };
	char *text = NULL;

	if (node == PROGRAM_NONE) {
		text_append(explain->out, "null");
		return;
	}
	program_print(&draft, explain->program, explain->rule, node);
	if (text_take(&draft, &text)) {
		explain->out->failure = -ENOMEM;
		return;
	}
	text_json(explain->out, text);
	alloc_free(text);
}
