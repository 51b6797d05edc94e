// SPDX-License-Identifier: BSD-2-Clause
/* The registers that samples carry: those of whole numbers, the status flags and the instruction pointer. */

#include "profile/sample/registers.h"

#if defined(__x86_64__)
/* From AX to FLAGS, and R8 to R15; segments are left out. */
const char *const sample_registers[] = { "ax",    "bx", "cx", "dx",  "si",  "di",  "bp",  "sp",  "ip",
					 "flags", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15" };
const unsigned sample_register_count = sizeof sample_registers / sizeof *sample_registers;
const uint64_t sample_register_mask = 0x3ff | 0xff0000;
#elif defined(__aarch64__)
const char *const sample_registers[] = { "x0",  "x1",  "x2",  "x3",  "x4",  "x5",  "x6",  "x7",  "x8",  "x9",  "x10",
					 "x11", "x12", "x13", "x14", "x15", "x16", "x17", "x18", "x19", "x20", "x21",
					 "x22", "x23", "x24", "x25", "x26", "x27", "x28", "x29", "lr",  "sp",  "pc" };
const unsigned sample_register_count = sizeof sample_registers / sizeof *sample_registers;
const uint64_t sample_register_mask = 0x1ffffffff;
#else
const char *const sample_registers[] = { "none" };
const unsigned sample_register_count = 0;
const uint64_t sample_register_mask = 0;
#endif
