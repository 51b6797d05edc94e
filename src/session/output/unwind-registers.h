/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SESSION_OUTPUT_UNWIND_REGISTERS_H
#define SESSION_OUTPUT_UNWIND_REGISTERS_H

/* The registers of the kernel's struct pt_regs as debugging information numbers them. */

#include <elfutils/libdwfl.h>
#include <stdbool.h>
#include <stdint.h>

/* Where in the code it was. */
uint64_t unwind_registers_place(const uint64_t *registers);

/* Whether these are of code that can be unwound: of this architecture, and not of its 32-bit ancestor. */
bool unwind_registers_are_known(const uint64_t *registers);

/* Where in the code the thread was. */
uint64_t unwind_registers_place(const uint64_t *registers);

/* Begins the innermost frame of thread. */
bool unwind_registers_set(Dwfl_Thread *thread, const uint64_t *registers);

#endif
