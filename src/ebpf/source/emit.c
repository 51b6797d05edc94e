// SPDX-License-Identifier: BSD-2-Clause
/*
 * Generates a source program, which leaves as early as possible. First the call's number where types are about certain
 * calls, then the scope, then the conditions that all entries share, then entries without or with few conditions one by
 * one, then those that differ in one constant (system call numbers) in a binary tree. The clock is read once per
 * firing, and only where somebody wants to know; all types raised by one firing have the same ts.
 *
 * Registers: r6 record, r7 the current task (where it cannot be looked into: pid_tgid) until the first body, r8 the
 * value that a tree decides over, r9 context.
 */

#include "ebpf/source/emit.h"

#include "ebpf/path/memo.h"
#include "ebpf/source/apart.h"
#include "ebpf/source/dispatch.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

/* Header fields, as event_header_fields. */
enum { COUNTER_BYTES = sizeof(struct source_counters) };

enum {
	TS = 1 << 0,
	CPU = 1 << 1,
	PID = 1 << 2,
	TID = 1 << 3,
	COMM = 1 << 4,
	ALL_HEADER = 31,
	PAST_HEADER = PID | TID | COMM
};

struct emission {
	struct ebpf_asm *as;
	const struct source_unit *unit;
	const struct source_emit_options *options;
	struct source_style style;
	bool keeps_task;      /* r7 is the task, not pid_tgid */
	int16_t context_slot; /* the context, for entries after a body */
	int16_t record;       /* on the stack, where it is there */
	uint32_t scratch;
	bool has_late_ts;
	bool is_mixed; /* some entries are packed, others are not */
	bool has_records;
	struct source_await_slots awaited; /* late */
	bool counts_others;
	uint32_t other; /* where the call is one of 32-bit code */
	uint32_t out;
};

/* What holds at a point of the code. */
struct state {
	uint32_t have; /* header fields in the record */
	bool dirty;    /* a body has run: r7-r9 are lost */
};

/* How values are had at a point of the code. */
static const struct source_style *style_at(struct emission *emission, const struct state *state)
{
	emission->style.task = emission->keeps_task && !state->dirty;
	return &emission->style;
}

static uint32_t header_needs(const struct source_entry *entry)
{
	const struct ebpf_needs *needs = entry->want->needs;
	uint32_t bits = 0;

	if (!needs)
		return ALL_HEADER;
	for (int i = 0; i < EVENT_HEADER_FIELDS; i++)
		bits |= needs->header[i] ? 1u << i : 0;
	return bits;
}

/* r6 = where the records are built. */
static void emit_record_place(struct emission *emission)
{
	struct ebpf_asm *as = emission->as;

	if (emission->scratch) {
		path_emit_memory(as, &emission->options->memory, SOURCE_REG_RECORD, emission->out);
		ebpf_alu_imm(as, BPF_ADD, SOURCE_REG_RECORD, COUNTER_BYTES);
		return;
	}
	ebpf_address(as, SOURCE_REG_RECORD, R10, emission->record);
}

/* r6 = the records' place. */
static void emit_count(struct emission *emission, size_t counter)
{
	struct ebpf_asm *as = emission->as;
	uint32_t uncounted = ebpf_label(as);

	if (emission->scratch) {
		source_emit_count(as, SOURCE_REG_RECORD, (int32_t)counter - COUNTER_BYTES);
		return;
	}
	path_emit_memory(as, &emission->options->memory, R1, uncounted);
	source_emit_count(as, R1, (int32_t)counter);
	ebpf_bind(as, uncounted);
}

