// SPDX-License-Identifier: BSD-2-Clause
/*
 * Finds the system calls that a program has nothing to do with. Conditions are calculated for each number and kind of
 * results with everything else unknown: a call is unwanted only where that is enough for every entry to say no.
 */

#include "ebpf/source/calls.h"

#include <errno.h>
#include <string.h>

/* What is known of a path's value. */
struct guess {
	bool known;
	uint64_t value;
};

bool source_is_call(const struct source_node *path)
{
	if (path->op != SOURCE_ACCESS || !path->name)
		return false;
	return path->hop_count == 0 ? strcmp(path->name, "id") == 0
				    : path->hop_count == 1 && strcmp(path->hops[0].member, "orig_ax") == 0;
}

static const struct source_node *find_call_number(const struct source_node *path)
{
	if (!path || source_is_call(path))
		return path;
	const struct source_node *found = find_call_number(path->left);

	return found ? found : find_call_number(path->right);
}

static struct guess guess(const struct source_node *path, const struct source_node *number, uint64_t call)
{
	if (path->op == SOURCE_CONST)
		return (struct guess){ true, (uint64_t)path->value };
	if (path_same(path, number))
		return (struct guess){ true, call };
	if (path->op < SOURCE_AND || path->op > SOURCE_GE)
		return (struct guess){ 0 };
	struct guess left = guess(path->left, number, call), right = guess(path->right, number, call);

	if (left.known && right.known)
		return (struct guess){ true, path_calculate(path->op, left.value, right.value) };
	bool zero = (left.known && !left.value) || (right.known && !right.value);

	return (struct guess){ zero && (path->op == SOURCE_AND || path->op == SOURCE_MUL), 0 };
}

static bool is_result(const struct source_node *path)
{
	return path->op == SOURCE_ACCESS && path->name && path->hop_count == 0 && strcmp(path->name, "ret") == 0;
}

/* From the least to the greatest result. A number is of the first kind that has it. */
static const struct kind {
	enum source_result bit;
	int64_t least, greatest;
} kinds[] = {
	{ SOURCE_RESULT_NO_FILE, -EBADF, -EBADF },
	{ SOURCE_RESULT_ERROR, INT64_MIN, -1 },
	{ SOURCE_RESULT_ZERO, 0, 0 },
	{ SOURCE_RESULT_MORE, 1, INT64_MAX },
};

static const struct kind *kind_of(int64_t result)
{
	const struct kind *kind = kinds;

	while (result < kind->least || result > kind->greatest)
		kind++;
	return kind;
}

/* Whether the comparison with a constant may hold for some number of the kind. */
static bool may_hold(const struct source_condition *condition, const struct kind *kind)
{
	if (condition->compare == SOURCE_EQ)
		return kind_of(condition->value) == kind;
	return path_calculate(condition->compare, (uint64_t)kind->least, (uint64_t)condition->value) ||
	       path_calculate(condition->compare, (uint64_t)kind->greatest, (uint64_t)condition->value);
}

/* What reads memory of the user decides nothing: where it cannot, the event is unread. */
static bool may_be(const struct source_entry *entry, const struct source_node *number, uint64_t call,
		   const struct kind *kind)
{
	for (uint32_t i = 0; i < entry->when.count; i++) {
		const struct source_condition *condition = &entry->when.items[i];

		if (path_reads_user(condition->path))
			continue;
		if (is_result(condition->path) && !may_hold(condition, kind))
			return false;
		struct guess value = guess(condition->path, number, call);

		if (value.known && !path_calculate(condition->compare, value.value, (uint64_t)condition->value))
			return false;
	}
	return true;
}

/* The kinds of results with which calls of the number may be an entry of the unit. */
static uint8_t wanted_results(const struct source_unit *unit, const struct source_node *number, uint64_t call)
{
	uint8_t wanted = 0;

	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		for (size_t j = 0; j < unit->entry_count && !(wanted & kinds[i].bit); j++)
			if (may_be(&unit->entries[j], number, call, &kinds[i]))
				wanted |= kinds[i].bit;
	return wanted;
}

/* The path of the result in one of the unit's conditions, or NULL. */
static const struct source_node *find_result(const struct source_unit *unit)
{
	for (size_t i = 0; i < unit->entry_count; i++)
		for (uint32_t j = 0; j < unit->entries[i].when.count; j++)
			if (is_result(unit->entries[i].when.items[j].path))
				return unit->entries[i].when.items[j].path;
	return NULL;
}

