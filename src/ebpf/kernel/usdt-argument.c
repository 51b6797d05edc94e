// SPDX-License-Identifier: BSD-2-Clause
/* Parses the texts of notes that say where the arguments of USDT probes are: a parser per CPU. */

#include "ebpf/kernel/usdt-argument.h"

#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REGISTER_BYTES = 8, SHIFT_MAX = 4 };

/* What is left of an operand. */
struct operand {
	const char *at;
	struct usdt_argument *argument;
};

static bool is_operand_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '.' || c == '$';
}

static bool take_operand_char(struct operand *operand, char c)
{
	while (*operand->at == ' ')
		operand->at++;
	if (*operand->at != c)
		return false;
	operand->at++;
	return true;
}

/* Takes an integer of at most 64 bits, signed or not, decimal or hexadecimal. */
static bool take_number(struct operand *operand, int64_t *number)
{
	bool is_negative = take_operand_char(operand, '-');
	const char *digits = operand->at;
	char *end;

	if (!is_operand_digit(*digits))
		return false;
	errno = 0;
	uint64_t value = strtoull(digits, &end, digits[0] == '0' && digits[1] == 'x' ? 16 : 10);

	if (errno || (is_negative && value > (uint64_t)INT64_MAX + 1))
		return false;
	operand->at = end;
	*number = (int64_t)(is_negative ? 0 - value : value);
	return true;
}

/* The length of the name that is next. */
static size_t name_length(const char *at)
{
	size_t length = 0;

	if (is_operand_digit(*at))
		return 0;
	while (is_letter(at[length]) || is_operand_digit(at[length]))
		length++;
	return length;
}

static bool is_register_name(const char *at, size_t length, const char *name)
{
	return strlen(name) == length && memcmp(at, name, length) == 0;
}

/* The shift that stands for a factor: 1, 2, 4, 8. */
static bool take_factor(struct operand *operand)
{
	int64_t factor;

	if (!take_number(operand, &factor))
		return false;
	for (uint32_t shift = 0; shift < SHIFT_MAX; shift++) {
		if (factor == INT64_C(1) << shift) {
			operand->argument->shift = shift;
			return true;
		}
	}
	return false;
}

static const struct {
	const char *names[4];
	int32_t offset;
} x86_registers[] = {
	{ { "r15", "r15d", "r15w", "r15b" }, 0 },  { { "r14", "r14d", "r14w", "r14b" }, 8 },
	{ { "r13", "r13d", "r13w", "r13b" }, 16 }, { { "r12", "r12d", "r12w", "r12b" }, 24 },
	{ { "rbp", "ebp", "bp", "bpl" }, 32 },     { { "rbx", "ebx", "bx", "bl" }, 40 },
	{ { "r11", "r11d", "r11w", "r11b" }, 48 }, { { "r10", "r10d", "r10w", "r10b" }, 56 },
	{ { "r9", "r9d", "r9w", "r9b" }, 64 },     { { "r8", "r8d", "r8w", "r8b" }, 72 },
	{ { "rax", "eax", "ax", "al" }, 80 },      { { "rcx", "ecx", "cx", "cl" }, 88 },
	{ { "rdx", "edx", "dx", "dl" }, 96 },      { { "rsi", "esi", "si", "sil" }, 104 },
	{ { "rdi", "edi", "di", "dil" }, 112 },    { { "rsp", "esp", "sp", "spl" }, 152 },
};

/* Takes %name. */
static bool take_x86_register(struct operand *operand, int32_t *offset)
{
	if (!take_operand_char(operand, '%'))
		return false;
	size_t length = name_length(operand->at);

	for (size_t i = 0; i < sizeof x86_registers / sizeof *x86_registers; i++) {
		for (size_t j = 0; j < 4; j++) {
			if (is_register_name(operand->at, length, x86_registers[i].names[j])) {
				operand->at += length;
				*offset = x86_registers[i].offset;
				return true;
			}
		}
	}
	return false;
}

