// SPDX-License-Identifier: BSD-2-Clause
/*
 * Opens runs. A run that completes with its first event never takes a place: its slots are computed in the ring. Where
 * a `hold` may end it at once, they are computed aside first, so that it takes no place either.
 */

#include "ebpf/codegen/machine.h"
#include "ebpf/memory/places.h"

/* Whether the first thing that happens to the slot is that it is set from the event alone. */
static bool is_set_first(const struct emit *emit, const struct program_transition *transition, uint32_t slot)
{
	const struct program_action *action = program_actions(emit->program, transition);
	const struct ebpf_node_info *nodes = emit->context->plan->nodes;

	for (uint32_t i = 0; i < transition->action_count; i++, action++) {
		if (nodes[action->node].reads_slots)
			return false;
		if (action->slot == slot)
			return action->op == PROGRAM_SET && !nodes[action->node].divides;
	}
	return false;
}

/* Whether the opening actions set the word at this offset behind all texts anyway. */
static bool is_word_set(const struct emit *emit, const struct program_transition *transition, uint32_t at)
{
	const struct program_slot *slots = program_slots(emit->program, emit->rule);

	for (uint32_t i = 0; i < emit->rule->slot_count; i++)
		if (slots[i].offset == at && slots[i].bytes == 8 && is_set_first(emit, transition, i))
			return true;
	return false;
}

/* The words of the slots from first up to end become 0. */
static void zero_words(struct emit *emit, uint32_t first, uint32_t end)
{
	ebpf_lower_zero(&emit->lower, emit->lower.slots, emit->lower.slots_off + (int32_t)first, (end - first) / 8);
}

/* Zeroes what the opening actions do not set anyway. */
static void clear_slots(struct emit *emit, const struct program_transition *transition)
{
	const struct program_slot *slots = program_slots(emit->program, emit->rule);
	uint32_t at = 0, first;

	for (uint32_t i = 0; i < emit->rule->slot_count && at < emit->rule->slot_bytes; i++) {
		if (slots[i].offset != at || !is_set_first(emit, transition, i))
			break;
		at += slots[i].bytes;
	}
	for (first = at; at < emit->rule->slot_bytes; at += 8) {
		if (!is_word_set(emit, transition, at))
			continue;
		zero_words(emit, first, at);
		first = at + 8;
	}
	zero_words(emit, first, at);
}

/* The slots of a fresh run, in what looks like a run at base. */
static void fill_slots(struct emit *emit, const struct program_transition *transition, uint8_t base)
{
	emit_set_slots(emit, base, sizeof(struct matcher_run));
	clear_slots(emit, transition);
	codegen_actions(emit, transition);
	emit_history_begin(emit);
	emit_why_opened(emit, base);
}

/* The opening event completes the run. */
static void open_match(struct emit *emit, const struct program_transition *transition, uint32_t done)
{
	struct ebpf_asm *as = emit->as;
	uint32_t discard = ebpf_label(as);

	emit_count_opened(emit, done);
	ebpf_mov(as, R7, R2);
	if (emit->event->asks_ends && emit->rule->loss == PROGRAM_DISCARD) {
		emit_cut(emit);
		ebpf_jump_if_imm(as, BPF_JNE, R3, 0, done);
	}
	codegen_match_reserve(emit, done);
	ebpf_store(as, BPF_W, R8, MATCH(ordinal), R7);
	emit_now(emit);
	ebpf_store(as, BPF_DW, R8, MATCH(made), R0);
	emit_cut(emit);
	ebpf_store(as, BPF_H, R8, MATCH(tainted), R3);
	emit_set_slots(emit, R8, sizeof(struct matcher_match));
	clear_slots(emit, transition);
	codegen_actions(emit, transition);
	codegen_require_hold(emit, 0, transition, discard);
	emit_history_begin(emit);
	emit_history_append(emit, transition, discard);
	codegen_match_fill(emit);
	codegen_match_submit(emit);
	ebpf_jump(as, done);
	ebpf_bind(as, discard);
	if (transition->hold != PROGRAM_NONE || emit->plan->history.log_entries)
		codegen_match_discard(emit);
}

