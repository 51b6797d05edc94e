// SPDX-License-Identifier: BSD-2-Clause
/* Takes both ways of SKIPTILLANY: a copy of the run goes on, the original waits for another such event. */

#include "ebpf/codegen/codegen.h"
#include "ebpf/memory/places.h"

/* The slots of what src has at from go to r8, at to. */
static void copy_slots(struct emit *emit, size_t to, uint8_t src, size_t from)
{
	struct ebpf_words words = { R8, src, (int32_t)to, (int32_t)from, emit->plan->area_bytes / 8 };

	ebpf_lower_copy(&emit->lower, &words);
}

/*
 * The event is kept with the copy, whose slots are in use, after what the run has kept. Leaves for full where there is
 * no room for it; the copy has been made in vain then.
 */
static void keep_event(struct emit *emit, const struct program_transition *transition, uint32_t full)
{
	emit_log_share(emit, emit->lower.slots, (size_t)emit->lower.slots_off);
	emit_history_append(emit, transition, full);
}

/* The copy is complete with this event: it is made in the ring. */
static void copy_to_match(struct emit *emit, uint32_t state, const struct program_transition *transition, uint32_t done)
{
	struct ebpf_asm *as = emit->as;
	uint32_t discard = ebpf_label(as), full = ebpf_label(as);

	if (emit->rule->loss == PROGRAM_DISCARD) {
		codegen_tainted(emit);
		ebpf_jump_if_imm(as, BPF_JNE, R3, 0, done);
	}
	codegen_match_reserve(emit, done);
	copy_slots(emit, sizeof(struct matcher_match), R7, sizeof(struct matcher_run));
	emit_set_slots(emit, R8, sizeof(struct matcher_match));
	codegen_actions(emit, transition);
	codegen_require_hold(emit, state, transition, discard);
	keep_event(emit, transition, full);
	codegen_match_fill(emit);
	codegen_tainted(emit);
	ebpf_store(as, BPF_H, R8, MATCH(tainted), R3);
	codegen_match_order(emit); /* among the matches of this event, the place of its original */
	codegen_match_submit(emit);
	ebpf_jump(as, done);
	ebpf_bind(as, full);
	emit_log_forget(emit, R8, sizeof(struct matcher_match));
	ebpf_bind(as, discard);
	if (transition->hold != PROGRAM_NONE || emit->plan->history.log_entries)
		codegen_match_discard(emit);
}

/* The same where something is done at the match: aside, as in codegen/open.c. */
static void copy_to_acting(struct emit *emit, uint32_t state, const struct program_transition *transition,
			   uint32_t done)
{
	struct ebpf_asm *as = emit->as;
	struct ebpf_words head = { R8, R7, 0, 0, sizeof(struct matcher_run) / 8 };
	uint32_t back = ebpf_label(as), full = ebpf_label(as);

	emit_scratch(emit, R8);
	ebpf_lower_copy(&emit->lower, &head);
	copy_slots(emit, sizeof(struct matcher_run), R7, sizeof(struct matcher_run));
	memory_frame_point(as, FRAME(scratch), R7);
	ebpf_mov(as, R7, R8);
	emit_set_slots(emit, R7, sizeof(struct matcher_run));
	codegen_actions(emit, transition);
	codegen_require_hold(emit, state, transition, back);
	keep_event(emit, transition, full);
	codegen_match_run(emit, codegen_match_fill);
	ebpf_bind(as, full);
	emit_log_forget(emit, R7, sizeof(struct matcher_run));
	ebpf_bind(as, back);
	ebpf_load(as, BPF_DW, R7, R9, FRAME(scratch));
	ebpf_jump(as, done);
}

/* r8 = the address of a free place, its number in the frame; leaves for none. */
static void take_free_place(struct emit *emit, uint32_t none)
{
	emit_take(emit, none);
	memory_frame_put(emit->as, FRAME(copied), R8);
	emit_run_address(emit, R8, R8);
}

