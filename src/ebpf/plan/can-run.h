/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef EBPF_PLAN_CAN_RUN_H
#define EBPF_PLAN_CAN_RUN_H

/* What can be done in the kernel, judged by the image alone. */

#include "program/load.h"

#include <stdbool.h>
#include <stddef.h>

/* Whether rule can run in the kernel. Returns 1, or 0 with the reason (one clause, no full stop) in reason. */
int ebpf_can_run(const struct program *program, uint32_t rule, char *reason, size_t size);

/* Whether EMIT connects rule with another one; such rules run in one place, and all that follows in one program. */
bool ebpf_emit_connects(const struct program *program, uint32_t rule);

/* Whether the kernel's programs can do the call of a statement at a match; they may not reach its target, even so. */
bool ebpf_can_act(const struct program *program, uint32_t statement);

#endif
