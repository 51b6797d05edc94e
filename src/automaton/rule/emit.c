// SPDX-License-Identifier: BSD-2-Clause
/* Writes a finished rule into the tables of the image. */

#include "automaton/rule/rule-priv.h"

#include "base/text.h"

#include <errno.h>
#include <string.h>

uint32_t rule_text(struct rule_build *build, const char *string)
{
	return program_build_text(build->unit->out, string ? string : "");
}

static uint32_t add_to_section(struct rule_build *build, enum program_section_id section, const void *item)
{
	return program_build_add(build->unit->out, section, item, 1);
}

static void emit_elements(struct rule_build *build, struct program_rule *out)
{
	const struct lang_rule *rule = build->rule;

	out->first_element = program_build_count(build->unit->out, PROGRAM_ELEMENTS);
	out->element_count = rule->element_count;
	for (uint32_t i = 0; i < rule->element_count; i++) {
		const struct lang_element *element = &rule->elements[i];
		struct program_element row = { .type = unit_type(build->unit, element->type) };

		row.name = program_build_text(build->unit->out, element->name);
		row.flags = (element->is_array ? PROGRAM_ELEMENT_ARRAY : 0) |
			    (element->is_negated ? PROGRAM_ELEMENT_NEGATED : 0);
		add_to_section(build, PROGRAM_ELEMENTS, &row);
	}
}

void rule_emit_slots(struct rule_build *build, struct program_rule *out)
{
	uint32_t offset = 0;

	out->first_slot = program_build_count(build->unit->out, PROGRAM_SLOTS);
	out->slot_count = (uint32_t)build->slot_count;
	out->context_slot = PROGRAM_NONE;
	for (size_t i = 0; i < build->slot_count; i++) {
		const struct slot *slot = &build->slots[i];
		struct program_slot row = {
			.name = rule_text(build, slot->name),
			.kind = slot->kind,
			.offset = offset,
			.bytes = slot->bytes,
		};

		offset += slot->bytes;
		add_to_section(build, PROGRAM_SLOTS, &row);
	}
	out->slot_bytes = offset;
	if (offset > PROGRAM_SLOT_BYTES_MAX) {
		diag_error(build->unit->diag, &build->rule->location, 0,
			   "a run of %s '%s' would have to remember %u bytes, more than %d", build->sort,
			   build->rule->name, offset, PROGRAM_SLOT_BYTES_MAX);
		rule_fail(build, -E2BIG);
	}
}

static bool expressed_by_key(const struct rule_build *build, const struct state *state,
			     const struct pending_transition *pending, const struct equality *equality)
{
	const struct class_row *class;

	if (state->class == PROGRAM_NONE)
		return false;
	class = &build->classes[state->class];
	for (size_t i = 0; i < class->key_count; i++) {
		if (class->keys[i].type != unit_type(build->unit, pending->type))
			continue;
		for (uint32_t j = 0; j < class->slot_count; j++) {
			if (class->slots[j] == equality->slot && class->keys[i].fields[j] == equality->field)
				return true;
		}
	}
	return false;
}

static uint32_t emit_fit(struct rule_build *build, const struct state *state, const struct pending_transition *pending)
{
	uint32_t fit = PROGRAM_NONE;

	for (uint32_t i = 0; i < pending->equality_count; i++) {
		const struct equality *equality = &pending->equalities[i];
		struct program_node field = {
			.op = PROGRAM_OP_FIELD, .depth = 1, .a = equality->field, .b = PROGRAM_NONE
		};

		if (equality->differs || expressed_by_key(build, state, pending, equality))
			continue;
		field.kind = build->slots[equality->slot].kind;
		uint32_t left = program_build_add(build->unit->out, PROGRAM_NODES, &field, 1);
		uint32_t right = node_slot(build, equality->slot);

		fit = node_and(build, fit, node_op(build, PROGRAM_OP_EQ, PROGRAM_BOOL, left, right));
	}
	return node_and(build, fit, pending->fit);
}

static void emit_transition(struct rule_build *build, const struct state *state,
			    const struct pending_transition *pending)
{
	struct program_transition row = {
		.type = unit_type(build->unit, pending->type),
		.target = pending->target,
		.fit = emit_fit(build, state, pending),
		.hold = pending->hold,
		.first_action = pending->first_action,
		.action_count = pending->action_count,
		.element = pending->element,
		.flags = pending->flags,
		.note = rule_text(build, pending->note),
	};

	add_to_section(build, PROGRAM_TRANSITIONS, &row);
}

