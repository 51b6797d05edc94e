// SPDX-License-Identifier: BSD-2-Clause
/*
 * Fetches the argument of a USDT probe: as the constant, the register or the user's memory that the note of this place
 * names, in the same nodes as any other path. So places that keep their arguments alike share a program.
 */

#include "ebpf/path/usdt.h"

#include "base/elf-code.h"
#include "ebpf/kernel/usdt-argument.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { USDT_WORD = 8 };

static struct source_node *new_node(struct source_binding *binding, const struct source_node *node)
{
	struct source_node *made = arena_zero(binding->arena, 1, sizeof *made);

	if (made)
		*made = *node;
	return made;
}

static struct source_node *new_register(struct source_binding *binding, int32_t offset)
{
	return new_node(binding, &(struct source_node){ .op = SOURCE_CTX, .value = offset, .bytes = USDT_WORD });
}

/* left op right; NULL where one is, or there is no memory. */
static struct source_node *join_nodes(struct source_binding *binding, enum source_op op, struct source_node *left,
				      struct source_node *right)
{
	return left && right ? new_node(binding, &(struct source_node){ .op = op, .left = left, .right = right })
			     : NULL;
}

static struct source_node *add_sum_node(struct source_binding *binding, struct source_node *left, int64_t more)
{
	if (!more)
		return left;
	return join_nodes(binding, SOURCE_ADD, left,
			  new_node(binding, &(struct source_node){ .op = SOURCE_CONST, .value = more }));
}

/* Where the memory is that a register points to. */
static struct source_node *address_of(struct source_binding *binding, const struct usdt_argument *argument)
{
	struct source_node shift = { .op = SOURCE_CONST, .value = argument->shift };
	struct source_node *base = NULL, *index = NULL;

	if (argument->base != USDT_NO_REGISTER)
		base = new_register(binding, argument->base);
	if (argument->index != USDT_NO_REGISTER)
		index = join_nodes(binding, SOURCE_SHL, new_register(binding, argument->index),
				   new_node(binding, &shift));
	if (argument->base != USDT_NO_REGISTER && argument->index != USDT_NO_REGISTER)
		base = join_nodes(binding, SOURCE_ADD, base, index);
	return add_sum_node(binding, argument->base == USDT_NO_REGISTER ? index : base, argument->value);
}

struct variable {
	const char *name;
	uint64_t address;
};

static int look_at_symbol(void *context, const struct elf_function *symbol)
{
	struct variable *variable = context;

	if (strcmp(symbol->name, variable->name) != 0)
		return 0;
	variable->address = symbol->address;
	return 1;
}

static int find_variable(const char *path, struct variable *variable)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct elf_code *data = NULL;
	int result = fd < 0 ? -ENOENT : elf_code_open(fd, ELF_DATA, &data);

	if (!result)
		result = elf_code_each(data, ELF_FULL, SIZE_MAX, look_at_symbol, variable) ||
					 elf_code_each(data, ELF_LINKING, SIZE_MAX, look_at_symbol, variable)
				 ? 0
				 : -ENOENT;
	elf_code_free(data);
	if (fd >= 0)
		close(fd);
	return result;
}

/* A variable is as far from the probe as the symbols say, wherever the file is loaded. *address: NULL without memory.
 */
static int find_address(struct source_binding *binding, const struct usdt_argument *argument,
			struct source_node **address)
{
	const struct attach_place *place = binding->place;
	struct variable variable = { .name = argument->symbol };

	if (argument->place == USDT_MEMORY) {
		*address = address_of(binding, argument);
		return 0;
	}
	int result = find_variable(place->path, &variable);

	if (result == -ENOENT)
		snprintf(binding->reason, binding->size,
			 "the argument is the variable %s, for which the file has no symbol", argument->symbol);
	uint64_t distance = variable.address - place->address + (uint64_t)argument->value;

	if (!result)
		*address = add_sum_node(binding, new_register(binding, usdt_instruction_pointer(place->machine)),
					(int64_t)distance);
	return result;
}

/* The lowest bytes of value, extended. */
static int64_t narrow_argument(const struct usdt_argument *argument)
{
	unsigned unused = 64 - argument->bytes * 8;
	uint64_t value = (uint64_t)argument->value << unused;

	return argument->is_signed ? (int64_t)value >> unused : (int64_t)(value >> unused);
}

int path_resolve_usdt(struct source_binding *binding, struct source_node *node)
{
	struct source_node *address = NULL;
	struct usdt_argument argument;

	if (!binding->place || !binding->place->arguments) {
		snprintf(binding->reason, binding->size, "only a USDT probe has arguments of this kind");
		return -EINVAL;
	}
	int result = usdt_argument_find(binding->place->arguments, (uint32_t)node->value, binding->place->machine,
					&argument, &(struct usdt_reason){ binding->reason, binding->size });

	if (result)
		return result;
	if (argument.place == USDT_CONSTANT) {
		*node = (struct source_node){ .op = SOURCE_CONST, .value = narrow_argument(&argument) };
		return 0;
	}
	if (argument.place == USDT_REGISTER) {
		*node = (struct source_node){ .op = argument.is_signed ? SOURCE_CTXS : SOURCE_CTX,
					      .value = argument.base,
					      .bytes = argument.bytes };
		return 0;
	}
	result = find_address(binding, &argument, &address);
	if (!result && !address)
		result = -ENOMEM;
	if (!result)
		*node = (struct source_node){ .op = SOURCE_USER_WORD,
					      .left = address,
					      .bytes = argument.bytes,
					      .is_signed = argument.is_signed };
	return result;
}
