// SPDX-License-Identifier: BSD-2-Clause
/* Resolves the names in a path against the types of this kernel, and takes the one of several choices that it has. */

#include "ebpf/path/resolve.h"

#include "ebpf/path/usdt.h"
#include "ebpf/path/walk.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SYSCALL_ARGS = 6 };

/* Where the registers of a system call keep its arguments: members of struct pt_regs, an index where it is an array. */
static const struct event_path_step syscall_args[SYSCALL_ARGS][2] = {
#if defined(__x86_64__)
	{ { .member = "di" } },  { { .member = "si" } }, { { .member = "dx" } },
	{ { .member = "r10" } }, { { .member = "r8" } }, { { .member = "r9" } },
#elif defined(__aarch64__)
	/* x0 is overwritten by the result; the kernel keeps the argument beside. */
	{ { .member = "orig_x0" } },
	{ { .member = "regs" }, { .index = 1 } },
	{ { .member = "regs" }, { .index = 2 } },
	{ { .member = "regs" }, { .index = 3 } },
	{ { .member = "regs" }, { .index = 4 } },
	{ { .member = "regs" }, { .index = 5 } },
#else
	{ { .member = NULL } },
#endif
};

/* Offsets in struct pt_regs as the system call interface has it (struct user_regs_struct, struct user_pt_regs). */
static const struct {
	int32_t args[SYSCALL_ARGS];
	int32_t result;
	int32_t stack;  /* the caller's address lies where this register points; or -1: */
	int32_t caller; /* it is in this one */
} user_registers = {
#if defined(__x86_64__)
	{ 112, 104, 96, 88, 72, 64 },
	80,
	152,
	-1,
#elif defined(__aarch64__)
	{ 0, 8, 16, 24, 32, 40 },
	0,
	-1,
	240,
#else
	{ 0 },
	-1,
	-1,
	-1,
#endif
};

static int refuse_name(struct source_binding *binding, int code, const char *format, const char *name)
{
	snprintf(binding->reason, binding->size, format, name);
	return code;
}

/* The number in "arg3", or -1. */
static int64_t positional(const char *name)
{
	char *end;

	if (strncmp(name, "arg", 3) != 0 || name[3] < '0' || name[3] > '9')
		return -1;
	unsigned long number = strtoul(name + 3, &end, 10);

	return *end == '\0' && number < UINT32_MAX ? (int64_t)number : -1;
}

static int find_argument(struct source_binding *binding, const char *name, uint32_t *found)
{
	const struct btf_tracepoint *tracepoint = &binding->tracepoint;

	if (binding->classic)
		return refuse_name(binding, -EINVAL, "'%s': a tracepoint read from tracefs has no arguments", name);
	for (uint32_t i = 0; i < tracepoint->param_count; i++) {
		if (strcmp(btf_kernel_name(binding->btf, tracepoint->params[i].name_off), name) == 0) {
			*found = i;
			return 0;
		}
	}
	int64_t number = positional(name);

	if (number < 0 || number >= tracepoint->param_count)
		return refuse_name(binding, -ENOENT, "the tracepoint has no argument '%s'", name);
	*found = (uint32_t)number;
	return 0;
}

/*
 * The verifier lets numbers be loaded, and pointers to void, to integers and to what it can describe; before 6.12 none
 * to a void that is const.
 */
static bool needs_helper(const struct btf_kernel *btf, uint32_t type)
{
	const struct btf_type *bare = btf_kernel_bare(btf, &type);

	if (!bare || BTF_INFO_KIND(bare->info) != BTF_KIND_PTR)
		return false;
	type = bare->type;
	if (!type)
		return false;
	bare = btf_kernel_bare(btf, &type);
	switch (bare ? BTF_INFO_KIND(bare->info) : BTF_KIND_UNKN) {
	case BTF_KIND_INT:
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		return false;
	default:
		return true;
	}
}

static bool is_registers(const struct btf_kernel *btf, uint32_t type)
{
	const struct btf_type *bare = btf_kernel_bare(btf, &type);

	if (!bare || BTF_INFO_KIND(bare->info) != BTF_KIND_PTR)
		return false;
	type = bare->type;
	bare = btf_kernel_bare(btf, &type);
	return bare && strcmp(btf_kernel_name(btf, bare->name_off), "pt_regs") == 0;
}