/* Behind a parenthesis: BASE) or BASE,INDEX) or BASE,INDEX,FACTOR), where the base may be missing before an index. */
static bool take_x86_address(struct operand *operand)
{
	struct usdt_argument *argument = operand->argument;

	argument->place = USDT_MEMORY;
	if (*operand->at != ',' && !take_x86_register(operand, &argument->base))
		return false;
	if (take_operand_char(operand, ',')) {
		if (!take_x86_register(operand, &argument->index) ||
		    (take_operand_char(operand, ',') && !take_factor(operand)))
			return false;
	}
	return take_operand_char(operand, ')');
}

/* SYMBOL(%rip), SYMBOL+4(%rip), before which a number may already have been taken: 4+SYMBOL(%rip). */
static bool take_x86_variable(struct operand *operand)
{
	struct usdt_argument *argument = operand->argument;
	size_t length = name_length(operand->at);
	int64_t more = 0;

	if (!length || length >= sizeof argument->symbol)
		return false;
	argument->place = USDT_VARIABLE;
	memcpy(argument->symbol, operand->at, length);
	argument->symbol[length] = '\0';
	operand->at += length;
	if (take_operand_char(operand, '+') || *operand->at == '-') {
		if (!take_number(operand, &more) || __builtin_add_overflow(argument->value, more, &argument->value))
			return false;
	}
	if (strcmp(operand->at, "(%rip)") != 0)
		return false;
	operand->at += strlen(operand->at);
	return true;
}

static bool read_x86(struct operand *operand)
{
	struct usdt_argument *argument = operand->argument;

	if (take_operand_char(operand, '$')) {
		argument->place = USDT_CONSTANT;
		return take_number(operand, &argument->value);
	}
	if (*operand->at == '%') {
		argument->place = USDT_REGISTER;
		return take_x86_register(operand, &argument->base);
	}
	if (is_operand_digit(*operand->at) || *operand->at == '-') {
		if (!take_number(operand, &argument->value))
			return false;
		take_operand_char(operand, '+');
	}
	return take_operand_char(operand, '(') ? take_x86_address(operand) : take_x86_variable(operand);
}

enum { ARM_STACK_POINTER = 31 * REGISTER_BYTES, ARM_NUMBERED = 31 };

/* Takes x0 to x30, w0 to w30, sp, and the names of two of these. */
static bool take_arm_register(struct operand *operand, int32_t *offset)
{
	while (*operand->at == ' ')
		operand->at++;
	size_t length = name_length(operand->at);
	const char *at = operand->at;
	unsigned long number = ARM_NUMBERED;

	if (length >= 2 && length <= 3 && (*at == 'x' || *at == 'w') && is_operand_digit(at[1]) &&
	    (length == 2 || is_operand_digit(at[2])))
		number = strtoul(at + 1, NULL, 10);
	else if (is_register_name(at, length, "fp") || is_register_name(at, length, "lr"))
		number = *at == 'f' ? 29 : 30;
	if (number >= ARM_NUMBERED && !is_register_name(at, length, "sp"))
		return false;
	operand->at += length;
	*offset = number < ARM_NUMBERED ? (int32_t)number * REGISTER_BYTES : ARM_STACK_POINTER;
	return true;
}

/* Behind a bracket: BASE] or BASE, NUMBER] or BASE, INDEX] or BASE, INDEX, lsl SHIFT]. */
static bool take_arm_address(struct operand *operand)
{
	struct usdt_argument *argument = operand->argument;
	int64_t shift = 0;

	argument->place = USDT_MEMORY;
	if (!take_arm_register(operand, &argument->base))
		return false;
	if (take_operand_char(operand, ',')) {
		bool is_number =
			take_operand_char(operand, '#') || is_operand_digit(*operand->at) || *operand->at == '-';

		if (is_number ? !take_number(operand, &argument->value) : !take_arm_register(operand, &argument->index))
			return false;
		if (!is_number && take_operand_char(operand, ',')) {
			while (*operand->at == ' ')
				operand->at++;
			if (strncmp(operand->at, "lsl ", 4) != 0)
				return false;
			operand->at += 4;
			take_operand_char(operand, '#');
			if (!take_number(operand, &shift) || shift < 0 || shift > SHIFT_MAX)
				return false;
			argument->shift = (uint32_t)shift;
		}
	}
	return take_operand_char(operand, ']');
}

