// SPDX-License-Identifier: BSD-2-Clause
/*
 * A rule's log of events, for runs that may keep many: it has a bounded size, and each entry holds one event and refers
 * to the one before it. A run, and a match until it is read, refers to its youngest entry; copies of a run share what
 * they have in common. So keeping an event, copying a run, a match and the end of a run each cost the same however many
 * events there are.
 *
 * An entry that nothing refers to any more is given back alone. The one that it refers to is let go when it is taken
 * again: until then nobody needs it, and nobody has to go along a chain.
 */

#include "ebpf/memory/log.h"

#include "ebpf/memory/layout-priv.h"
#include "ebpf/memory/stock.h"

#include <string.h>

#define ENTRY(member) offsetof(struct matcher_entry, member)

/* Where the number of the youngest entry lies behind slots that begin at off. */
static int32_t youngest_off(const struct emit *emit, size_t off)
{
	return (int32_t)(off + emit->rule->slot_bytes);
}

static void entry_address(struct emit *emit, uint8_t dst, uint8_t index)
{
	emit_item_address(emit, &emit->at->log, emit->plan->history.entry_bytes, dst, index);
}

/* One reference to the entry in r6 less. Leaves for stays if there are others. */
static void let_go(struct emit *emit, uint32_t stays)
{
	ebpf_mov_imm(emit->as, R1, UINT32_MAX);
	ebpf_emit(emit->as, insn_atomic(BPF_W, BPF_ADD | BPF_FETCH, R6, ENTRY(references), R1));
	ebpf_jump_if_imm(emit->as, BPF_JNE, R1, 1, stays);
}

static struct emit_stock log_stock_of(const struct emit *emit)
{
	return (struct emit_stock){
		.places = &emit->at->log,
		.bytes = emit->plan->history.entry_bytes,
		.count = emit->plan->history.log_entries,
		.fresh = emit->plan->history.log_entries,
		.next = ENTRY(next),
		.free = CPU(log_free),
		.counter = &emit->at->log,
		.used = offsetof(struct matcher_log, used),
		.take = "take_entry",
		.release = "forget",
		.before_release = let_go,
	};
}

/* The entry in r6 is filled but for its event: the older one is number r9. Overwrites r0, r2. */
static void fill_entry(struct emit *emit)
{
	struct ebpf_asm *as = emit->as;
	uint32_t first = ebpf_label(as);

	ebpf_store(as, BPF_W, R6, ENTRY(older), R9);
	ebpf_store_imm(as, BPF_W, R6, ENTRY(references), 1);
	ebpf_mov_imm(as, R1, 0);
	ebpf_jump_if_imm(as, BPF_JEQ, R9, 0, first);
	entry_address(emit, R2, R9);
	ebpf_load(as, BPF_W, R1, R2, ENTRY(count));
	ebpf_bind(as, first);
	ebpf_alu_imm(as, BPF_ADD, R1, 1);
	ebpf_store(as, BPF_W, R6, ENTRY(count), R1);
}

static uint32_t function_keep(struct emit *emit, uint32_t take)
{
	struct ebpf_asm *as = emit->as;
	uint32_t function = emit_function_of_numbers(emit, "keep", 1);

	ebpf_asm_enter(as, function);
	uint32_t none = ebpf_label(as), fresh = ebpf_label(as);

	ebpf_note(as, "an entry of the log, for an event");
	ebpf_mov(as, R9, R1);
	ebpf_mov_imm(as, R8, 0);
	ebpf_jump_if_imm(as, BPF_JGT, R9, (int32_t)emit->plan->history.log_entries, none);
	ebpf_call_function(as, take);
	ebpf_mov(as, R8, R0);
	ebpf_jump_if_imm(as, BPF_JEQ, R8, 0, none);
	ebpf_jump_if_imm(as, BPF_JGT, R8, (int32_t)emit->plan->history.log_entries, none);
	entry_address(emit, R6, R8);
	ebpf_load(as, BPF_W, R1, R6, ENTRY(older)); /* of its former life */
	ebpf_jump_if_imm(as, BPF_JEQ, R1, 0, fresh);
	ebpf_call_function(as, emit->functions.forget);
	ebpf_bind(as, fresh);
	fill_entry(emit);
	ebpf_bind(as, none);
	ebpf_mov(as, R0, R8);
	ebpf_exit(as);
	ebpf_asm_leave(as);
	return function;
}

void emit_log_functions(struct emit *emit)
{
	struct emit_stock stock = log_stock_of(emit);

	if (!emit->plan->history.log_entries)
		return;
	emit->functions.forget = memory_stock_function_release(emit, &stock);
	emit->functions.keep = function_keep(emit, memory_stock_function_take(emit, &stock));
}

/* A run that there is no room for to keep an event of. */
static void refuse_log_entry(struct emit *emit)
{
	emit_refuse(emit);
	emit_region(emit, R1, &emit->at->log);
	ebpf_mov_imm(emit->as, R2, 1);
	ebpf_atomic_add(emit->as, R1, offsetof(struct matcher_log, refused), R2);
}