/* The transitions of state for the type of its pending transition number first: what is forbidden, then the others in
 * their order.
 */
static void emit_type(struct rule_build *build, const struct state *state, size_t first)
{
	for (int forbidden = 1; forbidden >= 0; forbidden--) {
		for (size_t i = first; i < state->pending_count; i++) {
			const struct pending_transition *pending = &state->pending[i];

			if (pending->type == state->pending[first].type &&
			    !!(pending->flags & PROGRAM_FORBID) == forbidden)
				emit_transition(build, state, pending);
		}
	}
}

/* Grouped by type, in the order of their first appearance. */
static void emit_transitions(struct rule_build *build, const struct state *state)
{
	for (size_t i = 0; i < state->pending_count; i++) {
		bool seen = false;

		for (size_t j = 0; j < i; j++)
			seen |= state->pending[j].type == state->pending[i].type;
		if (!seen)
			emit_type(build, state, i);
	}
}

static const char *state_label(struct rule_build *build, const struct state *state)
{
	const char *label = state->position_count ? "after" : "start";

	for (uint32_t i = 0; i < state->position_count; i++) {
		const struct lang_element *element = state->positions[i]->spec;

		label = arena_format(build->arena, "%s%s %s", label, i ? " or" : "",
				     element->name ? element->name : element->type->name);
		if (!label)
			return NULL;
	}
	if (state->open)
		label = arena_format(build->arena, "collecting%s", label + 5);
	return state->deadline ? arena_format(build->arena, "%s, until the time is up", label) : label;
}

/* What is of a run's key beside the slots of its class: 1 + where the list is, 0: nothing. */
static uint32_t emit_more(struct rule_build *build, const struct state *state)
{
	struct program_build *image = build->unit->out;
	uint32_t place;

	if (!state->more_count)
		return 0;
	place = program_build_add(image, PROGRAM_INDICES, &state->more_count, 1);
	program_build_add(image, PROGRAM_INDICES, state->more, state->more_count);
	return 1 + place;
}

static void emit_states(struct rule_build *build, struct program_rule *out)
{
	out->first_state = program_build_count(build->unit->out, PROGRAM_STATES);
	out->state_count = (uint32_t)build->state_count;
	for (size_t i = 0; i < build->state_count; i++) {
		const struct state *state = &build->states[i];
		struct program_state row = {
			.label = rule_text(build, state_label(build, state)),
			.first_transition = program_build_count(build->unit->out, PROGRAM_TRANSITIONS),
			.transition_count = (uint32_t)state->pending_count,
			.class = state->class,
			.flags = state->deadline ? PROGRAM_STATE_DEADLINE : 0,
			.key = emit_more(build, state),
		};

		if (state->deadline) {
			out->flags |= PROGRAM_RULE_DEADLINE;
			for (uint32_t slot = 0; slot < build->slot_count; slot++) {
				if (build->slots[slot].purpose == SLOT_CONTEXT && build->slots[slot].number == 0)
					out->context_slot = slot;
			}
		}
		emit_transitions(build, state);
		add_to_section(build, PROGRAM_STATES, &row);
	}
}

static const char *class_label(struct rule_build *build, const struct class_row *class)
{
	const char *label = NULL;

	for (uint32_t i = 0; i < class->slot_count; i++) {
		const char *name = build->slots[class->slots[i]].name;

		label = label ? arena_format(build->arena, "%s, %s", label, name) : name;
		if (!label)
			return NULL;
	}
	return label ? label : "all runs";
}

static void emit_classes(struct rule_build *build, struct program_rule *out)
{
	struct program_build *image = build->unit->out;

	out->first_class = program_build_count(image, PROGRAM_CLASSES);
	out->class_count = (uint32_t)build->class_count;
	for (size_t i = 0; i < build->class_count; i++) {
		const struct class_row *class = &build->classes[i];
		struct program_class row = {
			.first_slot = program_build_count(image, PROGRAM_INDICES),
			.slot_count = class->slot_count,
			.first_key = program_build_count(image, PROGRAM_KEYS),
			.key_count = (uint32_t) class->key_count,
			.label = rule_text(build, class_label(build, class)),
		};

		program_build_add(image, PROGRAM_INDICES, class->slots, class->slot_count);
		for (size_t j = 0; j < class->key_count; j++) {
			struct program_key key = { .type = class->keys[j].type };

			key.first_field =
				program_build_add(image, PROGRAM_INDICES, class->keys[j].fields, class->slot_count);
			add_to_section(build, PROGRAM_KEYS, &key);
		}
		add_to_section(build, PROGRAM_CLASSES, &row);
	}
}