static bool read_arm(struct operand *operand)
{
	struct usdt_argument *argument = operand->argument;
	const char *at = operand->at;

	if (take_operand_char(operand, '['))
		return take_arm_address(operand);
	if (*at == '#' || *at == '-' || is_operand_digit(*at)) {
		take_operand_char(operand, '#');
		argument->place = USDT_CONSTANT;
		return take_number(operand, &argument->value);
	}
	if (is_register_name(at, name_length(at), "xzr") || is_register_name(at, name_length(at), "wzr")) {
		argument->place = USDT_CONSTANT;
		operand->at += 3;
		return true;
	}
	argument->place = USDT_REGISTER;
	return take_arm_register(operand, &argument->base);
}

static const struct processor {
	uint32_t machine;
	bool (*read)(struct operand *operand);
	int32_t instruction_pointer;
} processors[] = {
	{ EM_X86_64, read_x86, 128 },
	{ EM_386, read_x86, 128 }, /* run by a kernel of 64 bits */
	{ EM_AARCH64, read_arm, 256 },
};

static const struct processor *find_processor(uint32_t machine)
{
	for (size_t i = 0; i < sizeof processors / sizeof *processors; i++)
		if (processors[i].machine == machine)
			return &processors[i];
	return NULL;
}

int32_t usdt_instruction_pointer(uint32_t machine)
{
	const struct processor *processor = find_processor(machine);

	return processor ? processor->instruction_pointer : USDT_NO_REGISTER;
}

/* The length of the argument at text: up to a blank that is in no brackets. */
static size_t argument_length(const char *text)
{
	size_t length = 0;

	for (bool inside = false; text[length] && (inside || text[length] != ' '); length++)
		inside = text[length] == '[' || (inside && text[length] != ']');
	return length;
}

/* 1, -2, 4, ... before the at sign. */
static bool read_argument_size(const char *text, struct usdt_argument *argument)
{
	argument->is_signed = *text == '-';
	text += argument->is_signed;
	argument->bytes = is_operand_digit(*text) && text[1] == '\0' ? (uint32_t)(*text - '0') : 0;
	return argument->bytes && argument->bytes <= 8 && !(argument->bytes & (argument->bytes - 1));
}

/* text is overwritten. */
static int read_argument(char *text, const struct processor *processor, struct usdt_argument *argument,
			 const struct usdt_reason *reason)
{
	char *at = strchr(text, '@');
	struct operand operand = { at ? at + 1 : text, argument };

	*argument = (struct usdt_argument){ .base = USDT_NO_REGISTER, .index = USDT_NO_REGISTER };
	if (at && at > text && at[-1] == 'f') {
		snprintf(reason->text, reason->size, "the argument is a floating-point number: %s", text);
		return -ENOENT;
	}
	if (at)
		*at = '\0';
	if (at && read_argument_size(text, argument) && processor->read(&operand) && !*operand.at)
		return 0;
	if (at)
		*at = '@';
	snprintf(reason->text, reason->size, "cannot parse the argument's location: %s", text);
	return -ENOENT;
}

int usdt_argument_find(const char *text, uint32_t number, uint32_t machine, struct usdt_argument *argument,
		       const struct usdt_reason *reason)
{
	const struct processor *processor = find_processor(machine);
	char copy[2 * USDT_SYMBOL_BYTES];
	uint32_t count = 0;
	size_t length;

	for (const char *at = text + strspn(text, " "); (length = argument_length(at)); at += strspn(at, " ")) {
		if (count++ == number && processor) {
			snprintf(copy, sizeof copy, "%.*s", length < sizeof copy ? (int)length : 0, at);
			return read_argument(copy, processor, argument, reason);
		}
		at += length;
	}
	if (!processor) {
		snprintf(reason->text, reason->size,
			 "asterism does not know the argument locations of this CPU architecture");
		return -ENOENT;
	}
	snprintf(reason->text, reason->size, "the probe has %" PRIu32 " argument%s, but no usdt_arg(%" PRIu32 ")",
		 count, count == 1 ? "" : "s", number);
	return -ESRCH;
}