static void emit_ids(struct emission *emission, const struct state *state, uint32_t wanted)
{
	struct ebpf_asm *as = emission->as;

	if (emission->style.past) {
		ebpf_load(as, BPF_W, R0, SOURCE_REG_CONTEXT, offsetof(struct source_awaited, tid));
		ebpf_store(as, BPF_W, SOURCE_REG_RECORD, offsetof(struct event_header, tid), R0);
		ebpf_load(as, BPF_W, R0, SOURCE_REG_CONTEXT, offsetof(struct source_awaited, pid));
		ebpf_store(as, BPF_W, SOURCE_REG_RECORD, offsetof(struct event_header, pid), R0);
		return;
	}
	if (emission->keeps_task && !state->dirty) {
		if (wanted & TID) {
			path_emit_value(as, style_at(emission, state), emission->options->tid);
			ebpf_store(as, BPF_W, SOURCE_REG_RECORD, offsetof(struct event_header, tid), R0);
		}
		if (wanted & PID) {
			path_emit_value(as, style_at(emission, state), emission->options->tgid);
			ebpf_store(as, BPF_W, SOURCE_REG_RECORD, offsetof(struct event_header, pid), R0);
		}
		return;
	}
	if (!state->dirty)
		ebpf_mov(as, R0, R7);
	else
		ebpf_call(as, BPF_FUNC_get_current_pid_tgid);
	if (wanted & TID)
		ebpf_store(as, BPF_W, SOURCE_REG_RECORD, offsetof(struct event_header, tid), R0);
	if (wanted & PID) {
		ebpf_alu_imm(as, BPF_RSH, R0, 32);
		ebpf_store(as, BPF_W, SOURCE_REG_RECORD, offsetof(struct event_header, pid), R0);
	}
}

/* asked: a body may have read the clock for this firing already, and all its types have one ts. */
static void emit_clock(struct emission *emission, bool asked)
{
	struct ebpf_asm *as = emission->as;
	uint32_t known = ebpf_label(as);

	if (asked) {
		ebpf_load(as, BPF_DW, R0, SOURCE_REG_RECORD, offsetof(struct event_header, ts));
		ebpf_jump_if_imm(as, BPF_JNE, R0, 0, known);
	}
	ebpf_call(as, BPF_FUNC_ktime_get_ns);
	ebpf_store(as, BPF_DW, SOURCE_REG_RECORD, offsetof(struct event_header, ts), R0);
	ebpf_bind(as, known);
}

/* Fills those header fields of wanted that the record lacks. */
static void emit_header(struct emission *emission, struct state *state, uint32_t wanted)
{
	struct ebpf_asm *as = emission->as;

	wanted &= ~state->have;
	state->have |= wanted;
	if (wanted & TS)
		emit_clock(emission, emission->has_late_ts && state->dirty);
	if (wanted & (PID | TID))
		emit_ids(emission, state, wanted);
	if (wanted & CPU) {
		ebpf_call(as, BPF_FUNC_get_smp_processor_id);
		ebpf_store(as, BPF_W, SOURCE_REG_RECORD, offsetof(struct event_header, cpu), R0);
	}
	if (wanted & COMM && emission->style.past)
		source_await_emit_comm(as, SOURCE_REG_RECORD);
	else if (wanted & COMM)
		ebpf_call_comm(as, SOURCE_REG_RECORD, offsetof(struct event_header, comm));
}

/* All of the record but the header's time and names. */
static void emit_record(struct emission *emission, const struct source_entry *entry, const struct source_style *style)
{
	struct ebpf_asm *as = emission->as;
	const struct event_type *type = entry->want->type;

	ebpf_store_imm(as, BPF_W, SOURCE_REG_RECORD, offsetof(struct event_header, type), (int32_t)entry->want->index);
	if (!entry->want->needs)
		ebpf_store_imm(as, BPF_DW, SOURCE_REG_RECORD, offsetof(struct event_header, seq), 0);
	for (uint32_t i = 0; i < type->field_count; i++) {
		struct source_style own = *style;

		if (!entry->paths[i])
			continue;
		own.leaves |= type->fields[i].value != EVENT_STRING;
		ebpf_note(as, "%s.%s", type->name, type->fields[i].name);
		path_emit_field(as, &own, entry->paths[i], &type->fields[i]);
	}
}

/*
 * The body of one entry. Where there are records as well, packed strings lie behind their header, and what the body
 * says of the time is the time of the record: one event has one ts, in the ring and for rules.
 */