struct source_calls source_calls_find(const struct source_unit *unit, uint8_t wanted[SOURCE_CALLS])
{
	const struct source_conditions *first = &unit->entries[0].when;
	const struct source_node *number = NULL;
	size_t unwanted = 0, partly = 0;

	if (unit->classic || strncmp(unit->tracepoint, "raw_syscalls:", strlen("raw_syscalls:")) != 0)
		return (struct source_calls){ 0 };
	for (uint32_t i = 0; i < first->count && !number; i++)
		number = find_call_number(first->items[i].path);
	for (uint64_t call = 0; number && call < SOURCE_CALLS; call++) {
		wanted[call] = wanted_results(unit, number, call);
		unwanted += wanted[call] != SOURCE_RESULT_ANY;
		partly += wanted[call] && wanted[call] != SOURCE_RESULT_ANY;
	}
	return (struct source_calls){ unwanted ? number : NULL, unwanted && partly ? find_result(unit) : NULL };
}

/* Whether path is not 0 only where the call's number is one of some. */
static bool demands_call(const struct source_node *path)
{
	switch (path->op) {
	case SOURCE_EQ:
		return source_is_call(path->left) && path->right->op == SOURCE_CONST && path->right->value >= 0 &&
		       path->right->value < SOURCE_CALLS;
	case SOURCE_AND:
	case SOURCE_MUL:
		return demands_call(path->left) || demands_call(path->right);
	case SOURCE_OR:
	case SOURCE_ADD:
		return demands_call(path->left) && demands_call(path->right);
	default:
		return false;
	}
}

static bool is_of_some_calls(const struct source_entry *entry)
{
	bool from = false, to = false;

	for (uint32_t i = 0; i < entry->when.count; i++) {
		const struct source_condition *condition = &entry->when.items[i];
		bool is_one = condition->compare == SOURCE_EQ, is_small = condition->value < SOURCE_CALLS;

		if (!source_is_call(condition->path)) {
			if (((is_one && condition->value != 0) ||
			     (condition->compare == SOURCE_NE && condition->value == 0)) &&
			    demands_call(condition->path))
				return true;
			continue;
		}
		from |= condition->value >= 0 &&
			(is_one || condition->compare == SOURCE_GE || condition->compare == SOURCE_GT);
		to |= is_small && (is_one || condition->compare == SOURCE_LE || condition->compare == SOURCE_LT);
	}
	return from && to;
}

bool source_calls_are_all(const struct source_unit *unit)
{
	for (size_t i = 0; i < unit->entry_count; i++)
		if (!is_of_some_calls(&unit->entries[i]))
			return false;
	return unit->entry_count > 0;
}

/* r8 = the bit of the result's kind. */
static void emit_kind(struct ebpf_asm *as, const struct source_style *style, const struct source_node *result)
{
	uint32_t known = ebpf_label(as);

	path_emit_value(as, style, result);
	ebpf_mov_imm(as, R8, SOURCE_RESULT_MORE);
	ebpf_jump_if_imm(as, BPF_JSGT, R0, 0, known);
	ebpf_mov_imm(as, R8, SOURCE_RESULT_ZERO);
	ebpf_jump_if_imm(as, BPF_JEQ, R0, 0, known);
	ebpf_mov_imm(as, R8, SOURCE_RESULT_NO_FILE);
	ebpf_jump_if_imm(as, BPF_JEQ, R0, -EBADF, known);
	ebpf_mov_imm(as, R8, SOURCE_RESULT_ERROR);
	ebpf_bind(as, known);
}

void source_calls_emit(struct ebpf_asm *as, const struct source_style *style, const struct source_calls *calls,
		       const struct source_memory *memory, uint32_t label)
{
	uint32_t beyond = ebpf_label(as);

	ebpf_note(as, "a call that some type is about?");
	if (calls->result)
		emit_kind(as, style, calls->result);
	path_emit_value(as, style, calls->number);
	ebpf_jump_if_imm(as, BPF_JGE, R0, SOURCE_CALLS, beyond);
	ebpf_load_value(as, R1, memory->map, memory->stride * memory->cpu_count);
	ebpf_alu(as, BPF_ADD, R1, R0);
	ebpf_load(as, BPF_B, R1, R1, 0);
	if (calls->result)
		ebpf_alu(as, BPF_AND, R1, R8);
	ebpf_jump_if_imm(as, BPF_JEQ, R1, 0, label);
	ebpf_bind(as, beyond);
}
