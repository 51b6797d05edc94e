// SPDX-License-Identifier: BSD-2-Clause
/* Allocates the slots of a run: one for each value that is read after its event has gone by. */

#include "automaton/rule/rule-priv.h"

#include "event/about.h"
#include "meaning/meaning.h"

#include <errno.h>

uint32_t slots_find(const struct rule_build *build, enum slot_purpose purpose, uint32_t number, const void *what)
{
	for (size_t i = 0; i < build->slot_count; i++) {
		const struct slot *slot = &build->slots[i];

		if (slot->purpose == purpose && slot->number == number && slot->what == what)
			return (uint32_t)i;
	}
	return PROGRAM_NONE;
}

uint32_t slots_get(struct rule_build *build, const struct slot *wanted)
{
	uint32_t slot = slots_find(build, wanted->purpose, wanted->number, wanted->what);

	if (slot != PROGRAM_NONE)
		return slot;
	if (alloc_grow(&build->slots, &build->slot_capacity, build->slot_count, sizeof *build->slots)) {
		rule_fail(build, -ENOMEM);
		return 0;
	}
	build->slots[build->slot_count] = *wanted;
	return (uint32_t)build->slot_count++;
}

uint32_t slots_counter(struct rule_build *build, const struct pattern_node *node)
{
	const char *name = node->position ? node->position->spec->name : NULL;

	return slots_get(build, &(struct slot){
					.purpose = SLOT_COUNT,
					.number = node->counter,
					.kind = PROGRAM_I64,
					.bytes = 8,
					.name = name ? arena_format(build->arena, "%s.len", name)
						     : arena_format(build->arena, "count %u", node->counter),
				});
}

uint32_t slots_join(struct rule_build *build, uint32_t join)
{
	const struct event_field *field = build->rule->joins[join].fields[0];
	enum program_kind kind = unit_kind(field->value);

	return slots_get(build, &(struct slot){
					.purpose = SLOT_JOIN,
					.number = join,
					.kind = kind,
					.bytes = kind == PROGRAM_STRING ? (field->bytes + 7) / 8 * 8 : 8,
					.name = build->rule->joins[join].name,
				});
}

static void want(struct rule_build *build, enum slot_purpose purpose, const struct lang_expr *expr)
{
	static const char *const functions[] = {
		[SLOT_FIELD] = "",   [SLOT_MIN] = ".min",     [SLOT_MAX] = ".max",
		[SLOT_SUM] = ".sum", [SLOT_FIRST] = ".first", [SLOT_LAST] = ".last",
	};
	const struct lang_element *element = &build->rule->elements[expr->element];
	enum program_kind kind = unit_kind(expr->field->value);

	slots_get(build, &(struct slot){
				 .purpose = purpose,
				 .number = expr->element,
				 .what = expr->field,
				 .kind = kind,
				 .bytes = kind == PROGRAM_STRING ? (expr->field->bytes + 7) / 8 * 8 : 8,
				 .name = arena_format(build->arena, "%s%s.%s", element->name ? element->name : "",
						      functions[purpose], expr->field->name),
			 });
}

enum { CONTEXT_HEADER = EVENT_HEADER_FIELDS - 1 }; /* cpu, pid, tid, comm; further parts are as event_abouts */

uint32_t slots_context_part(const struct event_field *field)
{
	if (event_field_is_header(field))
		return (uint32_t)(field - event_header_fields) - 1;
	return CONTEXT_HEADER + (uint32_t)(event_about_find(field->name) - event_abouts);
}

const struct event_field *slots_context_field(const struct event_type *type, const struct slot *slot)
{
	if (slot->number < CONTEXT_HEADER)
		return &event_header_fields[slot->number + 1];
	return event_field_find(type, event_abouts[slot->number - CONTEXT_HEADER].name);
}

static void want_context(struct rule_build *build, const struct event_field *field)
{
	enum program_kind kind = unit_kind(field->value);

	build->wants_context = true;
	if (event_field_is_header(field))
		return;
	slots_get(build, &(struct slot){
				 .purpose = SLOT_CONTEXT,
				 .number = slots_context_part(field),
				 .kind = kind,
				 .bytes = kind == PROGRAM_STRING ? (field->bytes + 7) / 8 * 8 : 8,
				 .name = arena_format(build->arena, "context %s", field->name),
			 });
}

