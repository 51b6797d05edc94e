// SPDX-License-Identifier: BSD-2-Clause
/* Writes the rows of an image in the order that the loader wants them. */

#include "machine-image.h"

#include "base/alloc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SLOT_P, SLOT_Q, SLOT_USES, SLOT_NOTICE, SLOT_TIMER, SLOT_CPU, SLOT_PID, SLOT_TID, SLOT_COMM, SLOTS };
enum { FIELD_TS, FIELD_CPU, FIELD_PID, FIELD_TID, FIELD_COMM, OWN_FIELDS = 3 };

static uint32_t field_of(uint32_t type, char name)
{
	return EVENT_HEADER_FIELDS + type * OWN_FIELDS + (uint32_t)(name - 'p');
}

static uint32_t constant(struct program_build *build, enum program_kind kind, uint64_t imm)
{
	struct program_node node = { .op = PROGRAM_OP_CONST, .kind = (uint8_t)kind, .depth = 1, .imm = imm };

	return program_build_add(build, PROGRAM_NODES, &node, 1);
}

static uint32_t leaf(struct program_build *build, enum program_op op, enum program_kind kind, uint32_t a)
{
	struct program_node node = { .op = (uint8_t)op, .kind = (uint8_t)kind, .depth = 1, .a = a };

	return program_build_add(build, PROGRAM_NODES, &node, 1);
}

static uint32_t binary(struct program_build *build, enum program_op op, enum program_kind kind, uint32_t a, uint32_t b)
{
	struct program_node node = { .op = (uint8_t)op, .kind = (uint8_t)kind, .depth = 2, .a = a, .b = b };

	return program_build_add(build, PROGRAM_NODES, &node, 1);
}

static void add_types(struct program_build *build)
{
	static const char *const types[] = { "A", "B", "C", "D" }, *const fields[] = { "p", "q", "r" };

	for (int i = 0; i < EVENT_HEADER_FIELDS; i++) {
		const struct event_field *field = &event_header_fields[i];
		struct program_field row = { program_build_text(build, field->name), field->value, field->offset,
					     field->bytes };

		program_build_add(build, PROGRAM_FIELDS, &row, 1);
	}
	for (uint32_t i = 0; i < MACHINE_TYPES; i++) {
		struct program_type type = { program_build_text(build, types[i]), field_of(i, 'p'), OWN_FIELDS,
					     sizeof(struct machine_record) };

		program_build_add(build, PROGRAM_TYPES, &type, 1);
		for (uint32_t j = 0; j < OWN_FIELDS; j++) {
			struct program_field row = { program_build_text(build, fields[j]), EVENT_I64,
						     (uint32_t)sizeof(struct event_header) + 8 * j, 8 };

			program_build_add(build, PROGRAM_FIELDS, &row, 1);
		}
	}
}

/* The condition of transitions on D, which a machine has one of: events for any value do the same in all states. */
static uint32_t end_fit;

static uint32_t fit_node(struct program_build *build, const struct machine_row *row)
{
	const char *fit = row->fit;
	bool at_least = fit[0] && fit[1] == '>' && fit[2] == '=';
	enum program_op op = at_least ? PROGRAM_OP_GE : fit[0] && fit[1] == '<' ? PROGRAM_OP_LT : PROGRAM_OP_GT;
	uint32_t left, right;

	if (!*fit)
		return PROGRAM_NONE;
	if (row->type == TYPE_D && end_fit != PROGRAM_NONE)
		return end_fit;
	left = *fit == 'u' ? leaf(build, PROGRAM_OP_SLOT, PROGRAM_U64, SLOT_USES)
			   : leaf(build, PROGRAM_OP_FIELD, PROGRAM_I64, field_of((uint32_t)row->type, 'r'));
	right = constant(build, *fit == 'u' ? PROGRAM_U64 : PROGRAM_I64, strtoull(fit + (at_least ? 3 : 2), NULL, 10));
	right = binary(build, op, PROGRAM_BOOL, left, right);
	if (row->type == TYPE_D)
		end_fit = right;
	return right;
}

static void set(struct program_build *build, uint32_t slot, uint32_t node)
{
	struct program_action action = { .op = PROGRAM_SET, .slot = slot, .node = node };

	program_build_add(build, PROGRAM_ACTIONS, &action, 1);
}

static uint32_t own_field(struct program_build *build, const struct machine_row *row, char name)
{
	return leaf(build, PROGRAM_OP_FIELD, PROGRAM_I64, field_of((uint32_t)row->type, name));
}

static void add_timer(struct program_build *build, uint64_t after)
{
	uint32_t ts = leaf(build, PROGRAM_OP_FIELD, PROGRAM_I64, FIELD_TS);
	uint32_t sum = binary(build, PROGRAM_OP_ADD, PROGRAM_I64, ts, constant(build, PROGRAM_I64, after));
	struct program_node due = { .op = PROGRAM_OP_CONVERT, .kind = PROGRAM_U64, .depth = 3, .a = sum };

	set(build, SLOT_TIMER,
	    after ? program_build_add(build, PROGRAM_NODES, &due, 1) : constant(build, PROGRAM_U64, 0));
}

