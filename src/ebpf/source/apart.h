/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef EBPF_SOURCE_APART_H
#define EBPF_SOURCE_APART_H

/*
 * A program at raw_syscalls: is entered by every call of every process, wanted or not. Where all programs there are
 * about a few calls, they are attached to the tracepoints of these instead (syscalls:sys_enter_connect): other calls
 * then cost a look at a bitmap of the kernel's. The few cost more, so they must not be those that programs make most.
 *
 * Nothing else changes: such a program begins with making the arguments that raw_syscalls: has. These tracepoints know
 * no calls of 32-bit code, so something else must count those, or there must be none. A kernel leaves the programs out
 * while its counter of active programs is not 0, which it counts since 6.7; before, they stay at raw_syscalls:.
 */

#include "ebpf/asm/asm.h"
#include "ebpf/kernel/feature.h"
#include "ebpf/source/plan.h"

/*
 * Gives each unit that qualifies its calls, and each at raw_syscalls: its why. features NULL: where tracefs is closed
 * to us, it is taken to have what is looked for. Returns 0, -ENOMEM.
 */
int source_apart_plan(struct source_plan *plan, const struct ebpf_features *features);

/* r9, the context of a program that is attached to tracepoints of single calls, becomes that of one at raw_syscalls:.
 * r0-r5 are lost. */
void source_apart_emit(struct ebpf_asm *as, const struct source_unit *unit);

#endif
