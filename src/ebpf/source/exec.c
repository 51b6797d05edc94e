// SPDX-License-Identifier: BSD-2-Clause
/*
 * Reports what can be known of an awaited execve once it has succeeded, on kernels that do not report it before (6.10).
 * Its memory and registers are another program's by then. The kernel keeps the name that it has run: as it was given,
 * but where execveat was given a directory's descriptor N, as /dev/fd/N/NAME; what stands before the name is skipped.
 * The other arguments were noted. What else lay in memory of the user is unread.
 */

#include "ebpf/source/await.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>

enum { TEXT_BYTES = 1024, REGISTER_BYTES = 8, SKIPPED_BYTES = sizeof "/dev/fd/" - 1, DIGITS_MAX = 10 };

struct rewriting {
	struct source_binding *binding;
	const struct source_entry *entry;
	struct source_node *registers[SOURCE_AWAIT_REGISTERS]; /* as the entry's paths name them */
	int64_t call;                                          /* its number; -1: not known */
	int result;
};

/* A path over what is known of the call, and the arguments of sched_process_exec. */
static struct source_node *parse_exec_path(struct rewriting *rewriting, const char *text)
{
	struct source_binding *binding = rewriting->binding;
	struct source_node *node = NULL;
	int result = path_parse_path(text, binding->arena, &node, binding->reason, binding->size);

	if (!result)
		result = path_resolve(binding, node);
	if (result && !rewriting->result)
		rewriting->result = result;
	return node;
}

/* How many bytes of the descriptor's path stand before the name, the '/' between both not counted. */
static void put_skipped(char *text, size_t size)
{
	int64_t least = 9;
	int used = snprintf(text, size, "%d", SKIPPED_BYTES + 1);

	for (int digits = 2; digits <= DIGITS_MAX; digits++, least = least * 10 + 9)
		used += snprintf(text + used, size - (size_t)used, " + (ctx(%zu, 4) > %lld)",
				 offsetof(struct source_awaited, registers[0]), (long long)least);
}

static struct source_node *exec_name_path(struct rewriting *rewriting)
{
	char skipped[TEXT_BYTES], text[3 * TEXT_BYTES];

	if (rewriting->call == SYS_execve)
		return parse_exec_path(rewriting, "kstr(bprm->filename)");
	put_skipped(skipped, sizeof skipped);
	snprintf(text, sizeof text,
		 "kstr(bprm->filename + ((bprm->fdpath != 0) * (%s + "
		 "(((kernel_word(bprm->filename + (%s))) & 0xff) != 0))))",
		 skipped, skipped);
	return parse_exec_path(rewriting, text);
}

/* The number of the argument that node is, or -1. */
static int register_of(const struct rewriting *rewriting, const struct source_node *node)
{
	for (int i = 0; i < SOURCE_AWAIT_REGISTERS; i++)
		if (rewriting->registers[i] && path_same(node, rewriting->registers[i]))
			return i;
	return -1;
}

/* Whether node is the string that the call takes the program's name from. */
static bool is_program_name(const struct rewriting *rewriting, const struct source_node *node)
{
	if (node->op != SOURCE_USTR || rewriting->call < 0)
		return false;
	return register_of(rewriting, node->left) == (rewriting->call == SYS_execveat);
}

static struct source_node *rewrite(struct rewriting *rewriting, struct source_node *node)
{
	static const struct source_node nowhere = { .op = SOURCE_CONST, .value = -1 };
	struct source_node *copy;
	char text[TEXT_BYTES];
	int number;

	if (!node || rewriting->result)
		return node;
	if (is_program_name(rewriting, node))
		return exec_name_path(rewriting);
	number = register_of(rewriting, node);
	if (number >= 0) {
		snprintf(text, sizeof text, "ctx(%zu, %d)", offsetof(struct source_awaited, registers[number]),
			 REGISTER_BYTES);
		return parse_exec_path(rewriting, text);
	}
	copy = arena_zero(rewriting->binding->arena, 1, sizeof *copy);
	if (!copy) {
		rewriting->result = -ENOMEM;
		return node;
	}
	*copy = *node;
	if (node->op == SOURCE_USTR || node->op == SOURCE_USER_WORD) {
		copy->left = (struct source_node *)&nowhere; /* nothing can be read there */
		return copy;
	}
	copy->left = rewrite(rewriting, node->left);
	copy->right = rewrite(rewriting, node->right);
	return copy;
}

/* The number that the entry demands of its call; -1: none. */
static int64_t demanded_call(const struct source_entry *entry)
{
	for (uint32_t i = 0; i < entry->when.count; i++)
		if (source_is_call_number(&entry->when.items[i]))
			return entry->when.items[i].value;
	return -1;
}

static int rewrite_entry(struct rewriting *rewriting, struct source_entry *entry)
{
	struct arena *arena = rewriting->binding->arena;
	uint32_t fields = entry->want->type->field_count;
	struct source_node **paths = arena_zero(arena, fields, sizeof *paths);
	struct source_condition *items = arena_zero(arena, entry->when.count + 1, sizeof *items);

	if (!paths || !items)
		return -ENOMEM;
	rewriting->call = demanded_call(entry);
	for (uint32_t i = 0; i < fields; i++)
		paths[i] = rewrite(rewriting, entry->paths[i]);
	for (uint32_t i = 0; i < entry->when.count; i++) {
		items[i] = entry->when.items[i];
		items[i].path = rewrite(rewriting, items[i].path);
	}
	entry->paths = paths;
	entry->when.items = items;
	return rewriting->result;
}

int source_exec_rewrite(struct source_unit *late, const struct source_await_paths *paths,
			struct source_binding *binding)
{
	struct rewriting rewriting = { .binding = binding };

	binding->is_awaited = true;
	for (int i = 0; i < SOURCE_AWAIT_REGISTERS; i++)
		rewriting.registers[i] = (struct source_node *)paths->registers[i];
	for (size_t i = 0; i < late->entry_count && !rewriting.result; i++)
		rewrite_entry(&rewriting, &late->entries[i]);
	return rewriting.result;
}
