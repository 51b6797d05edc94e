/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef EBPF_CODEGEN_MACHINE_H
#define EBPF_CODEGEN_MACHINE_H

/* What code for state machines has beside that for rules. */

#include "ebpf/codegen/codegen.h"

/* machine: everything that a machine does at one type. */
void codegen_machine(struct emit *emit);

/* instance: what follows a transition of the instance in r7. */
void codegen_leave_instance(struct emit *emit, const struct emit_exits *exits, void (*fill)(struct emit *emit));

/* timer: user space hears when that of the instance in r7 goes off. */
void codegen_load_timer(struct emit *emit, uint8_t dst);
void codegen_note_timer(struct emit *emit, uint32_t none);
/* Wakes user space where it dozes. Overwrites r0-r5. */
void codegen_wake(struct emit *emit);
/* A timer that is not beyond the time of the one in r6 that went off is none. Overwrites r0, r1. */
void codegen_clear_timer(struct emit *emit);

/* firing: timers before the event in r6 go off, leaving for gone where one ends the instance; bpf_loop's callback. */
void codegen_timers(struct emit *emit, uint32_t gone);
uint32_t codegen_function_timer(const struct emit *outer);

/* inherit, adopt: copies of instances for another key: made in scratch; kept. */
void codegen_try_inherits(struct emit *emit, uint32_t state, const struct program_transition *transitions,
			  uint32_t count);
void codegen_inherit(struct emit *emit);

/*
 * notice: leaves for silent if that of the slots in use is not reported, for other if it is not that of a row.
 * Overwrites r1.
 */
void codegen_if_silent(struct emit *emit, uint32_t silent);
void codegen_unless_notice(struct emit *emit, uint32_t notice, uint32_t other);

#endif
