// SPDX-License-Identifier: BSD-2-Clause
/*
 * Fetches memory of the user before a program reads it. A page is only asked for where reading without waiting has
 * failed: first that of the address, then, if a string still does not end, the next one. What is read goes nowhere.
 */

#include "ebpf/source/prefetch.h"

#include <unistd.h>

enum { PREFETCHED_WORD = 8 };

struct prefetch {
	struct ebpf_asm *as;
	const struct source_style *style;
	int memory;
	uint32_t scratch;
	uint32_t bytes; /* of the field at work */
};

bool source_prefetch_pays(const struct source_unit *unit)
{
	if (!unit->spot_count || unit->is_own)
		return false;
	for (size_t i = 0; i < unit->entry_count; i++)
		if (source_entry_reads_user(&unit->entries[i]))
			return true;
	return false;
}

uint32_t source_prefetch_bytes(const struct source_unit *unit)
{
	uint32_t bytes = PREFETCHED_WORD;

	for (size_t i = 0; i < unit->entry_count; i++)
		for (uint32_t j = 0; j < unit->entries[i].want->type->field_count; j++)
			if (unit->entries[i].want->type->fields[j].bytes > bytes)
				bytes = unit->entries[i].want->type->fields[j].bytes;
	return bytes;
}

/* Calls helper to read so many bytes at the address in r6. */
static void emit_read(const struct prefetch *prefetch, int32_t helper, uint32_t bytes)
{
	struct ebpf_asm *as = prefetch->as;

	ebpf_load_value(as, R1, prefetch->memory, prefetch->scratch);
	ebpf_mov_imm(as, R2, bytes);
	ebpf_mov(as, R3, R6);
	ebpf_call(as, helper);
}

/* Sees to it that what node reads at the address in r6 is there. */
static void emit_touch(const struct prefetch *prefetch, const struct source_node *node)
{
	bool is_string = node->op == SOURCE_USTR;
	int32_t page = (int32_t)sysconf(_SC_PAGESIZE);
	struct ebpf_asm *as = prefetch->as;
	uint32_t there = ebpf_label(as);

	for (int i = 0; i < 2; i++) {
		emit_read(prefetch, is_string ? BPF_FUNC_probe_read_user_str : BPF_FUNC_probe_read_user,
			  is_string     ? prefetch->bytes
			  : node->bytes ? node->bytes
					: PREFETCHED_WORD);
		ebpf_jump_if_imm(as, BPF_JSGE, R0, 0, there);
		if (i == 1) {
			ebpf_alu_imm(as, BPF_ADD, R6, page);
			ebpf_alu_imm(as, BPF_AND, R6, -page);
		}
		emit_read(prefetch, BPF_FUNC_copy_from_user, 1);
	}
	ebpf_bind(as, there);
}

/* Everything that node reads, what lies behind other reads after these. */
static void emit_node(const struct prefetch *prefetch, const struct source_node *node)
{
	if (!path_reads_user(node))
		return;
	emit_node(prefetch, node->left);
	emit_node(prefetch, node->right);
	if (node->op != SOURCE_USTR && node->op != SOURCE_USER_WORD && node->op != SOURCE_USER_SOCKADDR)
		return;
	path_emit_value(prefetch->as, prefetch->style, node->left);
	ebpf_mov(prefetch->as, R6, R0);
	emit_touch(prefetch, node);
}

void source_prefetch_emit(struct ebpf_asm *as, const struct source_unit *unit, const struct source_style *style,
			  int memory, uint32_t scratch)
{
	struct prefetch prefetch = { .as = as, .style = style, .memory = memory, .scratch = scratch };

	for (size_t i = 0; i < unit->entry_count; i++) {
		const struct event_type *type = unit->entries[i].want->type;
		const struct source_conditions *when = &unit->entries[i].when;

		if (!source_entry_reads_user(&unit->entries[i]))
			continue;
		uint32_t next = ebpf_label(as);

		ebpf_note(as, "what %s asks is to be there", type->name);
		for (uint32_t j = 0; j < when->count && unit->cookie; j++)
			if (when->items[j].path->left == unit->cookie)
				path_emit_condition(as, style, &when->items[j], next);
		for (uint32_t j = 0; j < when->count; j++)
			emit_node(&prefetch, when->items[j].path);
		for (uint32_t j = 0; j < type->field_count; j++) {
			if (!path_reads_user(unit->entries[i].paths[j]))
				continue;
			ebpf_note(as, "%s.%s is to be there", type->name, type->fields[j].name);
			prefetch.bytes = type->fields[j].bytes;
			emit_node(&prefetch, unit->entries[i].paths[j]);
		}
		ebpf_bind(as, next);
	}
}