static int resolve_access(struct source_binding *binding, struct source_node *node)
{
	uint32_t type;
	int result;

	node->is_current = strcmp(node->name, "current") == 0;
	if (node->is_current) {
		if (!binding->task_struct)
			binding->task_struct = btf_kernel_find(binding->btf, BTF_KIND_STRUCT, "task_struct");
		if (!binding->task_struct)
			return refuse_name(binding, -ENOENT, "the kernel describes no struct %s", "task_struct");
		type = binding->task_struct;
		/* The walk starts at the struct itself, one pointer further than at an argument. */
	} else {
		result = find_argument(binding, node->name, &node->argument);
		if (result)
			return result;
		type = binding->tracepoint.params[node->argument].type;
		node->by_helper = needs_helper(binding->btf, type);
		node->is_registers = is_registers(binding->btf, type);
	}
	const struct btf_path path = {
		.type = type,
		.from_struct = node->is_current,
		.hops = node->hops,
		.count = node->hop_count,
	};

	return btf_path_resolve(binding->btf, &path, &node->access, binding->reason, binding->size);
}

static int resolve_cast(struct source_binding *binding, struct source_node *node)
{
	int result = path_resolve_integer(binding, node->left);

	if (result)
		return result;
	if (!binding->cast || strcmp(binding->cast_name, node->name) != 0) {
		binding->cast = btf_kernel_find(binding->btf, BTF_KIND_STRUCT, node->name);
		binding->cast_name = node->name;
	}
	if (!binding->cast)
		return refuse_name(binding, -ENOENT, "the kernel describes no struct %s", node->name);
	const struct btf_path path = {
		.type = binding->cast,
		.from_struct = true,
		.hops = node->hops,
		.count = node->hop_count,
	};

	return btf_path_resolve(binding->btf, &path, &node->access, binding->reason, binding->size);
}

static int resolve_syscall_arg(struct source_binding *binding, struct source_node *node)
{
	const struct event_path_step *hops = syscall_args[node->value];

	if (!hops[0].member)
		return refuse_name(binding, -ENOENT,
				   "asterism does not know where system calls keep their arguments on %s",
				   "this architecture");
	node->op = SOURCE_ACCESS;
	node->name = "regs";
	node->hops = arena_zero(binding->arena, 2, sizeof *hops);
	if (!node->hops)
		return -ENOMEM;
	memcpy(node->hops, hops, 2 * sizeof *hops);
	node->hop_count = hops[1].member || hops[1].index ? 2 : 1;
	return resolve_access(binding, node);
}

static int resolve_choice(struct source_binding *binding, struct source_node *node)
{
	struct source_node *chosen = node->left;
	char first[128];
	int result = path_resolve(binding, chosen);

	if (result == -ENOENT || result == -ESRCH) {
		snprintf(first, sizeof first, "%s", binding->reason);
		chosen = node->right;
		result = path_resolve(binding, chosen);
		if (result == -ENOENT || result == -ESRCH)
			snprintf(binding->reason, binding->size, "%s", first);
	}
	if (!result)
		*node = *chosen;
	return result;
}

static int resolve_register(struct source_binding *binding, struct source_node *node)
{
	int32_t offset = node->op == SOURCE_USER_ARG      ? user_registers.args[node->value]
			 : node->op == SOURCE_USER_RESULT ? user_registers.result
			 : user_registers.stack >= 0      ? user_registers.stack
							  : user_registers.caller;

	if (!binding->is_probe)
		return refuse_name(binding, -EINVAL, "%s has registers of a function", "only a probe in user code");
	if (user_registers.result < 0 || offset < 0)
		return refuse_name(binding, -ENOENT,
				   "asterism does not know where functions keep their arguments on %s",
				   "this architecture");
	struct source_node reg = { .op = SOURCE_CTX, .value = offset, .bytes = 8 };

	if (node->op == SOURCE_USER_CALLER && user_registers.stack >= 0) {
		node->left = arena_zero(binding->arena, 1, sizeof *node->left);
		if (!node->left)
			return -ENOMEM;
		*node->left = reg;
		node->op = SOURCE_USER_WORD;
		return 0;
	}
	*node = reg;
	return 0;
}

