/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef EBPF_CODEGEN_CODEGEN_H
#define EBPF_CODEGEN_CODEGEN_H

/*
 * Code generation decides what the code of a rule does at an event, and in which order; what is true of the rule and
 * the event says the plan, how memory is changed says memory/emit.h. For one rule and one event type, in main:
 *
 *   for each walk:  step the runs in the chain of the bucket of the event's key
 *   open:           try the start state's transitions
 *   settle:         runs that now wait under another key go to their new buckets; so does the opened one
 *
 * A rule holds one lock at most, through all of this or in one of these steps (codegen/look.c), and nothing that was
 * linked during an event is stepped by it. A walk is a callback of bpf_loop; it shares the frame (struct matcher_frame)
 * on main's stack.
 *
 * It may touch: what the emitter holds, which is the plan, the layout and the assembler. It asks no kernel.
 */

#include "ebpf/memory/emit.h"

#include <stdio.h>

/* What a step may lead to, as labels of the callback. */
struct emit_exits {
	uint32_t stay;  /* the run waits on where it is */
	uint32_t end;   /* it ends */
	uint32_t match; /* it matches and ends */
	uint32_t moves; /* it waits under another key */
	/* Only of a machine: a match is told and the run stays; the timer may be another, and it stays. */
	uint32_t report, timed;
};

/* condition: leaves for if_false unless node, or a transition's hold, holds; does what the transition's actions say; a
 * note about it. */
void codegen_condition(struct emit *emit, uint32_t node, uint32_t if_false);
/* Leaves for if_false unless the transition's fit is true. This and the next count which conditions are. */
void codegen_require_fit(struct emit *emit, const struct program_transition *transition, uint32_t if_false);
void codegen_require_hold(struct emit *emit, uint32_t state, const struct program_transition *transition,
			  uint32_t if_false);
void codegen_actions(struct emit *emit, const struct program_transition *transition);
void codegen_note_transition(struct emit *emit, uint32_t state, const struct program_transition *transition,
			     const char *part, uint32_t node);

/* act: does what is done at a match for the run in the slots; done, on the stack of the current function, says what
 * was. Overwrites r0-r5. */
void codegen_act(struct emit *emit, int16_t done);

/*
 * match: r8 = room in the ring for a match, leaving for none (a counted loss) where there is none; fill everything
 * but the slots (order in r7's run, or in r1 where there is no run) and hand it over, or give it back.
 */
void codegen_match_reserve(struct emit *emit, uint32_t none);
void codegen_match_fill(struct emit *emit);
void codegen_match_submit(struct emit *emit);
void codegen_match_discard(struct emit *emit);
void codegen_tainted(struct emit *emit);
void codegen_match_order(struct emit *emit);
/* The whole of it for the run in r7; fill as codegen_match_fill. Overwrites r8. */
void codegen_match_run(struct emit *emit, void (*fill)(struct emit *emit));

/* copy: SKIPTILLANY's copy of the run in r7. */
void codegen_copy(struct emit *emit, uint32_t state, const struct program_transition *transition);

/* step, states: end the run in r7 if its time is up, or a loss has spoiled it; take it through the transitions of a
 * state; of its state, where the walk concerns it. */
void codegen_overdue(struct emit *emit, uint32_t overdue);
void codegen_end_overdue(struct emit *emit, uint32_t end);
void codegen_end_stale(struct emit *emit, uint32_t end);
void codegen_step(struct emit *emit, uint32_t state, const struct emit_exits *exits);
void codegen_step_states(struct emit *emit, const struct plan_walk *walk, const struct emit_exits *exits);

/* walk: steps the runs that the event finds; leaves for some if it may find any. */
void codegen_walks(struct emit *emit);
void codegen_look_at_walks(struct emit *emit, uint32_t some);
/* Calls function for the runs in the chain of the event's key. */
void codegen_walk_chain(struct emit *emit, const struct plan_walk *walk, uint32_t function);

/* open: the start state's transitions; leaves for some if the event may open a run. */
void codegen_open(struct emit *emit);
void codegen_look_at_openings(struct emit *emit, uint32_t some);
/* That found none: what it asked is counted, which an event that opens something does later. */
void codegen_count_openings(struct emit *emit);

/* look: takes the lock; leaves for none if there is nothing to do or (a loss) it cannot be had. */
void codegen_hold(struct emit *emit, uint32_t none);

/* drop: ends, or marks, runs of the event's key. */
void codegen_drop(struct emit *emit);

/* settle: a run is to be linked again: its address in register run, its number in the frame's member; all are. */
void codegen_push_moved(struct emit *emit, uint8_t run, size_t number);
void codegen_settle(struct emit *emit);

/* rule: everything one rule does at one type. */
void codegen_rule(struct emit *emit);

#endif