/* The head of the copy in r8, which will be linked after all walks. */
static void fill_copied_head(struct emit *emit, const struct program_transition *transition)
{
	struct ebpf_asm *as = emit->as;

	ebpf_load(as, BPF_DW, R0, R9, FRAME(ordinal));
	ebpf_store(as, BPF_W, R8, RUN(ordinal), R0);
	emit_now(emit);
	ebpf_store(as, BPF_DW, R8, RUN(made), R0);
	if (emit->rule->flags & PROGRAM_RULE_REPLACE) {
		ebpf_load(as, BPF_DW, R1, R9, FRAME(copied));
		memory_age_begin(emit, R1);
	}
	ebpf_store_imm(as, BPF_W, R8, RUN(bucket), 0);
	ebpf_store_imm(as, BPF_W, R8, RUN(state),
		       (int32_t)(transition->target | emit_group(emit, transition->target) << 16));
	ebpf_load(as, BPF_DW, R0, R7, RUN(first_ts));
	ebpf_store(as, BPF_DW, R8, RUN(first_ts), R0);
	ebpf_load(as, BPF_W, R0, R7, RUN(epoch));
	ebpf_store(as, BPF_W, R8, RUN(epoch), R0);
	codegen_push_moved(emit, R8, FRAME(copied));
}

/* The copy in r8 takes the transition, which its slots show already. */
static void begin_copy(struct emit *emit, const struct program_transition *transition, uint32_t done)
{
	struct ebpf_asm *as = emit->as;
	uint32_t full = ebpf_label(as);

	emit_set_slots(emit, R8, sizeof(struct matcher_run));
	keep_event(emit, transition, full);
	fill_copied_head(emit, transition);
	if (!emit->plan->history.log_entries)
		return;
	ebpf_jump(as, done);
	ebpf_bind(as, full);
	ebpf_load(as, BPF_DW, R1, R9, FRAME(copied));
	ebpf_call_function(as, emit->functions.release);
}

static void copy_to_run(struct emit *emit, uint32_t state, const struct program_transition *transition, uint32_t done)
{
	struct ebpf_asm *as = emit->as;

	if (transition->hold == PROGRAM_NONE) {
		take_free_place(emit, done);
		copy_slots(emit, sizeof(struct matcher_run), R7, sizeof(struct matcher_run));
		emit_set_slots(emit, R8, sizeof(struct matcher_run));
		codegen_actions(emit, transition);
		begin_copy(emit, transition, done);
		return;
	}
	emit_scratch(emit, R8);
	memory_frame_point(as, FRAME(scratch), R8);
	copy_slots(emit, sizeof(struct matcher_run), R7, sizeof(struct matcher_run));
	emit_set_slots(emit, R8, sizeof(struct matcher_run));
	codegen_actions(emit, transition);
	codegen_note_transition(emit, state, transition, "hold", transition->hold);
	codegen_require_hold(emit, state, transition, done);
	take_free_place(emit, done);
	ebpf_load(as, BPF_DW, R5, R9, FRAME(scratch));
	copy_slots(emit, sizeof(struct matcher_run), R5, sizeof(struct matcher_run));
	begin_copy(emit, transition, done);
}

void codegen_copy(struct emit *emit, uint32_t state, const struct program_transition *transition)
{
	uint32_t done = ebpf_label(emit->as);

	codegen_note_transition(emit, state, transition, "copy", PROGRAM_NONE);
	emit_count_opened(emit, done);
	memory_frame_put(emit->as, FRAME(ordinal), R2);
	if (transition->target == PROGRAM_TARGET_MATCH && emit->plan->aside)
		copy_to_acting(emit, state, transition, done);
	else if (transition->target == PROGRAM_TARGET_MATCH)
		copy_to_match(emit, state, transition, done);
	else if (transition->target != PROGRAM_TARGET_END)
		copy_to_run(emit, state, transition, done);
	ebpf_bind(emit->as, done);
	emit_set_slots(emit, R7, sizeof(struct matcher_run));
}
