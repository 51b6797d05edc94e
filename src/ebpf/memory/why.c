// SPDX-License-Identifier: BSD-2-Clause
/*
 * Generates code that counts what becomes of runs (program/why/why.h): each CPU has the numbers of a rule for itself.
 * Where it is not asked for, nothing here makes an instruction. All of it overwrites r0-r5.
 */

#include "ebpf/memory/layout-priv.h"

#include "ebpf/memory/emit.h"
#include "program/why/why.h"

static bool counts_refusals(const struct emit *emit)
{
	return emit->context->plan->counts_why;
}

/* 8 bytes at off in what a CPU has of region. */
struct counted {
	const struct memory_region *region;
	uint32_t stride, off;
};

/* r1 = the address of this CPU's; leaves for none. */
static void load_counts_address(const struct emit_context *context, struct ebpf_asm *as, const struct counted *counted,
				uint32_t none)
{
	int fd = context->memory->maps[counted->region->map].fd;

	ebpf_call(as, BPF_FUNC_get_smp_processor_id);
	ebpf_jump_if_imm(as, BPF_JGE, R0, (int32_t)context->memory->cpu_count, none);
	ebpf_alu_imm(as, BPF_MUL, R0, (int32_t)counted->stride);
	ebpf_load_value(as, R1, fd, counted->region->off + counted->off);
	ebpf_alu(as, BPF_ADD, R1, R0);
}

static void add_one_there(struct ebpf_asm *as, uint32_t done)
{
	ebpf_mov_imm(as, R2, 1);
	ebpf_atomic_add(as, R1, 0, R2);
	ebpf_bind(as, done);
}

static void add_refusal_word(struct emit *emit, uint32_t word)
{
	const struct counted counted = { &emit->at->why, emit->at->why_stride, word * 8 };
	uint32_t done = ebpf_label(emit->as);

	load_counts_address(emit->context, emit->as, &counted, done);
	add_one_there(emit->as, done);
}

void emit_why_seen(const struct emit_context *context, struct ebpf_asm *as, uint32_t type, const struct plan_part *part)
{
	const struct plan_part before = { .first = 0, .end = part ? part->first : 0 };
	const struct counted counted = { &context->memory->seen, context->memory->seen_stride, type * 8 };
	uint32_t done = ebpf_label(as);

	if (!context->plan->counts_why || plan_wanting(context->plan, type, &before))
		return;
	load_counts_address(context, as, &counted, done);
	add_one_there(as, done);
}

void emit_why_rule(struct emit *emit, enum program_why_rule how)
{
	if (counts_refusals(emit))
		add_refusal_word(emit, how);
}

void emit_why_broke(struct emit *emit)
{
	if (counts_refusals(emit))
		add_refusal_word(emit,
				 program_why_type(emit->program, emit->rule, emit->event->type) + PROGRAM_WHY_BROKE);
}

void emit_why_expired(struct emit *emit)
{
	const struct counted counted = { &emit->at->why, emit->at->why_stride,
					 (program_why_state(0) + PROGRAM_WHY_EXPIRED) * 8 };
	struct ebpf_asm *as = emit->as;
	uint32_t done = ebpf_label(as);

	if (!counts_refusals(emit))
		return;
	load_counts_address(emit->context, as, &counted, done);
	ebpf_load(as, BPF_H, R0, R7, RUN(state));
	ebpf_jump_if_imm(as, BPF_JGE, R0, (int32_t)emit->rule->state_count, done);
	ebpf_alu_imm(as, BPF_MUL, R0, PROGRAM_WHY_STATE_WORDS * 8);
	ebpf_alu(as, BPF_ADD, R1, R0);
	add_one_there(as, done);
}

void emit_why_met(struct emit *emit, const struct program_transition *first)
{
	if (counts_refusals(emit))
		add_refusal_word(emit, program_why_transition(emit->program, emit->rule, first) + PROGRAM_WHY_MET);
}

void emit_why_true(struct emit *emit, const struct program_transition *transition, uint32_t at)
{
	add_refusal_word(emit, program_why_transition(emit->program, emit->rule, transition) + at);
}

/* Where a run in base keeps who opened it: process, then thread. */
static int32_t who_at(const struct emit *emit)
{
	return (int32_t)(sizeof(struct matcher_run) + emit->plan->area_bytes - PLAN_WHO_BYTES);
}

void emit_why_opened(struct emit *emit, uint8_t base)
{
	struct ebpf_asm *as = emit->as;

	if (!emit->plan->keeps_who)
		return;
	ebpf_load(as, BPF_W, R0, R6, HEADER(pid));
	ebpf_store(as, BPF_W, base, who_at(emit), R0);
	ebpf_load(as, BPF_W, R0, R6, HEADER(tid));
	ebpf_store(as, BPF_W, base, who_at(emit) + 4, R0);
}