static void emit_returns(struct rule_build *build, struct program_rule *out)
{
	out->first_return = program_build_count(build->unit->out, PROGRAM_RETURNS);
	out->return_count = build->rule->value_count;
	for (uint32_t i = 0; i < build->rule->value_count; i++) {
		struct program_return row = {
			.name = rule_text(build, build->rule->values[i].name),
			.node = node_expr(build, build->rule->values[i].expr, PROGRAM_NONE),
			.there = conditions_there(build, build->rule->values[i].expr) + 1, /* NONE: 0 */
			.meaning = unit_meaning(build->unit, build->rule->values[i].expr->meaning),
		};

		add_to_section(build, PROGRAM_RETURNS, &row);
	}
}

static void emit_aggregate(struct rule_build *build, const struct lang_value *value, uint32_t op)
{
	struct program_aggregate row = { .name = rule_text(build, value->name), .op = op, .node = PROGRAM_NONE };

	if (value->expr) {
		row.node = node_expr(build, value->expr, PROGRAM_NONE);
		row.there = conditions_there(build, value->expr) + 1; /* NONE: 0 */
		row.meaning = unit_meaning(build->unit, value->expr->meaning);
	}
	add_to_section(build, PROGRAM_AGGREGATES, &row);
}

static void emit_aggregation(struct rule_build *build, struct program_rule *out)
{
	const struct lang_rule *rule = build->rule;
	uint32_t first = program_build_count(build->unit->out, PROGRAM_AGGREGATES);
	struct program_aggregation row = {
		.first_by = first,
		.by_count = rule->by_count,
		.first_aggregate = first + rule->by_count,
		.aggregate_count = rule->aggregate_count,
		.top = rule->top,
		.flags = rule->delta ? PROGRAM_AGGREGATION_DELTA : 0,
		.every_ns = rule->every_ns,
	};

	_Static_assert((int)LANG_QUANTILES_OF == PROGRAM_QUANTILES_OF, "the same order");
	if (!rule->aggregate_count)
		return;
	for (uint32_t i = 0; i < rule->by_count; i++)
		emit_aggregate(build, &rule->by[i], PROGRAM_BY);
	for (uint32_t i = 0; i < rule->aggregate_count; i++)
		emit_aggregate(build, &rule->aggregates[i].value, rule->aggregates[i].op);
	out->aggregation = 1 + add_to_section(build, PROGRAM_AGGREGATIONS, &row);
}

/* The thread or process of the named event, or of the completing one. */
static uint32_t identity(struct rule_build *build, const struct lang_arg *arg)
{
	const struct event_field *field = &event_header_fields[arg->kind == LANG_ARG_PID ? 2 : 3];
	uint32_t part = arg->kind == LANG_ARG_PID ? 1 : 2;

	if (arg->element == UINT32_MAX)
		return node_slot(build, slots_find(build, SLOT_CONTEXT, part, NULL));
	return node_slot(build, slots_find(build, SLOT_FIELD, arg->element, field));
}

uint32_t rule_naming(const struct lang_arg *arg)
{
	return arg->kind == LANG_ARG_TID ? REACT_BY_TID : arg->kind == LANG_ARG_PID ? REACT_BY_PID : REACT_BY_VALUE;
}

static void emit_statement(struct rule_build *build, const struct lang_statement *statement)
{
	struct program_build *image = build->unit->out;
	struct program_arg *args = arena_zero(build->arena, statement->arg_count, sizeof *args);
	struct program_statement row = {
		.type = statement->is_emit ? unit_type(build->unit, statement->type) : PROGRAM_NONE,
		.function = program_build_text(image, statement->function),
		.arg_count = statement->arg_count,
	};

	if (!args) {
		rule_fail(build, -ENOMEM);
		return;
	}
	for (uint32_t i = 0; i < statement->arg_count; i++) {
		const struct lang_arg *arg = &statement->args[i];

		args[i].node =
			arg->kind == LANG_ARG_VALUE ? node_expr(build, arg->expr, PROGRAM_NONE) : identity(build, arg);
		args[i].field =
			statement->is_emit ? unit_field(build->unit, statement->type, arg->field) : rule_naming(arg);
		args[i].meaning = unit_meaning(build->unit, arg->expr ? arg->expr->meaning : NULL);
	}
	row.first_arg = program_build_add(image, PROGRAM_ARGS, args, statement->arg_count);
	add_to_section(build, PROGRAM_STATEMENTS, &row);
}

