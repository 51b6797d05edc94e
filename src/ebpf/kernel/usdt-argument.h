/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef EBPF_KERNEL_USDT_ARGUMENT_H
#define EBPF_KERNEL_USDT_ARGUMENT_H

/*
 * Where an argument of a USDT probe is found, by the text of its note: one argument after the other, each SIZE@OPERAND
 * with the operand as the assembler of the CPU writes it. SIZE is 1, 2, 4 or 8 bytes, with a minus where it is
 * signed. The text may come from anybody.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum usdt_place {
	USDT_CONSTANT, /* value */
	USDT_REGISTER, /* base */
	USDT_MEMORY,   /* at base + (index << shift) + value */
	USDT_VARIABLE, /* at the variable called symbol + value */
};

enum { USDT_NO_REGISTER = -1, USDT_SYMBOL_BYTES = 128 };

struct usdt_argument {
	enum usdt_place place;
	uint32_t bytes; /* 1, 2, 4, 8 */
	bool is_signed;
	int64_t value;
	int32_t base, index; /* where struct pt_regs has the register, or USDT_NO_REGISTER */
	uint32_t shift;
	char symbol[USDT_SYMBOL_BYTES];
};

/* Where one clause goes that says why not. */
struct usdt_reason {
	char *text;
	size_t size;
};

/* Finds argument number, from 0, for a CPU of elf.h's numbers. Returns 0; -ESRCH (there are fewer); -ENOENT (it
 * is where it cannot be read, or the text is none that is known). */
int usdt_argument_find(const char *text, uint32_t number, uint32_t machine, struct usdt_argument *argument,
		       const struct usdt_reason *reason);

/* Where struct pt_regs has the address of the instruction; USDT_NO_REGISTER for CPUs that are not known. */
int32_t usdt_instruction_pointer(uint32_t machine);

#endif
