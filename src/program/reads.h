/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PROGRAM_READS_H
#define PROGRAM_READS_H

/* What a rule looks at in events of a type. */

#include "program/load.h"

#include <stdbool.h>

/*
 * Sets reads[i] for every body field i of type that rule (indices of the program) looks at: in a condition, a key, an
 * action, or because it keeps the whole event. The others are left alone; there are as many as type has fields.
 */
void program_rule_reads(const struct program *program, uint32_t rule, uint32_t type, bool *reads);

#endif
