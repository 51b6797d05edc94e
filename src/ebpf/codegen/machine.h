/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef EBPF_CODEGEN_MACHINE_H
#define EBPF_CODEGEN_MACHINE_H

/* What code for state machines has beside that for rules. */

#include "ebpf/codegen/emit-priv.h"

/* emit-machine: everything that a machine does at one type; what follows a transition of the instance in r7. */
void emit_machine(struct emit *emit);
const struct program_key *emit_machine_key(const struct emit *emit);
bool emit_names_part(const struct emit *emit);
void emit_leave_instance(struct emit *emit, const struct emit_exits *exits, void (*fill)(struct emit *emit));

/* emit-timer */
void emit_note_timer(struct emit *emit, uint32_t none);
uint32_t emit_function_timer(const struct emit *outer);
/* A timer that is not beyond the time of the one in r6 that went off is none. Overwrites r0, r1. */
void emit_clear_timer(struct emit *emit);
void emit_timers(struct emit *emit, uint32_t gone);

/* emit-inherit: copies of instances for another key: whether there may be any; made aside; kept. */
bool emit_inherits(const struct emit *emit);
void emit_try_inherits(struct emit *emit, uint32_t state, const struct program_transition *transitions, uint32_t count);
void emit_inherit(struct emit *emit);

/*
 * emit-notice: whether some notices of a machine are silent; leaves for silent if that of the slots in use is one,
 * for other if it is not that of a row. Overwrites r1.
 */
bool emit_has_silence(const struct emit *emit);
void emit_if_silent(struct emit *emit, uint32_t silent);
void emit_unless_notice(struct emit *emit, uint32_t notice, uint32_t other);

/* emit-hash: r1 = the first bucket of the stripe of an event that names a part of the key. */
void emit_hash_stripe(struct emit *emit, const struct emit_walk *walk);

/* emit-hold: bucket number r1 becomes the frame's, with its lock; r8 = its address. Overwrites r0-r2. */
void emit_lock_at(struct emit *emit);

/* emit-walk: takes the run in r7 on from its state, where the event concerns some (walk: not for a timer). */
void emit_step_states(struct emit *emit, const struct emit_walk *walk, const struct emit_exits *exits);

/* emit-pool: r8 = a place for what may turn out not to be wanted, 0: there is none; and the loss if it is wanted. */
void emit_take_ahead(struct emit *emit);
void emit_refuse(struct emit *emit);

#endif