static void add_context(struct program_build *build)
{
	set(build, SLOT_CPU, leaf(build, PROGRAM_OP_FIELD, PROGRAM_I64, FIELD_CPU));
	set(build, SLOT_PID, leaf(build, PROGRAM_OP_FIELD, PROGRAM_I64, FIELD_PID));
	set(build, SLOT_TID, leaf(build, PROGRAM_OP_FIELD, PROGRAM_I64, FIELD_TID));
	set(build, SLOT_COMM, leaf(build, PROGRAM_OP_FIELD, PROGRAM_STRING, FIELD_COMM));
}

static void add_action(struct program_build *build, const struct machine_row *row, const char *act)
{
	uint64_t number = strtoull(act + 1, NULL, 10);

	if (!strcmp(act, "key")) {
		set(build, SLOT_P, own_field(build, row, 'p'));
		set(build, SLOT_Q, own_field(build, row, 'q'));
	} else if (!strncmp(act, "as:", 3)) {
		set(build, SLOT_P, own_field(build, row, act[3]));
	} else if (!strcmp(act, "u+")) {
		set(build, SLOT_USES,
		    binary(build, PROGRAM_OP_ADD, PROGRAM_U64, leaf(build, PROGRAM_OP_SLOT, PROGRAM_U64, SLOT_USES),
			   constant(build, PROGRAM_U64, 1)));
	} else if (*act == 'u') {
		set(build, SLOT_USES, constant(build, PROGRAM_U64, number));
	} else if (*act == 't') {
		add_timer(build, number);
	} else if (*act == 'w') {
		add_context(build);
	}
}

static void add_transition(struct program_build *build, const struct machine_row *row)
{
	struct program_transition transition = {
		.type = row->type == TYPE_AFTER ? PROGRAM_TIMER : (uint32_t)row->type,
		.target = row->target == TO_END     ? PROGRAM_TARGET_END
			  : row->target == TO_MATCH ? PROGRAM_TARGET_MATCH
						    : (uint32_t)row->target,
		.hold = PROGRAM_NONE,
		.element = PROGRAM_NONE,
		.flags = row->flags,
		.note = program_build_text(build, ""),
	};
	char acts[128], *rest = acts, *act;

	snprintf(acts, sizeof acts, "%s", row->acts);
	transition.fit = fit_node(build, row);
	transition.first_action = program_build_count(build, PROGRAM_ACTIONS);
	while ((act = strsep(&rest, " ")))
		add_action(build, row, act);
	if (row->notice)
		set(build, SLOT_NOTICE, constant(build, PROGRAM_U64, row->notice));
	transition.action_count = program_build_count(build, PROGRAM_ACTIONS) - transition.first_action;
	program_build_add(build, PROGRAM_TRANSITIONS, &transition, 1);
}

static void add_states(struct program_build *build, const struct machine_spec *spec)
{
	for (uint32_t state = 0; state < spec->states; state++) {
		char label[16];
		struct program_state row = { .first_transition = program_build_count(build, PROGRAM_TRANSITIONS),
					     .class = state ? 0 : PROGRAM_NONE };

		snprintf(label, sizeof label, "S%u", state);
		row.label = program_build_text(build, label);
		for (uint32_t i = 0; i < spec->row_count; i++)
			if (spec->rows[i].state == (int)state) {
				add_transition(build, &spec->rows[i]);
				row.transition_count++;
			}
		program_build_add(build, PROGRAM_STATES, &row, 1);
	}
}

/* "A:pq D:p*" */
static void add_class(struct program_build *build, const struct machine_spec *spec, struct program_rule *rule)
{
	const uint32_t slots[] = { SLOT_P, SLOT_Q };
	uint32_t over[MACHINE_TYPES];
	struct program_class class = { .slot_count = 2,
				       .first_key = program_build_count(build, PROGRAM_KEYS),
				       .label = program_build_text(build, "p, q") };

	class.first_slot = program_build_add(build, PROGRAM_INDICES, slots, 2);
	for (const char *key = spec->keys; *key; key += key[4] ? 5 : 4) {
		struct program_key row = { .type = (uint32_t)(key[0] - 'A') };
		uint32_t fields[2];

		for (int i = 0; i < 2; i++)
			fields[i] = key[2 + i] == '*' ? PROGRAM_NONE : field_of(row.type, key[2 + i]);
		row.first_field = program_build_add(build, PROGRAM_INDICES, fields, 2);
		program_build_add(build, PROGRAM_KEYS, &row, 1);
		over[class.key_count++] = row.type;
	}
	rule->first_class = program_build_add(build, PROGRAM_CLASSES, &class, 1);
	rule->class_count = 1;
	rule->first_over = program_build_add(build, PROGRAM_INDICES, over, class.key_count);
	rule->over_count = class.key_count;
}