/*
 * The same where something is done at the match: that must not depend on room in the ring, so the slots are computed
 * aside.
 */
static void open_acting(struct emit *emit, const struct program_transition *transition, uint32_t done)
{
	struct ebpf_asm *as = emit->as;

	ebpf_mov_imm(as, R8, 0);
	if (!emit_is_machine(emit)) {
		emit_count_opened(emit, done);
		ebpf_mov(as, R8, R2);
	}
	emit_scratch(emit, R7);
	ebpf_store(as, BPF_W, R7, RUN(ordinal), R8);
	emit_now(emit);
	ebpf_store(as, BPF_DW, R7, RUN(made), R0);
	emit_control(emit, R1);
	ebpf_load(as, BPF_W, R0, R1, CONTROL(epoch));
	ebpf_store(as, BPF_W, R7, RUN(epoch), R0);
	fill_slots(emit, transition, R7);
	codegen_require_hold(emit, 0, transition, done);
	emit_history_append(emit, transition, done);
	codegen_match_run(emit, codegen_match_fill);
	emit_log_forget(emit, R7, sizeof(struct matcher_run));
}

/* r7, the ordinal of the new run number r8, becomes its address; its head is filled for the transition's target. */
static void fill_opened_head(struct emit *emit, const struct program_transition *transition)
{
	struct ebpf_asm *as = emit->as;

	ebpf_mov(as, R1, R7);
	emit_run_address(emit, R7, R8);
	ebpf_store(as, BPF_W, R7, RUN(ordinal), R1);
	ebpf_store_imm(as, BPF_W, R7, RUN(bucket), 0);
	ebpf_store_imm(as, BPF_W, R7, RUN(state),
		       (int32_t)(transition->target | emit_group(emit, transition->target) << 16));
	ebpf_load(as, BPF_DW, R0, R6, offsetof(struct event_header, ts));
	ebpf_store(as, BPF_DW, R7, RUN(first_ts), R0);
	emit_now(emit);
	ebpf_store(as, BPF_DW, R7, RUN(made), R0);
	if (emit_is_machine(emit))
		ebpf_store(as, BPF_DW, R7, RUN(first_ts), R0);
	memory_age_begin(emit, R8);
	emit_control(emit, R1);
	ebpf_load(as, BPF_W, R0, R1, CONTROL(epoch));
	ebpf_store(as, BPF_W, R7, RUN(epoch), R0);
}

/* The opened run, number r8 in r7, is linked; after dropping, where there is dropping. */
static void link_opened(struct emit *emit, uint32_t state)
{
	struct ebpf_asm *as = emit->as;

	memory_count_opener(emit, 1);
	if (emit->event->links_late) {
		memory_frame_put(as, FRAME(opened), R8);
		return;
	}
	emit_link(emit, emit_group(emit, state));
}

/* A machine's new instance, number r8 in r7: what its first transition tells, and when its timer goes off. */
static void begin_instance(struct emit *emit, const struct program_transition *transition)
{
	struct ebpf_asm *as = emit->as;
	uint32_t no_timer = ebpf_label(as);

	if (transition->flags & PROGRAM_TELL) {
		memory_frame_put(as, FRAME(current), R8);
		codegen_match_run(emit, codegen_match_fill);
		ebpf_load(as, BPF_DW, R8, R9, FRAME(current));
	}
	codegen_note_timer(emit, no_timer);
	ebpf_bind(as, no_timer);
}

