/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PROFILE_SAMPLE_REGISTERS_H
#define PROFILE_SAMPLE_REGISTERS_H

/* The registers that a sample may carry, by the kernel's numbers of them, for this processor. */

#include <stdint.h>

enum { SAMPLE_REGISTERS_MAX = 33 };

extern const char *const sample_registers[]; /* in the order in which the kernel writes them */
extern const unsigned sample_register_count; /* 0: those of this processor are not known here */
extern const uint64_t sample_register_mask;

#endif