/* The slots that expr reads where the fields of element current are at hand. */
static void collect_slots(struct rule_build *build, const struct lang_expr *expr, uint32_t current)
{
	static const enum slot_purpose purposes[] = {
		[LANG_MIN] = SLOT_MIN, [LANG_MAX] = SLOT_MAX,     [LANG_AVG] = SLOT_SUM,
		[LANG_SUM] = SLOT_SUM, [LANG_FIRST] = SLOT_FIRST, [LANG_LAST] = SLOT_LAST,
	};

	if (!expr)
		return;
	if (expr->op == LANG_FIELD && expr->element != current)
		want(build, SLOT_FIELD, expr);
	else if (expr->op >= LANG_MIN && expr->op <= LANG_LAST)
		want(build, purposes[expr->op], expr);
	else if (expr->op == LANG_CONTEXT)
		want_context(build, expr->field);
	collect_slots(build, expr->left, current);
	collect_slots(build, expr->right, current);
}

/* Marks the elements that a condition may find unbound; they get a bit each. */
static void flag(struct rule_build *build, const struct lang_expr *expr)
{
	if (!expr)
		return;
	flag(build, expr->left);
	flag(build, expr->right);
	if (expr->op < LANG_FIELD || expr->op > LANG_LAST || build->flags[expr->element] != PROGRAM_NONE)
		return;
	for (uint32_t i = 0; i < build->pattern.position_count; i++) {
		const struct position *position = &build->pattern.positions[i];

		if (position->reached && set_has(position->may, expr->element) &&
		    !set_has(position->must, expr->element)) {
			build->flags[expr->element] = build->flag_count++;
			return;
		}
	}
}

/* Whether the element stands below node, and below an alternative in it. */
static bool stands_below(const struct pattern_node *node, uint32_t element, bool in_alternative)
{
	in_alternative |= node->source->kind == LANG_ALTERNATIVE && node->child_count > 1;
	if (node->position && node->position->element == element)
		return in_alternative;
	for (uint32_t i = 0; i < node->child_count; i++) {
		if (stands_below(node->children[i], element, in_alternative))
			return true;
	}
	return false;
}

bool slots_may_lack(const struct rule_build *build, uint32_t element)
{
	return stands_below(build->pattern.root, element, false);
}

/* Marks the elements that a match may not have although a value of it names them; they get a bit each. */
static void flag_returned(struct rule_build *build, const struct lang_expr *expr)
{
	if (!expr)
		return;
	flag_returned(build, expr->left);
	flag_returned(build, expr->right);
	if (expr->op >= LANG_FIELD && expr->op <= LANG_LAST && build->flags[expr->element] == PROGRAM_NONE &&
	    slots_may_lack(build, expr->element))
		build->flags[expr->element] = build->flag_count++;
}

static bool joins_process(const struct lang_rule *rule)
{
	for (uint32_t i = 0; i < rule->join_count; i++)
		if (rule->joins[i].fields[0] == &event_header_fields[2] ||
		    rule->joins[i].fields[0] == &event_header_fields[3])
			return true;
	return false;
}

/* Who the events are that expr has fields of. */
static void collect_owners(struct rule_build *build, const struct lang_expr *expr)
{
	static const uint8_t fields[] = { 0, 2, 3, 4 }; /* ts, pid, tid, comm */

	if (!expr)
		return;
	for (size_t i = 0; i < sizeof fields && expr->op == LANG_FIELD; i++)
		want(build, SLOT_FIELD,
		     &(struct lang_expr){
			     .op = LANG_FIELD, .element = expr->element, .field = &event_header_fields[fields[i]] });
	collect_owners(build, expr->left);
	collect_owners(build, expr->right);
}

/* An address is one of its process alone: where events may be of several, it is kept whose each was. */
static void collect_owned(struct rule_build *build, const struct lang_expr *expr)
{
	collect_slots(build, expr, PROGRAM_NONE);
	if (expr && expr->meaning && expr->meaning->form == MEANING_ADDRESS && build->rule->element_count > 1 &&
	    !joins_process(build->rule))
		collect_owners(build, expr);
}