/* The event is kept with the run that it opens, number r8 in r7; if there is no room for it, the run is given back. */
static void keep_first(struct emit *emit, const struct program_transition *transition, uint32_t done)
{
	struct ebpf_asm *as = emit->as;
	uint32_t full = ebpf_label(as), kept = ebpf_label(as);

	emit_history_append(emit, transition, full);
	if (!emit->plan->history.log_entries)
		return;
	ebpf_jump(as, kept);
	ebpf_bind(as, full);
	ebpf_mov(as, R1, R8);
	ebpf_call_function(as, emit->functions.release);
	ebpf_jump(as, done);
	ebpf_bind(as, kept);
}

/*
 * Where the runs of a key share places: the run is put together aside, so that its key is known, and its bucket is
 * locked while a place is found for it and it is linked.
 */
static void open_sharing(struct emit *emit, const struct program_transition *transition, uint32_t done)
{
	struct ebpf_asm *as = emit->as;
	uint32_t group = emit_group(emit, transition->target), busy = ebpf_label(as), out = ebpf_label(as);
	struct ebpf_words kept = { R7, R5, sizeof(struct matcher_run), sizeof(struct matcher_run),
				   emit->plan->area_bytes / 8 };

	emit_count_opened(emit, done);
	memory_frame_put(as, FRAME(ordinal), R2);
	emit_scratch(emit, R7);
	memory_frame_point(as, FRAME(scratch), R7);
	ebpf_store_imm(as, BPF_W, R7, RUN(state), (int32_t)(transition->target | group << 16));
	fill_slots(emit, transition, R7);
	codegen_note_transition(emit, 0, transition, "hold", transition->hold);
	codegen_require_hold(emit, 0, transition, done);
	emit_hash_run(emit, group);
	emit_bucket_address(emit, R8, R1);
	memory_frame_point(as, FRAME(bucket), R8);
	if (!emit->holds)
		emit_lock(emit, R8, busy);
	memory_check_opener(emit, out);
	memory_find_place(emit, transition->target, out);
	emit_take_opened(emit, out);
	ebpf_load(as, BPF_DW, R7, R9, FRAME(ordinal));
	fill_opened_head(emit, transition);
	ebpf_load(as, BPF_DW, R5, R9, FRAME(scratch));
	ebpf_lower_copy(&emit->lower, &kept);
	emit_set_slots(emit, R7, sizeof(struct matcher_run));
	keep_first(emit, transition, out);
	link_opened(emit, transition->target);
	ebpf_bind(as, out);
	if (emit->holds)
		return;
	ebpf_load(as, BPF_DW, R8, R9, FRAME(bucket));
	emit_unlock(emit, R8);
	ebpf_jump(as, done);
	ebpf_bind(as, busy);
	emit_lose(emit);
}

/* The first run of a rule whose places nobody looks after. A plain load first: this is the way of every run. */
static void wake_for_brief(struct emit *emit)
{
	const struct memory_region *work = &emit->context->memory->work;
	struct ebpf_asm *as = emit->as;
	uint32_t awake = ebpf_label(as);

	if (!memory_is_brief(emit->program, emit->rule) || emit->context->silent || !emit->context->plan->live)
		return;
	ebpf_load_value(as, R1, emit->context->memory->maps[work->map].fd, work->off);
	ebpf_load(as, BPF_DW, R0, R1, offsetof(struct matcher_work, dozing));
	ebpf_jump_if_imm(as, BPF_JEQ, R0, 0, awake);
	codegen_wake(emit);
	ebpf_bind(as, awake);
}