static void emit_entry_body(struct emission *emission, const struct source_entry *entry,
			    const struct source_style *style)
{
	struct ebpf_asm *as = emission->as;
	bool shares = emission->is_mixed && entry->want->packed;

	if (shares)
		ebpf_alu_imm(as, BPF_ADD, SOURCE_REG_RECORD, sizeof(struct event_header));
	emission->options->body(emission->options->context, as, entry, style, emission->options->scope);
	if (!shares)
		return;
	ebpf_alu_imm(as, BPF_ADD, SOURCE_REG_RECORD, -(int32_t)sizeof(struct event_header));
	if (emission->options->late)
		return;
	ebpf_store(as, BPF_DW, SOURCE_REG_RECORD, offsetof(struct event_header, ts), R1);
}

/* A record with nothing but its header. */
static void emit_bare(struct emission *emission, const struct source_entry *entry)
{
	struct state state = { .have = emission->options->late ? TS : 0, .dirty = true };

	if (emission->style.past)
		ebpf_load(emission->as, BPF_DW, SOURCE_REG_CONTEXT, R10, emission->context_slot);
	emit_header(emission, &state, ALL_HEADER);
	ebpf_store_imm(emission->as, BPF_W, SOURCE_REG_RECORD, offsetof(struct event_header, type),
		       (int32_t)entry->want->index);
}

/* Where control comes from label unread, r6-r9 may be anything: the entry's call is awaited, or the event unread. */
static void emission_unread(struct emission *emission, const struct source_entry *entry, uint32_t next)
{
	const struct source_emit_options *options = emission->options;
	struct source_style style = emission->style;
	struct ebpf_asm *as = emission->as;

	ebpf_note(as, "cannot read %s", entry->want->type->name);
	emit_record_place(emission);
	style.task = style.leaves = false;
	style.known = NULL;
	if (!options->late && entry->await) {
		source_await_emit(options->await, as, &style, entry, emission->context_slot);
		ebpf_jump_if_imm(as, BPF_JEQ, R0, 0, next);
	}
	if (!entry->want->needs)
		emit_bare(emission, entry);
	options->unread(options->context, as, entry, &style, options->scope);
}

/* Goes to next unless the call is awaited for the entry; to unread if its memory is gone. r9 is the call. */
static void emit_is_awaited(struct emission *emission, const struct source_entry *entry, uint32_t next, uint32_t unread)
{
	struct ebpf_asm *as = emission->as;

	ebpf_load(as, BPF_DW, R1, SOURCE_REG_CONTEXT, offsetof(struct source_awaited, entries));
	ebpf_mov_imm(as, R2, UINT64_C(1) << (entry->await - 1));
	ebpf_alu(as, BPF_AND, R1, R2);
	ebpf_jump_if_imm(as, BPF_JEQ, R1, 0, next);
	ebpf_load(as, BPF_DW, R1, R10, emission->awaited.gone);
	ebpf_jump_if_imm(as, BPF_JNE, R1, 0, unread);
}

/* Whether some number of the entry lies in memory of the user: a record cannot say that it is unread. */
static bool has_user_number(const struct source_entry *entry)
{
	for (uint32_t i = 0; i < entry->want->type->field_count; i++)
		if (entry->want->type->fields[i].value != EVENT_STRING && path_reads_user(entry->paths[i]))
			return true;
	return false;
}

/* Conditions, extraction, body of one entry. Leaves state as it is after the entry, whether its conditions held or not.
 */