/* Whether the rule itself names the type of its stream. */
static bool is_listed(const struct lang_rule *rule, const struct event_type *type)
{
	for (uint32_t i = 0; i < rule->over_count; i++)
		if (rule->over[i] == type)
			return true;
	for (uint32_t i = 0; rule->over_all && i < rule->element_count; i++)
		if (rule->elements[i].type == type)
			return true;
	return false;
}

static void add_besides(struct rule_build *build, const struct event_type *type, struct program_rule *out)
{
	uint32_t index;

	if (!type || is_listed(build->rule, type))
		return;
	index = unit_type(build->unit, type);
	program_build_add(build->unit->out, PROGRAM_INDICES, &index, 1);
	out->over_count++;
}

static void emit_stream(struct rule_build *build, struct program_rule *out)
{
	const struct lang_rule *rule = build->rule;

	out->first_over = program_build_count(build->unit->out, PROGRAM_INDICES);
	for (uint32_t i = 0; i < rule->over_count; i++) {
		uint32_t type = unit_type(build->unit, rule->over[i]);

		program_build_add(build->unit->out, PROGRAM_INDICES, &type, 1);
		out->over_count++;
	}
	for (uint32_t i = 0; rule->over_all && i < rule->element_count; i++) {
		uint32_t type = unit_type(build->unit, rule->elements[i].type);
		bool seen = false;

		for (uint32_t j = 0; j < i; j++)
			seen |= rule->elements[j].type == rule->elements[i].type;
		if (seen)
			continue;
		program_build_add(build->unit->out, PROGRAM_INDICES, &type, 1);
		out->over_count++;
	}
	add_besides(build, build->ends, out);
	add_besides(build, build->renames, out);
}

char *rule_printable(struct rule_build *build, const char *from)
{
	char *text = arena_text(build->arena, from, strlen(from));

	for (char *at = text; at && *at;) {
		size_t length = text_character(at);
		bool is_c1 = at[0] == '\xc2' && (unsigned char)at[1] < 0xa0;

		if (length == 0 || is_c1 || (unsigned char)*at < ' ' || *at == 0x7f) {
			length = length ? length : 1;
			memset(at, '?', length);
		}
		at += length;
	}
	return text;
}

/* "file:line" for people: a file may be called anything, an image takes printable text only. */
const char *rule_location(struct rule_build *build)
{
	const struct diag_location *location = &build->rule->location;
	const char *file = location->source && location->source->file ? location->source->file : "";
	const char *text = arena_format(build->arena, "%s:%u", file, location->line);

	return text ? rule_printable(build, text) : NULL;
}

void rule_emit(struct rule_build *build)
{
	const struct lang_rule *rule = build->rule;
	struct program_rule out = {
		.name = rule_text(build, rule->name),
		.semantics = rule->semantics,
		.mode = rule->mode,
		.loss = rule->loss,
		.flags = (rule->drop ? PROGRAM_RULE_DROP : 0) | (rule->return_sequence ? PROGRAM_RULE_SEQUENCE : 0) |
			 (rule->return_nothing ? PROGRAM_RULE_SILENT : 0) |
			 (rule->over_all ? PROGRAM_RULE_OVER_ALL : 0) | (build->drops_all ? PROGRAM_RULE_DROP_ALL : 0) |
			 (rule->full == LANG_REPLACE ? PROGRAM_RULE_REPLACE : 0) |
			 (rule->latest ? PROGRAM_RULE_LATEST : 0),
		.pool = rule->pool,
		.per_key = (uint32_t)rule->per_key,
		.per_process = (uint32_t)rule->per_process,
		.opener_slot = rule->per_process ? slots_find(build, SLOT_OPENER, 0, NULL) : 0,
		.within_ns = rule->has_within ? rule->within_ns : 0,
	};

	out.place = rule_text(build, rule_location(build));
	out.source = rule_text(build, rule->name);
	emit_elements(build, &out);
	rule_emit_slots(build, &out);
	emit_states(build, &out);
	emit_classes(build, &out);
	emit_stream(build, &out);
	emit_returns(build, &out);
	emit_aggregation(build, &out);
	out.first_statement = program_build_count(build->unit->out, PROGRAM_STATEMENTS);
	out.statement_count = rule->statement_count;
	for (uint32_t i = 0; i < rule->statement_count; i++)
		emit_statement(build, &rule->statements[i]);
	rule_emit_properties(build, &rule->properties, &out);
	out.except = except_node(build) + 1; /* NONE: 0 */
	add_to_section(build, PROGRAM_RULES, &out);
}
