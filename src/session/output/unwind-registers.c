// SPDX-License-Identifier: BSD-2-Clause
/* The registers that the words of struct pt_regs hold. */

#include "session/output/unwind-registers.h"

#if defined(__x86_64__)

enum { CODE_SEGMENT = 17, CODE_SEGMENT_32 = 0x23, RETURN_ADDRESS = 16 };

/* rax rdx rcx rbx rsi rdi rbp rsp r8..r15, and the place in the code. */
static const uint8_t words[] = { 10, 12, 11, 5, 13, 14, 4, 19, 9, 8, 7, 6, 3, 2, 1, 0, RETURN_ADDRESS };

bool unwind_registers_are_known(const uint64_t *registers)
{
	return (registers[CODE_SEGMENT] & 0xffff) != CODE_SEGMENT_32;
}

uint64_t unwind_registers_place(const uint64_t *registers)
{
	return registers[RETURN_ADDRESS];
}

bool unwind_registers_set(Dwfl_Thread *thread, const uint64_t *registers)
{
	Dwarf_Word values[sizeof words];

	for (size_t i = 0; i < sizeof words; i++)
		values[i] = registers[words[i]];
	return dwfl_thread_state_registers(thread, 0, sizeof words, values);
}

#elif defined(__aarch64__)

enum { GENERAL = 32, PLACE = 32, STATE = 33, STATE_32 = 0x10 }; /* x0..x30 and sp, then pc and pstate */

bool unwind_registers_are_known(const uint64_t *registers)
{
	return !(registers[STATE] & STATE_32);
}

uint64_t unwind_registers_place(const uint64_t *registers)
{
	return registers[PLACE];
}

bool unwind_registers_set(Dwfl_Thread *thread, const uint64_t *registers)
{
	dwfl_thread_state_register_pc(thread, registers[PLACE]);
	return dwfl_thread_state_registers(thread, 0, GENERAL, (const Dwarf_Word *)registers);
}

#else

bool unwind_registers_are_known(const uint64_t *registers)
{
	(void)registers;
	return false;
}

uint64_t unwind_registers_place(const uint64_t *registers)
{
	(void)registers;
	return 0;
}

bool unwind_registers_set(Dwfl_Thread *thread, const uint64_t *registers)
{
	(void)thread;
	(void)registers;
	return false;
}

#endif