static void emit_entry(struct emission *emission, struct state *state, const struct dispatch_entry *item)
{
	struct ebpf_asm *as = emission->as;
	const struct source_entry *entry = item->entry;
	const struct event_type *type = entry->want->type;
	const struct source_style *style = style_at(emission, state);
	uint32_t next = ebpf_label(as), unread = ebpf_label(as);
	bool late = emission->options->late;
	struct source_style reading = *style;
	struct path_memo memo = { 0 };
	struct state after = *state;

	ebpf_note(as, "%s", type->name);
	if (state->dirty)
		ebpf_load(as, BPF_DW, SOURCE_REG_CONTEXT, R10, emission->context_slot);
	dispatch_note_conditions(item, &memo);
	path_memo_begin(&memo, as, style);
	reading.memo = &memo;
	dispatch_emit_conditions(as, &reading, item, false, next);
	if (late)
		emit_is_awaited(emission, entry, next, unread);
	reading.unread = unread;
	reading.leaves = true;
	dispatch_emit_conditions(as, &reading, item, true, next);
	path_memo_end(&memo, as);
	reading.memo = NULL;
	reading.known = NULL; /* some of the rest is in functions with a stack of their own */
	emit_header(emission, &after, header_needs(entry) | (style->past && !entry->want->packed ? PAST_HEADER : 0));
	reading.leaves = entry->await && !late;
	if (!entry->want->packed)
		emit_record(emission, entry, &reading);
	if (entry->want->counted)
		emit_count(emission, offsetof(struct source_counters, events));
	emit_entry_body(emission, entry, &reading);
	if (entry->await || source_asks_user(entry) || has_user_number(entry)) {
		ebpf_jump(as, next);
		ebpf_bind(as, unread);
		emission_unread(emission, entry, next);
	}
	ebpf_bind(as, next);
	if (item->undecided == 0)
		state->have = after.have;
	state->dirty = true;
}

/* The leaf for one constant: several entries may share it. */
static void emit_leaf(struct emission *emission, struct state state, const struct dispatch_entry *items, size_t count)
{
	uint32_t wanted = 0;

	for (size_t i = 0; i < count && count > 1 && !emission->is_mixed; i++)
		wanted |= header_needs(items[i].entry) & TS;
	emit_header(emission, &state, wanted);
	for (size_t i = 0; i < count; i++)
		emit_entry(emission, &state, &items[i]);
	ebpf_jump(emission->as, emission->out);
}

/* Entries are sorted by constant; r8 holds the value. Halves until one constant is left. */
static void emit_tree(struct emission *emission, struct state state, const struct dispatch_entry *items, size_t count)
{
	struct ebpf_asm *as = emission->as;
	size_t middle = count / 2;

	while (middle > 0 && items[middle - 1].constant == items[middle].constant)
		middle--;
	if (middle == 0) {
		/* The left half is one constant; see whether the right one goes beyond. */
		while (middle < count && items[middle].constant == items[0].constant)
			middle++;
	}
	if (middle == count) {
		ebpf_jump_if_imm(as, BPF_JNE, R8, (int32_t)items[0].constant, emission->out);
		emit_leaf(emission, state, items, count);
		return;
	}
	uint32_t right = ebpf_label(as);

	ebpf_jump_if_imm(as, BPF_JSGE, R8, (int32_t)items[middle].constant, right);
	emit_tree(emission, state, items, middle);
	ebpf_bind(as, right);
	emit_tree(emission, state, items + middle, count - middle);
}

static void emit_dispatch(struct emission *emission, const struct dispatch *dispatch)
{
	struct ebpf_asm *as = emission->as;
	struct state state = { .have = emission->options->late ? TS : 0 };
	const struct source_style *style = style_at(emission, &state);
	uint32_t clock_wants = 0;
	bool sure = false;

	for (uint32_t i = 0; i < dispatch->shared_count; i++) {
		bool is_native =
			emission->counts_others && path_same_condition(&dispatch->shared[i], emission->unit->native);

		ebpf_note(as, "what all types here have in common");
		path_emit_condition(as, style, &dispatch->shared[i], is_native ? emission->other : emission->out);
	}
	for (size_t i = 0; i < dispatch->line_count; i++) {
		bool wants = header_needs(dispatch->line[i].entry) & TS;

		clock_wants += wants;
		sure = sure || (wants && dispatch->line[i].undecided == 0);
	}
	for (size_t i = 0; i < dispatch->tree_count; i++)
		clock_wants += (header_needs(dispatch->tree[i].entry) & TS) && i == 0;
	if (!emission->is_mixed && (sure || (clock_wants > 1 && dispatch->line_count > 0)))
		emit_header(emission, &state, TS);
	for (size_t i = 0; i < dispatch->line_count; i++)
		emit_entry(emission, &state, &dispatch->line[i]);
	if (dispatch->tree_count == 0)
		return;
	ebpf_note(as, "which of %zu types is it?", dispatch->tree_count);
	if (state.dirty)
		ebpf_load(as, BPF_DW, SOURCE_REG_CONTEXT, R10, emission->context_slot);
	path_emit_value(as, style_at(emission, &state), dispatch->path);
	ebpf_mov(as, R8, R0);
	emit_tree(emission, state, dispatch->tree, dispatch->tree_count);
}