static void open_run(struct emit *emit, const struct program_transition *transition, uint32_t done)
{
	struct ebpf_asm *as = emit->as;
	struct ebpf_words kept = { R7, R5, sizeof(struct matcher_run), sizeof(struct matcher_run),
				   emit->plan->area_bytes / 8 };

	wake_for_brief(emit);
	if (program_rule_shares(emit->rule)) {
		open_sharing(emit, transition, done);
		return;
	}
	emit_count_opened(emit, done);
	ebpf_mov(as, R7, R2);
	if (transition->hold != PROGRAM_NONE) {
		emit_scratch(emit, R8);
		memory_frame_point(as, FRAME(scratch), R8);
		fill_slots(emit, transition, R8);
		codegen_note_transition(emit, 0, transition, "hold", transition->hold);
		codegen_require_hold(emit, 0, transition, done);
		memory_check_opener(emit, done);
		emit_take_opened(emit, done);
		fill_opened_head(emit, transition);
		ebpf_load(as, BPF_DW, R5, R9, FRAME(scratch));
		ebpf_lower_copy(&emit->lower, &kept);
		emit_set_slots(emit, R7, sizeof(struct matcher_run));
	} else {
		memory_check_opener(emit, done);
		emit_take_opened(emit, done);
		fill_opened_head(emit, transition);
		fill_slots(emit, transition, R7);
	}
	keep_first(emit, transition, done);
	if (emit_is_machine(emit))
		begin_instance(emit, transition);
	link_opened(emit, transition->target);
}

/* An event may open an instance. What may open a run is all that is seen. */
static void meet_start(struct emit *emit, const struct program_transition *transitions, uint32_t count)
{
	if (count && emit_is_machine(emit))
		emit_why_met(emit, transitions);
}

void codegen_open(struct emit *emit)
{
	struct ebpf_asm *as = emit->as;
	uint32_t count, done = ebpf_label(as);
	const struct program_transition *transitions = emit_transitions(emit, 0, &count);

	meet_start(emit, transitions, count);
	for (uint32_t i = 0; i < count; i++) {
		uint32_t next = ebpf_label(as);

		emit->lower.slots_zero = true;
		codegen_note_transition(emit, 0, &transitions[i], "fit", transitions[i].fit);
		codegen_require_fit(emit, &transitions[i], next);
		codegen_note_transition(emit, 0, &transitions[i], "open", PROGRAM_NONE);
		emit_header_late(emit);
		emit_why_taken(emit, 0, &transitions[i]);
		if (transitions[i].target == PROGRAM_TARGET_END && emit_is_machine(emit))
			ebpf_jump(as, done);
		else if (transitions[i].target == PROGRAM_TARGET_END)
			emit_count_opened(emit, done);
		else if (transitions[i].target == PROGRAM_TARGET_MATCH && (emit->plan->aside || emit_is_machine(emit)))
			open_acting(emit, &transitions[i], done);
		else if (transitions[i].target == PROGRAM_TARGET_MATCH)
			open_match(emit, &transitions[i], done);
		else
			open_run(emit, &transitions[i], done);
		ebpf_jump(as, done);
		ebpf_bind(as, next);
	}
	ebpf_bind(as, done);
	emit_set_slots(emit, R7, sizeof(struct matcher_run));
}

void codegen_look_at_openings(struct emit *emit, uint32_t some)
{
	uint32_t count;
	const struct program_transition *transitions = emit_transitions(emit, 0, &count);

	for (uint32_t i = 0; i < count; i++) {
		uint32_t fit = transitions[i].fit, next = ebpf_label(emit->as);

		emit->lower.slots_zero = true;
		codegen_note_transition(emit, 0, &transitions[i], "fit", fit);
		if (fit == PROGRAM_NONE ||
		    !emit->context->plan->nodes[fit].divides) /* or else zeros would be counted twice */
			codegen_condition(emit, fit, next);
		ebpf_jump(emit->as, some);
		ebpf_bind(emit->as, next);
	}
	emit_set_slots(emit, R7, sizeof(struct matcher_run));
}

void codegen_count_openings(struct emit *emit)
{
	uint32_t count;
	const struct program_transition *transitions = emit_transitions(emit, 0, &count);

	if (!emit->context->plan->counts_why)
		return;
	meet_start(emit, transitions, count);
	for (uint32_t i = 0; i < count; i++) {
		uint32_t next = ebpf_label(emit->as);

		emit->lower.slots_zero = true;
		codegen_require_fit(emit, &transitions[i], next);
		ebpf_bind(emit->as, next);
	}
	emit_set_slots(emit, R7, sizeof(struct matcher_run));
}