/* Where the members are that a string is put together from. */
static int resolve_walk(struct source_binding *binding, struct source_node *node)
{
	const char *const *members = walk_members(node->op);
	int result = path_resolve_integer(binding, node->left);

	if (!result && node->right)
		result = path_resolve_integer(binding, node->right);
	node->offsets = arena_zero(binding->arena, SOURCE_WALK_MEMBERS_MAX, sizeof *node->offsets);
	if (!node->offsets)
		return -ENOMEM;
	for (int i = 0; members[i] && !result; i++) {
		struct source_node *member;

		result = path_parse_path(members[i], binding->arena, &member, binding->reason, binding->size);
		if (!result)
			result = path_resolve(binding, member);
		if (!result)
			node->offsets[i] = member->access.spot.offset;
	}
	return result;
}

int path_resolve_integer(struct source_binding *binding, struct source_node *node)
{
	int result = path_resolve(binding, node);

	if (!result && path_is_string(node))
		result = refuse_name(binding, -EINVAL, "found a string where %s is needed", "a number");
	return result;
}

static int resolve_length(struct source_binding *binding, struct source_node *node)
{
	const struct source_node *text = node->left;
	int result = path_resolve(binding, node->left);

	if (result)
		return result;
	if (text->op != SOURCE_KSTR && text->op != SOURCE_USTR && !path_is_string(text))
		return refuse_name(binding, -EINVAL, "found %s where a string is needed", "a number");
	if (walk_is(text->op) || text->op == SOURCE_CTXSTR || text->op == SOURCE_CTXLOC)
		return refuse_name(binding, -EINVAL, "%s takes kstr(), ustr(), user_chars() or an array", "length()");
	return 0;
}

int path_resolve(struct source_binding *binding, struct source_node *node)
{
	int result;

	if (walk_is(node->op))
		return resolve_walk(binding, node);
	switch (node->op) {
	case SOURCE_CONST:
		return 0;
	case SOURCE_ACCESS:
		return resolve_access(binding, node);
	case SOURCE_CAST:
		return resolve_cast(binding, node);
	case SOURCE_SYSCALL_ARG:
		return resolve_syscall_arg(binding, node);
	case SOURCE_USER_ARG:
	case SOURCE_USER_RESULT:
	case SOURCE_USER_CALLER:
		return resolve_register(binding, node);
	case SOURCE_USDT_ARG:
		return path_resolve_usdt(binding, node);
	case SOURCE_CHOICE:
		return resolve_choice(binding, node);
	case SOURCE_LENGTH:
		return resolve_length(binding, node);
	case SOURCE_CTX:
	case SOURCE_CTXS:
	case SOURCE_CTXSTR:
	case SOURCE_CTXLOC:
		return binding->classic || binding->is_awaited
			       ? 0
			       : refuse_name(binding, -EINVAL, "%s needs a tracepoint read from tracefs",
					     "an offset in the record");
	case SOURCE_KSTR:
	case SOURCE_USTR:
	case SOURCE_BE16:
	case SOURCE_BE32:
	case SOURCE_BE64:
	case SOURCE_USER_WORD:
	case SOURCE_KERNEL_WORD:
		return path_resolve_integer(binding, node->left);
	default:
		result = path_resolve_integer(binding, node->left);
		return result ? result : path_resolve_integer(binding, node->right);
	}
}

bool path_is_string(const struct source_node *node)
{
	if (walk_is(node->op))
		return true;
	switch (node->op) {
	case SOURCE_KSTR:
	case SOURCE_USTR:
	case SOURCE_CTXSTR:
	case SOURCE_CTXLOC:
		return true;
	case SOURCE_ACCESS:
	case SOURCE_CAST:
		return node->access.end == BTF_END_CHARS;
	default:
		return false;
	}
}

bool path_same(const struct source_node *a, const struct source_node *b)
{
	if (!a || !b)
		return a == b;
	if (a->op != b->op || a->value != b->value || a->bytes != b->bytes || a->is_signed != b->is_signed)
		return false;
	if (a->op != SOURCE_ACCESS && (!path_same(a->left, b->left) || !path_same(a->right, b->right)))
		return false;
	if (a->op != SOURCE_ACCESS && a->op != SOURCE_CAST)
		return true;
	/* Resolving starts from a zeroed access, so padding does not differ. */
	return a->is_current == b->is_current && a->argument == b->argument &&
	       memcmp(&a->access, &b->access, sizeof a->access) == 0;
}

bool path_same_condition(const struct source_condition *a, const struct source_condition *b)
{
	return a->compare == b->compare && a->value == b->value && path_same(a->path, b->path);
}