/* r7 = the current task or pid_tgid, r8 = its process. A call costs more than a load where returns are guarded. */
static void emit_current(struct emission *emission)
{
	struct ebpf_asm *as = emission->as;
	const struct source_emit_options *options = emission->options;

	emission->keeps_task = options->tid && options->tgid && !options->style.cautious;
	if (!emission->keeps_task) {
		ebpf_call(as, BPF_FUNC_get_current_pid_tgid);
		ebpf_mov(as, R7, R0);
		ebpf_mov(as, R8, R0);
		ebpf_alu_imm(as, BPF_RSH, R8, 32);
		return;
	}
	ebpf_call(as, BPF_FUNC_get_current_task_btf);
	ebpf_mov(as, R7, R0);
	emission->style.task = true;
	path_emit_value(as, &emission->style, options->tgid);
	ebpf_emit(as, insn_alu32(BPF_MOV, R8, R0));
}

/*
 * r7 as above; goes out unless the current process or one that the event names is in scope. Where everything is
 * observed, what we do ourselves is not, whomever it is about: a rule on it would feed itself.
 */
static void emit_scope(struct emission *emission)
{
	struct ebpf_asm *as = emission->as;
	const struct source_unit *unit = emission->unit;
	const struct scope *scope = emission->options->scope;
	uint32_t in = ebpf_label(as);

	ebpf_note(as, "in scope?");
	emit_current(emission);
	if (unit->is_own) {
		uint32_t own = ebpf_label(as);

		scope_emit_own(scope, as, R8, own);
		ebpf_jump(as, emission->out);
		ebpf_bind(as, own);
	} else if (unit->scope.count)
		scope_emit_foreign(scope, as, R8, emission->out);
	for (uint32_t i = 0; i <= unit->scope.count; i++) {
		uint32_t next = i < unit->scope.count ? ebpf_label(as) : emission->out;

		scope_emit_test(scope, as, R8, next);
		if (next == emission->out)
			break;
		ebpf_jump(as, in);
		ebpf_bind(as, next);
		path_emit_value(as, &emission->style, unit->scope.items[i]);
		ebpf_emit(as, insn_alu32(BPF_MOV, R8, R0));
	}
	ebpf_bind(as, in);
}

/* r0 is the value of path, which is known from here on. */
static void know_path(struct emission *emission, const struct source_node *path)
{
	emission->style.known_slot = ebpf_stack_take(emission->as, 8);
	emission->style.known = path;
	ebpf_store(emission->as, BPF_DW, R10, emission->style.known_slot, R0);
}

/* Goes to quiet where the call's number is enough to say that there is no event; 32-bit ones in scope are counted. */
static void emit_calls(struct emission *emission, uint32_t quiet)
{
	struct ebpf_asm *as = emission->as;
	const struct source_emit_options *options = emission->options;
	uint32_t unwanted = ebpf_label(as), wanted = ebpf_label(as), other = ebpf_label(as);

	if (!options->calls.number)
		return;
	source_calls_emit(as, &emission->style, &options->calls, &options->memory,
			  emission->counts_others ? unwanted : quiet);
	know_path(emission, options->calls.number);
	if (!emission->counts_others)
		return;
	ebpf_jump(as, wanted);
	ebpf_bind(as, unwanted);
	ebpf_note(as, "is it of 32-bit code?");
	path_emit_condition(as, &emission->style, emission->unit->native, other);
	ebpf_jump(as, quiet);
	ebpf_bind(as, other);
	emit_scope(emission);
	emit_record_place(emission);
	ebpf_jump(as, emission->other);
	ebpf_bind(as, wanted);
	emission->style.task = false;
}