static void collect_value(struct rule_build *build, const struct lang_value *value)
{
	collect_slots(build, value->expr, PROGRAM_NONE);
	flag_returned(build, value->expr);
}

static void give_context_slots(struct rule_build *build)
{
	static const char *const names[] = { "context cpu", "context pid", "context tid", "context comm" };

	for (uint32_t i = 0; i < 4; i++) {
		slots_get(build, &(struct slot){
					 .purpose = SLOT_CONTEXT,
					 .number = i,
					 .kind = i < 3 ? PROGRAM_I64 : PROGRAM_STRING,
					 .bytes = i < 3 ? 8 : EVENT_COMM_BYTES,
					 .name = names[i],
				 });
	}
}

/* The thread or process of a named event is a header field of it like any other. */
static void collect_arg(struct rule_build *build, const struct lang_arg *arg, bool is_emit)
{
	if (arg->kind == LANG_ARG_VALUE && is_emit) {
		collect_slots(build, arg->expr, PROGRAM_NONE);
	} else if (arg->kind == LANG_ARG_VALUE) {
		collect_owned(build, arg->expr);
	} else if (arg->element == UINT32_MAX) {
		build->wants_context = true;
	} else {
		struct lang_expr expr = {
			.op = LANG_FIELD,
			.element = arg->element,
			.field = &event_header_fields[arg->kind == LANG_ARG_PID ? 2 : 3],
		};
		collect_slots(build, &expr, PROGRAM_NONE);
	}
}

static void collect_exception(struct rule_build *build, const struct lang_exception *exception)
{
	for (uint32_t i = 0; i < exception->count; i++) {
		collect_slots(build, exception->conditions[i], PROGRAM_NONE);
		flag_returned(build, exception->conditions[i]);
	}
}

static bool ends_in_negation(const struct pattern_node *node)
{
	if (node->source->kind == LANG_NEGATION)
		return true;
	if (node->source->kind == LANG_SEQUENCE)
		return node->child_count && ends_in_negation(node->children[node->child_count - 1]);
	for (uint32_t i = 0; i < node->child_count; i++) {
		if (ends_in_negation(node->children[i]))
			return true;
	}
	return false;
}

void slots_collect(struct rule_build *build)
{
	const struct lang_rule *rule = build->rule;

	for (uint32_t i = 0; i < rule->join_count; i++)
		slots_join(build, i);
	for (uint32_t i = 0; i < rule->condition_count; i++) {
		collect_slots(build, rule->conditions[i].expr, rule->conditions[i].element);
		flag(build, rule->conditions[i].expr);
	}
	for (uint32_t i = 0; i < rule->value_count; i++) {
		collect_owned(build, rule->values[i].expr);
		flag_returned(build, rule->values[i].expr);
	}
	for (uint32_t i = 0; i < rule->properties.exception_count; i++)
		collect_exception(build, &rule->properties.exceptions[i]);
	for (uint32_t i = 0; i < rule->statement_count; i++) {
		for (uint32_t j = 0; j < rule->statements[i].arg_count; j++)
			collect_arg(build, &rule->statements[i].args[j], rule->statements[i].is_emit);
	}
	for (uint32_t i = 0; i < rule->by_count; i++)
		collect_value(build, &rule->by[i]);
	for (uint32_t i = 0; i < rule->aggregate_count; i++)
		collect_value(build, &rule->aggregates[i].value);
	if (build->wants_context || ends_in_negation(build->pattern.root))
		give_context_slots(build);
	if (rule->per_process)
		slots_get(build,
			  &(struct slot){ .purpose = SLOT_OPENER, .kind = PROGRAM_U64, .bytes = 8, .name = "opener" });
	if (build->flag_count > 64) {
		diag_error(build->unit->diag, &rule->location, 0,
			   "rule '%s' names more than 64 events that may be missing", rule->name);
		rule_fail(build, -EINVAL);
	} else if (build->flag_count) {
		slots_get(build,
			  &(struct slot){ .purpose = SLOT_BOUND, .kind = PROGRAM_U64, .bytes = 8, .name = "bound" });
	}
}