/* The event in r6 becomes the youngest of what the slots in use refer to. */
void emit_log_append(struct emit *emit, const struct program_transition *transition, uint32_t full)
{
	struct ebpf_asm *as = emit->as;
	int32_t youngest = youngest_off(emit, (size_t)emit->lower.slots_off);
	uint32_t none = ebpf_label(as), busy = ebpf_label(as), kept = ebpf_label(as);
	struct ebpf_words words = { R2, R6, sizeof(struct matcher_entry), 0,
				    emit->program->types[transition->type].record_bytes / 8 };

	ebpf_load(as, BPF_W, R1, emit->lower.slots, youngest);
	ebpf_call_function(as, emit->functions.keep);
	ebpf_jump_if_imm(as, BPF_JEQ, R0, 0, none);
	ebpf_jump_if_imm(as, BPF_JGT, R0, (int32_t)emit->plan->history.log_entries, busy);
	ebpf_store(as, BPF_DW, emit->lower.slots, youngest, R0);
	ebpf_mov(as, R1, R0);
	entry_address(emit, R2, R1);
	ebpf_store_imm(as, BPF_DW, R2, ENTRY(element), (int32_t)transition->element);
	if (emit->context->plan->live) /* live events are not numbered */
		ebpf_store_imm(as, BPF_DW, R6, HEADER(seq), 0);
	ebpf_lower_copy(&emit->lower, &words);
	ebpf_jump(as, kept);
	ebpf_bind(as, busy);
	emit_lose(emit);
	ebpf_jump(as, full);
	ebpf_bind(as, none);
	refuse_log_entry(emit);
	ebpf_jump(as, full);
	ebpf_bind(as, kept);
}

void emit_log_share(struct emit *emit, uint8_t base, size_t off)
{
	struct ebpf_asm *as = emit->as;
	uint32_t none = ebpf_label(as);

	if (!emit->plan->history.log_entries)
		return;
	ebpf_load(as, BPF_W, R1, base, youngest_off(emit, off));
	ebpf_jump_if_imm(as, BPF_JEQ, R1, 0, none);
	ebpf_jump_if_imm(as, BPF_JGT, R1, (int32_t)emit->plan->history.log_entries, none);
	entry_address(emit, R2, R1);
	ebpf_mov_imm(as, R1, 1);
	ebpf_emit(as, insn_atomic(BPF_W, BPF_ADD, R2, ENTRY(references), R1));
	ebpf_bind(as, none);
}

void emit_log_forget(struct emit *emit, uint8_t base, size_t off)
{
	struct ebpf_asm *as = emit->as;
	int32_t youngest = youngest_off(emit, off);
	uint32_t none = ebpf_label(as);

	if (!emit->plan->history.log_entries)
		return;
	ebpf_load(as, BPF_W, R1, base, youngest);
	ebpf_jump_if_imm(as, BPF_JEQ, R1, 0, none);
	ebpf_store_imm(as, BPF_DW, base, youngest, 0);
	ebpf_call_function(as, emit->functions.forget);
	ebpf_bind(as, none);
}

uint64_t memory_log_bytes(const struct plan_history *history)
{
	return history->log_entries ? (history->log_entries + 1ull) * history->entry_bytes : 0;
}

uint64_t memory_log_refused(const struct memory *memory, uint32_t rule)
{
	const struct matcher_log *log = memory_at(memory, &memory->rules[rule].log);

	if (!memory->plan->rules[rule].history.log_entries)
		return 0;
	return __atomic_load_n(&log->refused, __ATOMIC_RELAXED);
}

static struct matcher_entry *entry_of(const struct memory *memory, uint32_t rule, uint32_t number)
{
	const struct plan_history *history = &memory->plan->rules[rule].history;
	uint8_t *log = memory_at(memory, &memory->rules[rule].log);

	return (struct matcher_entry *)(log + (uint64_t)number * history->entry_bytes);
}

/* The number of the youngest; 0: there is none. */
static uint32_t youngest_of(const struct memory *memory, const struct matcher_match *match)
{
	const struct plan_rule *rule = &memory->plan->rules[match->rule];
	uint64_t number;

	memcpy(&number, (const uint8_t *)(match + 1) + rule->rule->slot_bytes, sizeof number);
	return number <= rule->history.log_entries ? (uint32_t)number : 0;
}

uint32_t memory_log_read(const struct memory *memory, const struct matcher_match *match,
			 struct program_match_event *events)
{
	uint32_t most = memory->plan->rules[match->rule].history.log_entries;
	uint32_t number = youngest_of(memory, match), count, left;

	count = number ? entry_of(memory, match->rule, number)->count : 0;
	if (count > most)
		return 0;
	for (left = count; left && number && number <= most; left--) {
		const struct matcher_entry *entry = entry_of(memory, match->rule, number);

		events[left - 1] = (struct program_match_event){ .record = (const struct event_header *)(entry + 1),
								 .element = (uint32_t)entry->element };
		number = entry->older;
	}
	return left ? 0 : count;
}

/* Any CPU may take it again; that of the match is as good as another. */
static void give_entry_back(struct matcher_cpu *cpu, struct matcher_entry *entry, uint32_t number)
{
	uint64_t top = __atomic_load_n(&cpu->log_free, __ATOMIC_RELAXED), fresh;

	do {
		entry->next = (uint32_t)top;
		fresh = ((top >> 32) + 1) << 32 | number;
	} while (!__atomic_compare_exchange_n(&cpu->log_free, &top, fresh, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED));
}

void memory_log_forget(const struct memory *memory, const struct matcher_match *match)
{
	struct matcher_cpu *cpus = memory_at(memory, &memory->rules[match->rule].cpus);
	uint32_t number = youngest_of(memory, match);
	struct matcher_entry *entry;

	if (!number)
		return;
	entry = entry_of(memory, match->rule, number);
	if (__atomic_sub_fetch(&entry->references, 1, __ATOMIC_SEQ_CST) == 0)
		give_entry_back(&cpus[match->cpu < memory->cpu_count ? match->cpu : 0], entry, number);
}
