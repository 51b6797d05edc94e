// SPDX-License-Identifier: BSD-2-Clause
/*
 * Finds the system calls that a program has nothing to do with. Conditions are calculated for each number with
 * everything else unknown: a call is unwanted only where that is enough for every entry to say no.
 */

#include "ebpf/source/calls.h"

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

/* What reads memory of the user decides nothing: where it cannot, the event is unread. */
static bool may_be(const struct source_entry *entry, const struct source_node *number, uint64_t call)
{
	for (uint32_t i = 0; i < entry->when.count; i++) {
		const struct source_condition *condition = &entry->when.items[i];

		if (path_reads_user(condition->path))
			continue;
		struct guess value = guess(condition->path, number, call);

		if (value.known && !path_calculate(condition->compare, value.value, (uint64_t)condition->value))
			return false;
	}
	return true;
}

const struct source_node *source_calls_find(const struct source_unit *unit, uint8_t wanted[SOURCE_CALLS])
{
	const struct source_conditions *first = &unit->entries[0].when;
	const struct source_node *number = NULL;
	size_t unwanted = 0;

	if (unit->classic || strncmp(unit->tracepoint, "raw_syscalls:", strlen("raw_syscalls:")) != 0)
		return NULL;
	for (uint32_t i = 0; i < first->count && !number; i++)
		number = find_call_number(first->items[i].path);
	for (uint64_t call = 0; number && call < SOURCE_CALLS; call++) {
		wanted[call] = false;
		for (size_t i = 0; i < unit->entry_count && !wanted[call]; i++)
			wanted[call] = may_be(&unit->entries[i], number, call);
		unwanted += !wanted[call];
	}
	return unwanted ? number : NULL;
}

void source_calls_emit(struct ebpf_asm *as, const struct source_style *style, const struct source_node *number,
		       const struct source_memory *memory, uint32_t label)
{
	uint32_t beyond = ebpf_label(as);

	ebpf_note(as, "a call that some type is about?");
	path_emit_value(as, style, number);
	ebpf_jump_if_imm(as, BPF_JGE, R0, SOURCE_CALLS, beyond);
	ebpf_load_value(as, R1, memory->map, memory->stride * memory->cpu_count);
	ebpf_alu(as, BPF_ADD, R1, R0);
	ebpf_load(as, BPF_B, R1, R1, 0);
	ebpf_jump_if_imm(as, BPF_JEQ, R1, 0, label);
	ebpf_bind(as, beyond);
}
