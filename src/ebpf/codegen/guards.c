// SPDX-License-Identifier: BSD-2-Clause
/*
 * Decides which rules are asked at all: of those that can only be opened by the event, and only if one of its fields
 * has a certain value, a binary tree over these values finds the few that it concerns. So a hundred rules about
 * different system calls cost little more than one.
 */

#include "ebpf/codegen/part.h"

#include "base/alloc.h"
#include "program/query.h"

#include <errno.h>
#include <stdlib.h>

enum { WORTH_A_TREE = 4 };

/* The rule is only concerned if the field has this value. */
struct guard {
	uint32_t field;
	int32_t value;
};

/* Whether node demands that a number of the event is a constant; the first such demand of a conjunction counts. */
static bool guard_of(const struct program *program, uint32_t index, struct guard *guard)
{
	if (index == PROGRAM_NONE)
		return false;
	const struct program_node *node = &program->nodes[index];

	if (node->op == PROGRAM_OP_LAND)
		return guard_of(program, node->a, guard) || guard_of(program, node->b, guard);
	if (node->op != PROGRAM_OP_EQ)
		return false;
	const struct program_node *a = &program->nodes[node->a], *b = &program->nodes[node->b];

	if (a->op == PROGRAM_OP_CONST && b->op == PROGRAM_OP_FIELD) {
		const struct program_node *swap = a;

		a = b;
		b = swap;
	}
	bool integers = a->kind == b->kind && (a->kind == PROGRAM_I64 || a->kind == PROGRAM_U64);

	if (a->op != PROGRAM_OP_FIELD || b->op != PROGRAM_OP_CONST || b->imm > INT32_MAX ||
	    (!integers && (a->kind == PROGRAM_F64 || b->kind == PROGRAM_F64 || a->kind == PROGRAM_STRING)))
		return false;
	*guard = (struct guard){ a->a, (int32_t)b->imm };
	return true;
}

/* The one guard of all openings of the rule on the type, if there is nothing else for it to do. */
static bool guard_of_rule(const struct emit *emit, struct guard *guard)
{
	const struct program_state *start = &program_states(emit->program, emit->rule)[0];
	struct guard other;
	uint32_t count;
	const struct program_transition *transitions = program_transitions_on(emit->program, start, emit->type, &count);

	if (emit_walk_count(emit) || count == 0 || !guard_of(emit->program, transitions[0].fit, guard))
		return false;
	for (uint32_t i = 1; i < count; i++)
		if (!guard_of(emit->program, transitions[i].fit, &other) || other.field != guard->field ||
		    other.value != guard->value)
			return false;
	return true;
}

static int by_value(const void *left, const void *right)
{
	const struct emit_guarded *a = left, *b = right;

	if (a->field != b->field)
		return a->field < b->field ? -1 : 1;
	if (a->value != b->value)
		return a->value < b->value ? -1 : 1;
	return a->rule < b->rule ? -1 : a->rule > b->rule;
}

/* Keeps the rules about the field that most are about. */
static void keep_commonest(struct emit_guards *guards)
{
	uint32_t best = 0, best_count = 0;

	for (uint32_t first = 0, end; first < guards->count; first = end) {
		for (end = first; end < guards->count && guards->items[end].field == guards->items[first].field;)
			end++;
		if (end - first > best_count) {
			best = first;
			best_count = end - first;
		}
	}
	if (best_count < WORTH_A_TREE)
		best_count = 0;
	for (uint32_t i = 0; i < best_count; i++)
		guards->items[i] = guards->items[best + i];
	guards->count = best_count;
}

int emit_guards_find(struct ebpf_matcher *matcher, uint32_t type, const struct matcher_part *part,
		     struct emit_guards *guards)
{
	struct guard guard;

	guards->count = 0;
	guards->items = alloc_zero(part->end - part->first, sizeof *guards->items);
	if (!guards->items)
		return -ENOMEM;
	for (uint32_t rule = part->first; rule < part->end; rule++) {
		struct emit emit = matcher_emit_of(matcher, NULL, rule, type);

		if (emit.place->raises || emit.place->raised) /* these keep their place among the rules */
			continue;
		if (emit_rule_wants(&emit) && guard_of_rule(&emit, &guard))
			guards->items[guards->count++] = (struct emit_guarded){ guard.field, guard.value, rule };
	}
	qsort(guards->items, guards->count, sizeof *guards->items, by_value);
	keep_commonest(guards);
	return 0;
}

void emit_guards_fini(struct emit_guards *guards)
{
	alloc_free(guards->items);
	guards->items = NULL;
}

bool emit_guards_has(const struct emit_guards *guards, uint32_t rule)
{
	for (uint32_t i = 0; i < guards->count; i++)
		if (guards->items[i].rule == rule)
			return true;
	return false;
}

/* The tree over items [first, end); r1 holds the field. What concerns nobody leaves for out. */
static void emit_tree(struct emit_parts *parts, const struct emit_guards *guards, uint32_t first, uint32_t end,
		      uint32_t out)
{
	const struct emit_guarded *items = guards->items;
	struct ebpf_asm *as = parts->as;
	uint32_t middle = first + (end - first) / 2, upper;

	while (middle > first && items[middle - 1].value == items[middle].value)
		middle--;
	if (middle == first)
		while (middle < end && items[middle].value == items[first].value)
			middle++;
	if (middle == end) {
		ebpf_jump_if_imm(as, BPF_JNE, R1, items[first].value, out);
		for (uint32_t i = first; i < end; i++)
			emit_one_rule(parts, items[i].rule);
		ebpf_jump(as, out);
		return;
	}
	upper = ebpf_label(as);
	ebpf_jump_if_imm(as, BPF_JSGE, R1, items[middle].value, upper);
	emit_tree(parts, guards, first, middle, out);
	ebpf_bind(as, upper);
	emit_tree(parts, guards, middle, end, out);
}

void emit_guards(struct emit_parts *parts, const struct emit_guards *guards)
{
	const struct program_field *field;
	uint32_t out = ebpf_label(parts->as);

	if (guards->count) {
		field = &parts->matcher->program->fields[guards->items[0].field];
		ebpf_note(parts->as, "which of %u rules does %s concern?", guards->count,
			  program_text(parts->matcher->program, field->name));
		ebpf_load(parts->as, ebpf_width(field->bytes), R1, R6, (int32_t)field->offset);
		emit_tree(parts, guards, 0, guards->count, out);
	}
	ebpf_bind(parts->as, out);
}