/* Before everything else: leaves for out unless something in scope happens here, for quiet without any trace. */
static void emission_begin(struct emission *emission, uint32_t quiet)
{
	struct ebpf_asm *as = emission->as;

	emission->style = emission->options->style;
	if (!emission->options->late) {
		ebpf_mov(as, SOURCE_REG_CONTEXT, R1);
		if (emission->unit->apart_count)
			source_apart_emit(as, emission->unit);
		emit_calls(emission, quiet);
		emit_scope(emission);
		if (emission->unit->cookie) {
			path_emit_value(as, &emission->style, emission->unit->cookie);
			know_path(emission, emission->unit->cookie);
		}
	} else {
		emission->style.detached = true;
		emission->awaited.after_exec = emission->style.past;
		source_await_emit_find(emission->options->await, as, &emission->style, &emission->awaited, quiet);
		emit_current(emission);
	}
	if (emission->unit->entry_count > 1 || emission->unit->awaits)
		ebpf_store(as, BPF_DW, R10, emission->context_slot, SOURCE_REG_CONTEXT);
	emit_record_place(emission);
	if (emission->options->late && emission->has_records)
		source_await_emit_ts(as, SOURCE_REG_RECORD);
	else if (emission->has_late_ts)
		ebpf_store_imm(as, BPF_DW, SOURCE_REG_RECORD, offsetof(struct event_header, ts), 0);
}

static void emit_prefetch(struct emission *emission)
{
	const struct source_emit_options *options = emission->options;

	emission->style = options->style;
	ebpf_mov(emission->as, SOURCE_REG_CONTEXT, R1);
	emit_scope(emission);
	source_prefetch_emit(emission->as, emission->unit, &emission->style, options->memory.map, COUNTER_BYTES);
	ebpf_bind(emission->as, emission->out);
	ebpf_return(emission->as, 0);
}

void source_emit_unit(struct ebpf_asm *as, const struct source_unit *unit, const struct source_emit_options *options)
{
	struct emission emission = {
		.as = as,
		.unit = unit,
		.options = options,
		.scratch = source_scratch_bytes(unit),
		.has_late_ts = source_has_late_ts(unit),
		.is_mixed = source_is_mixed(unit),
		.counts_others = unit->counts_others && !options->late,
		.other = ebpf_label(as),
		.out = ebpf_label(as),
	};
	struct dispatch *dispatch;
	int result;
	uint32_t extent = 0, quiet = ebpf_label(as);
	int16_t chained;

	if (options->prefetches) {
		emit_prefetch(&emission);
		return;
	}
	result = dispatch_new(unit, &dispatch);
	if (result) {
		ebpf_asm_fail(as, result);
		return;
	}
	for (size_t i = 0; i < unit->entry_count; i++) {
		extent = unit->entries[i].extent > extent ? unit->entries[i].extent : extent;
		emission.has_records |= !unit->entries[i].want->packed;
	}
	options->begin(options->context, as, unit, &options->style, options->scope);
	emission.context_slot = ebpf_stack_take(as, 8);
	if (!emission.scratch)
		emission.record = ebpf_stack_take(as, extent);
	chained = chain_emit_begin(as, &options->place);
	emission_begin(&emission, quiet);
	emit_dispatch(&emission, dispatch);
	if (emission.counts_others) {
		ebpf_jump(as, emission.out);
		ebpf_bind(as, emission.other);
		emit_count(&emission, offsetof(struct source_counters, calls_32bit));
	}
	ebpf_bind(as, emission.out);
	if (options->late)
		source_await_emit_forget(options->await, as, &emission.awaited);
	ebpf_bind(as, quiet);
	chain_emit_next(as, &options->place, chained);
	ebpf_note(as, "done");
	ebpf_return(as, 0);
	dispatch_free(dispatch);
}