static void add_notices(struct program_build *build, const struct machine_spec *spec, struct program_rule *rule)
{
	rule->first_notice = program_build_count(build, PROGRAM_NOTICES);
	rule->notice_count = spec->notices;
	for (uint32_t i = 1; i <= spec->notices; i++) {
		struct program_notice notice = { .first_piece = program_build_count(build, PROGRAM_PIECES),
						 .flags = spec->silent >> i & 1 ? PROGRAM_NOTICE_SILENT : 0 };

		program_build_add(build, PROGRAM_NOTICES, &notice, 1);
	}
	rule->first_return = program_build_count(build, PROGRAM_RETURNS);
	rule->first_statement = program_build_count(build, PROGRAM_STATEMENTS);
	if (spec->emits < 0)
		return;
	struct program_node uses = { .op = PROGRAM_OP_CONVERT,
				     .kind = PROGRAM_I64,
				     .depth = 2,
				     .a = leaf(build, PROGRAM_OP_SLOT, PROGRAM_U64, SLOT_USES) };
	struct program_arg args[OWN_FIELDS] = {
		{ leaf(build, PROGRAM_OP_SLOT, PROGRAM_I64, SLOT_P), field_of((uint32_t)spec->emits, 'p') },
		{ leaf(build, PROGRAM_OP_SLOT, PROGRAM_I64, SLOT_Q), field_of((uint32_t)spec->emits, 'q') },
		{ program_build_add(build, PROGRAM_NODES, &uses, 1), field_of((uint32_t)spec->emits, 'r') },
	};
	struct program_statement statement = { .type = (uint32_t)spec->emits,
					       .function = PROGRAM_NONE,
					       .first_arg = program_build_add(build, PROGRAM_ARGS, args, OWN_FIELDS),
					       .arg_count = OWN_FIELDS,
					       .notice = spec->emit_notice };

	program_build_add(build, PROGRAM_STATEMENTS, &statement, 1);
	rule->statement_count = 1;
}

static void add_machine(struct program_build *build, const struct machine_spec *spec)
{
	static const char *const names[SLOTS] = { "p", "q", "uses", "notice", "timer", "cpu", "pid", "tid", "comm" };
	struct program_rule rule = { .name = program_build_text(build, spec->name),
				     .semantics = PROGRAM_MACHINE,
				     .loss = spec->loss,
				     .flags = spec->timed ? PROGRAM_RULE_TIMER : 0,
				     .pool = spec->pool,
				     .slot_count = SLOTS,
				     .state_count = spec->states,
				     .context_slot = spec->timed ? SLOT_CPU : PROGRAM_NONE,
				     .notice_slot = spec->notices ? SLOT_NOTICE : 0,
				     .timer_slot = spec->timed ? SLOT_TIMER : 0,
				     .place = program_build_text(build, "test:1"),
				     .source = program_build_text(build, "MACHINE") };

	end_fit = PROGRAM_NONE;
	rule.first_slot = program_build_count(build, PROGRAM_SLOTS);
	rule.first_element = program_build_count(build, PROGRAM_ELEMENTS);
	for (uint32_t i = 0; i < SLOTS; i++) {
		struct program_slot slot = { program_build_text(build, names[i]),
					     i <= SLOT_Q || (i >= SLOT_CPU && i < SLOT_COMM) ? PROGRAM_I64
					     : i == SLOT_COMM                                ? PROGRAM_STRING
											     : PROGRAM_U64,
					     rule.slot_bytes, i == SLOT_COMM ? EVENT_COMM_BYTES : 8 };

		rule.slot_bytes += slot.bytes;
		program_build_add(build, PROGRAM_SLOTS, &slot, 1);
	}
	rule.first_state = program_build_count(build, PROGRAM_STATES);
	add_states(build, spec);
	add_class(build, spec, &rule);
	add_notices(build, spec, &rule);
	program_build_add(build, PROGRAM_RULES, &rule, 1);
}

struct program *machine_image(const struct machine_spec *specs, uint32_t count)
{
	struct asterism_diag *diag = asterism_diag_new();
	struct program_build *build = program_build_new();
	struct program *program = NULL;
	void *bytes = NULL;
	size_t length;

	add_types(build);
	for (uint32_t i = 0; i < count; i++)
		add_machine(build, &specs[i]);
	if (program_build_finish(build, &bytes, &length) || program_load(bytes, length, specs->name, diag, &program)) {
		const struct asterism_message *message = asterism_diag_get(diag, 0);

		fprintf(stderr, "%s\n", message ? message->text : "the image cannot be made");
		exit(1);
	}
	program_build_free(build);
	alloc_free(bytes);
	asterism_diag_free(diag);
	return program;
}