/* The event in r6 ends the run in r7: is it another one's? */
static void add_others(struct emit *emit, uint32_t first)
{
	static const struct {
		size_t event;
		enum program_why_transition count;
	} who[] = { { HEADER(pid), PROGRAM_WHY_OTHER_PROCESS }, { HEADER(tid), PROGRAM_WHY_OTHER_THREAD } };
	struct ebpf_asm *as = emit->as;

	for (int i = 0; i < 2 && emit->plan->keeps_who; i++) {
		uint32_t same = ebpf_label(as);

		ebpf_load(as, BPF_W, R0, R6, (int32_t)who[i].event);
		ebpf_load(as, BPF_W, R1, R7, who_at(emit) + 4 * i);
		ebpf_jump_if(as, BPF_JEQ, R0, R1, same);
		add_refusal_word(emit, first + who[i].count);
		ebpf_bind(as, same);
	}
}

void emit_why_taken(struct emit *emit, uint32_t state, const struct program_transition *transition)
{
	uint32_t first;

	if (!counts_refusals(emit))
		return;
	first = program_why_transition(emit->program, emit->rule, transition);
	add_refusal_word(emit, first + PROGRAM_WHY_TAKEN);
	if (state && transition->target == PROGRAM_TARGET_END)
		add_others(emit, first);
}

void emit_why_failed(struct emit *emit, uint32_t state, const struct program_transition *transition)
{
	uint32_t first;

	if (!counts_refusals(emit))
		return;
	first = program_why_transition(emit->program, emit->rule, transition);
	add_refusal_word(emit, first + PROGRAM_WHY_FAILED);
	if (state && transition->target != PROGRAM_TARGET_END)
		add_others(emit, first);
}

/* A CPU's numbers begin a line of the cache. */
static uint32_t stride_of(uint32_t words)
{
	return (words * 8 + MATCHER_CACHE_LINE - 1) / MATCHER_CACHE_LINE * MATCHER_CACHE_LINE;
}

uint64_t memory_why_bytes(struct memory *memory, const struct plan_rule *rule)
{
	struct memory_rule *at = &memory->rules[rule->index];

	if (memory->plan->counts_why)
		at->why_stride = stride_of(program_why_words(memory->plan->program, rule->rule));
	return (uint64_t)at->why_stride * memory->cpu_count;
}

uint64_t memory_seen_bytes(struct memory *memory)
{
	if (memory->plan->counts_why)
		memory->seen_stride = stride_of(memory->plan->program->type_count);
	return (uint64_t)memory->seen_stride * memory->cpu_count;
}

static uint64_t load_count(const uint64_t *count)
{
	return __atomic_load_n(count, __ATOMIC_RELAXED);
}

static void add_seen(const struct memory *memory, const struct program_rule *rule, uint64_t *counts)
{
	const struct program *program = memory->plan->program;
	const uint8_t *all = memory_at(memory, &memory->seen);

	for (uint32_t i = 0; i < rule->over_count; i++) {
		uint32_t type = program_over(program, rule)[i];

		for (uint32_t cpu = 0; cpu < memory->cpu_count && program_why_looks_at(program, rule, type); cpu++)
			counts[program_why_type(program, rule, type) + PROGRAM_WHY_SEEN] +=
				load_count((const uint64_t *)(all + (size_t)cpu * memory->seen_stride) + type);
	}
}

/* Runs that wait; those that a loss has spoiled end when they are next met. */
static void add_open_runs(const struct memory *memory, const struct plan_rule *rule, uint64_t *counts)
{
	const struct memory_rule *at = &memory->rules[rule->index];
	const struct matcher_control *control = memory_at(memory, &at->control);
	const uint8_t *runs = memory_at(memory, &at->runs);
	uint64_t used = load_count(&control->used);

	if (used >= rule->rule->pool)
		used = at->places;
	for (uint64_t i = 1; i <= used; i++) {
		const struct matcher_run *run = (const struct matcher_run *)(runs + i * at->stride);

		if (!__atomic_load_n(&run->bucket, __ATOMIC_RELAXED) || run->state >= rule->rule->state_count)
			continue;
		if (rule->rule->loss == PROGRAM_DISCARD && run->epoch != (uint32_t)load_count(&control->epoch))
			counts[PROGRAM_WHY_DISCARDED]++;
		else
			counts[program_why_state(run->state) + PROGRAM_WHY_OPEN]++;
	}
}

void memory_count_why(const struct memory *memory, uint32_t index, uint64_t *counts)
{
	const struct plan_rule *rule = &memory->plan->rules[index];
	const struct memory_rule *at = &memory->rules[index];
	uint32_t words = program_why_words(memory->plan->program, rule->rule);
	const uint8_t *own;

	if (!memory->plan->counts_why || !rule->here)
		return;
	own = memory_at(memory, &at->why);
	for (uint32_t cpu = 0; cpu < memory->cpu_count; cpu++)
		for (uint32_t i = 0; i < words; i++)
			counts[i] += load_count((const uint64_t *)(own + (size_t)cpu * at->why_stride) + i);
	add_seen(memory, rule->rule, counts);
	if (rule->has_runs)
		add_open_runs(memory, rule, counts);
}
