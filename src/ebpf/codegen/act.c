// SPDX-License-Identifier: BSD-2-Clause
/*
 * Generates the actions that are done at a match before the thread that completed it continues: signals, counters,
 * histograms. It comes before the match is put into the ring, so that neither a full ring nor a slow reader keeps it
 * from happening, and the match says which statements are done; what could not be is left to user space.
 *
 * A signal to the current process is taken before it runs its next instruction in user mode. The kernel sends it in
 * place, or, where interrupts are off, from an interrupt of this CPU as soon as they are on.
 */

#include "ebpf/codegen/acts.h"
#include "ebpf/codegen/machine.h"
#include "ebpf/codegen/note.h"
#include "ebpf/memory/stack-table.h"
#include "ebpf/source/scope.h"

#include "program/calls.h"

#include <signal.h>

enum { PID_TYPE_PID = 0, PID_TYPE_TGID = 1 }; /* enum pid_type, part of the interface of bpf_send_signal_task */

static const struct react_action *action_of(const struct emit *emit, uint32_t index)
{
	return program_call(emit->program, &emit->program->statements[index]);
}

/* Whether it leaves somebody behind who has to be let go on. */
static bool act_stops_process(const struct react_action *action)
{
	return action->primitive == REACT_HOLD || (action->primitive == REACT_SEND_SIGNAL && action->signal == SIGSTOP);
}

/* The process in register id may be signalled, or else this leaves for no. Overwrites r0, r1. */
static void check_process(struct emit *emit, uint8_t id, uint32_t no)
{
	const struct scope *scope = emit->context->scope;

	ebpf_jump_if_imm(emit->as, BPF_JEQ, id, 1, no);
	if (!scope) /* the code is only being measured */
		return;
	if (emit->context->acts->anywhere)
		scope_emit_own(scope, emit->as, id, no);
	else
		scope_emit_test(scope, emit->as, id, no);
}

/* A signal that was not sent has stopped no process. r0 = r6 = what sending it returned. */
static void end_signal(struct emit *emit, int16_t note)
{
	struct ebpf_asm *as = emit->as;
	uint32_t sent = ebpf_label(as);

	ebpf_jump_if_imm(as, BPF_JEQ, R6, 0, sent);
	if (emit->context->acts->stops_fd)
		codegen_note_back(emit, note);
	ebpf_bind(as, sent);
	ebpf_mov(as, R0, R6);
}

/*
 * To the process in r9, which is the current one: signal r7, to the thread only if r8 is not 0. A stop goes to both:
 * one that another thread has been sent and has not taken yet makes a second to the process none, and one to the thread
 * alone would end with a thread that is on its way out.
 */
static void signal_current(struct emit *emit, int16_t note, uint32_t no)
{
	struct ebpf_asm *as = emit->as;
	uint32_t whole = ebpf_label(as), sent = ebpf_label(as), both = ebpf_label(as);

	check_process(emit, R9, no);
	if (emit->context->acts->stops_fd)
		codegen_note(emit, R9, note, no);
	ebpf_mov(as, R1, R7);
	ebpf_jump_if_imm(as, BPF_JEQ, R7, SIGSTOP, both);
	ebpf_jump_if_imm(as, BPF_JEQ, R8, 0, whole);
	ebpf_call(as, BPF_FUNC_send_signal_thread);
	ebpf_jump(as, sent);
	ebpf_bind(as, both);
	ebpf_call(as, BPF_FUNC_send_signal_thread);
	ebpf_jump_if_imm(as, BPF_JNE, R0, 0, sent);
	ebpf_mov_imm(as, R1, SIGSTOP);
	ebpf_call(as, BPF_FUNC_send_signal);
	ebpf_mov_imm(as, R0, 0);
	ebpf_jump(as, sent);
	ebpf_bind(as, whole);
	ebpf_call(as, BPF_FUNC_send_signal);
	ebpf_bind(as, sent);
	ebpf_mov(as, R6, R0);
	end_signal(emit, note);
	ebpf_exit(as);
}

/* To the thread r6, or its process. */
static void signal_other(struct emit *emit, int16_t note, uint32_t no)
{
	const struct ebpf_acts *acts = emit->context->acts;
	struct ebpf_asm *as = emit->as;
	uint32_t release = ebpf_label(as), send = ebpf_label(as);

	ebpf_mov(as, R1, R6);
	ebpf_call_kernel(as, acts->task_from_pid);
	ebpf_jump_if_imm(as, BPF_JEQ, R0, 0, no);
	ebpf_mov(as, R9, R0);
	ebpf_load(as, BPF_W, R6, R9, (int32_t)acts->tgid_offset);
	check_process(emit, R6, release);
	if (acts->stops_fd)
		codegen_note(emit, R6, note, release);
	ebpf_mov_imm(as, R3, PID_TYPE_PID);
	ebpf_jump_if_imm(as, BPF_JNE, R8, 0, send);
	ebpf_mov_imm(as, R3, PID_TYPE_TGID);
	ebpf_bind(as, send);
	ebpf_mov(as, R1, R9);
	ebpf_mov(as, R2, R7);
	ebpf_mov_imm(as, R4, 0);
	ebpf_call_kernel(as, acts->send_signal_task);
	ebpf_mov(as, R6, R0);
	ebpf_mov(as, R1, R9);
	ebpf_call_kernel(as, acts->task_release);
	end_signal(emit, note);
	ebpf_exit(as);
	ebpf_bind(as, release);
	ebpf_mov(as, R1, R9);
	ebpf_call_kernel(as, acts->task_release);
	ebpf_jump(as, no);
}

/* A function (target, signal, whether only the thread, what to note of it or 0): 0 when it was sent. */
static uint32_t function_signal(struct emit *emit)
{
	struct ebpf_asm *as = emit->as;
	uint32_t function;

	if (ebpf_asm_find(as, "send_signal", &function))
		return function;
	function = emit_function_of_numbers(emit, "send_signal", 4);
	ebpf_asm_enter(as, function);
	uint32_t no = ebpf_label(as), current = ebpf_label(as), other = ebpf_label(as);
	int16_t note = ebpf_stack_take(as, 8);

	ebpf_note(as, "send a signal, if the target is in scope");
	ebpf_mov(as, R6, R1);
	ebpf_mov(as, R7, R2);
	ebpf_mov(as, R8, R3);
	ebpf_store(as, BPF_DW, R10, note, R4);
	ebpf_call(as, BPF_FUNC_get_current_pid_tgid);
	ebpf_mov(as, R9, R0);
	ebpf_alu_imm(as, BPF_RSH, R9, 32);
	ebpf_emit(as, insn_alu32(BPF_MOV, R1, R0));
	ebpf_jump_if(as, BPF_JEQ, R6, R1, current);
	ebpf_jump_if_imm(as, BPF_JNE, R8, 0, other);
	ebpf_jump_if(as, BPF_JNE, R6, R9, other);
	ebpf_bind(as, current);
	signal_current(emit, note, no);
	ebpf_bind(as, other);
	if (emit->context->acts->send_signal_task)
		signal_other(emit, note, no);
	ebpf_bind(as, no);
	ebpf_return(as, 1);
	ebpf_asm_leave(as);
	return function;
}

/*
 * A function (offset in words, value) that counts value in the tally there, among this CPU's tallies: react_bucket. A
 * counter is the first bucket alone, and its value 0.
 */
static uint32_t function_tally(struct emit *emit)
{
	struct ebpf_asm *as = emit->as;
	const struct memory *memory = emit->context->memory;
	uint32_t function;

	if (ebpf_asm_find(as, "tally", &function))
		return function;
	function = emit_function_of_numbers(emit, "tally", 2);
	ebpf_asm_enter(as, function);
	uint32_t none = ebpf_label(as), small = ebpf_label(as);

	ebpf_note(as, "count in a histogram");
	ebpf_mov(as, R6, R1);
	ebpf_mov(as, R1, R2);
	ebpf_mov_imm(as, R0, 0);
	ebpf_jump_if_imm(as, BPF_JSLE, R1, 0, small);
	ebpf_lower_bit_length(as);
	ebpf_bind(as, small);
	ebpf_alu(as, BPF_ADD, R6, R0);
	ebpf_jump_if_imm(as, BPF_JGE, R6, (int32_t)(memory->tally_stride / 8), none);
	ebpf_alu_imm(as, BPF_LSH, R6, 3);
	ebpf_call(as, BPF_FUNC_get_smp_processor_id);
	ebpf_jump_if_imm(as, BPF_JGE, R0, (int32_t)memory->cpu_count, none);
	ebpf_alu_imm(as, BPF_MUL, R0, (int32_t)memory->tally_stride);
	ebpf_load_value(as, R1, memory->maps[memory->tallies.map].fd, memory->tallies.off);
	ebpf_alu(as, BPF_ADD, R1, R0);
	ebpf_alu(as, BPF_ADD, R1, R6);
	ebpf_mov_imm(as, R2, 1);
	ebpf_atomic_add(as, R1, 0, R2);
	ebpf_return_0_or_1(as, none);
	ebpf_asm_leave(as);
	return function;
}

/* r1 = the value of an argument; one that divides by zero leaves for none. */
static void load_arg(struct emit *emit, const struct program_arg *arg, uint32_t none)
{
	emit->lower.on_zero = none;
	ebpf_lower_value(&emit->lower, arg->node);
}

static void do_signal(struct emit *emit, const struct react_action *action, const struct program_arg *args,
		      uint32_t none)
{
	struct ebpf_asm *as = emit->as;
	const struct program_node *named = &emit->program->nodes[args[action->signal ? 0 : 1].node];
	int16_t kept = ebpf_stack_take(as, 8);

	load_arg(emit, &args[0], none);
	ebpf_store(as, BPF_DW, R10, kept, R1);
	if (action->signal) {
		ebpf_mov_imm(as, R2, (uint64_t)action->signal);
	} else if (named->op == PROGRAM_OP_TEXT) {
		ebpf_mov_imm(as, R2, (uint64_t)react_signal_number(program_text(emit->program, named->a)));
	} else {
		load_arg(emit, &args[1], none);
		ebpf_mov(as, R2, R1);
	}
	ebpf_load(as, BPF_DW, R1, R10, kept);
	ebpf_mov_imm(as, R3, args[0].field == REACT_BY_TID);
	ebpf_mov_imm(as, R4, act_stops_process(action) ? codegen_note_of(true, 0) : 0);
	ebpf_call_function(as, function_signal(emit));
}

static void do_hold(struct emit *emit, const struct program_statement *statement)
{
	struct ebpf_asm *as = emit->as;
	struct program_ask ask;

	program_ask(emit->program, statement, &ask);
	ebpf_call(as, BPF_FUNC_get_current_pid_tgid);
	ebpf_mov(as, R1, R0);
	ebpf_alu_imm(as, BPF_RSH, R1, 32);
	ebpf_mov_imm(as, R2, SIGSTOP);
	ebpf_mov_imm(as, R3, 0);
	ebpf_mov_imm(as, R4, codegen_note_of(false, ask.aborts ? ask.signal : 0));
	ebpf_call_function(as, function_signal(emit));
}

static void do_tally(struct emit *emit, uint32_t index, const struct program_statement *statement, uint32_t none)
{
	const struct program_arg *arg = &program_args(emit->program, statement)[1];
	struct ebpf_asm *as = emit->as;
	uint32_t fits = ebpf_label(as);

	if (statement->arg_count < 2) {
		ebpf_mov_imm(as, R2, 0);
	} else {
		load_arg(emit, arg, none);
		ebpf_mov(as, R2, R1);
		if (emit->program->nodes[arg->node].kind == PROGRAM_U64) {
			ebpf_jump_if_imm(as, BPF_JSGE, R2, 0, fits);
			ebpf_mov_imm(as, R2, INT64_MAX);
			ebpf_bind(as, fits);
		}
	}
	ebpf_mov_imm(as, R1, emit->context->memory->tally_offsets[index] / 8);
	ebpf_call_function(as, function_tally(emit));
}

/* r0 = 0: its number is in done. All calls of a match are about one stack. */
static void do_stack(struct emit *emit, int16_t done, uint32_t none)
{
	struct ebpf_asm *as = emit->as;
	uint32_t there = ebpf_label(as);

	ebpf_load(as, BPF_DW, R1, R10, done);
	ebpf_alu_imm(as, BPF_RSH, R1, STACK_DONE_SHIFT);
	ebpf_jump_if_imm(as, BPF_JNE, R1, 0, there);
	emit_stack(emit);
	ebpf_jump_if_imm(as, BPF_JEQ, R0, 0, none);
	ebpf_alu_imm(as, BPF_LSH, R0, STACK_DONE_SHIFT);
	ebpf_load(as, BPF_DW, R1, R10, done);
	ebpf_alu(as, BPF_OR, R1, R0);
	ebpf_store(as, BPF_DW, R10, done, R1);
	ebpf_bind(as, there);
	ebpf_mov_imm(as, R0, 0);
}

/* Does what can be done of the rule's statements for the run in the slots; done, on the stack, says which. */
void codegen_act(struct emit *emit, int16_t done)
{
	struct ebpf_asm *as = emit->as;

	ebpf_store_imm(as, BPF_DW, R10, done, 0);
	for (uint32_t i = 0; i < emit->rule->statement_count; i++) {
		uint32_t index = emit->rule->first_statement + i, next = ebpf_label(as);
		const struct program_statement *statement = &emit->program->statements[index];
		uint32_t mark = ebpf_stack_mark(as);

		if (!(emit->acts->done >> i & 1))
			continue;
		ebpf_note(as, "rule %s: %s", program_text(emit->program, emit->rule->name),
			  action_of(emit, index)->name);
		if (emit_is_machine(emit))
			codegen_unless_notice(emit, statement->notice, next);
		if (action_of(emit, index)->primitive == REACT_HOLD)
			do_hold(emit, statement);
		else if (action_of(emit, index)->primitive == REACT_STACK)
			do_stack(emit, done, next);
		else if (action_of(emit, index)->primitive == REACT_SEND_SIGNAL)
			do_signal(emit, action_of(emit, index), program_args(emit->program, statement), next);
		else
			do_tally(emit, index, statement, next);
		ebpf_jump_if_imm(as, BPF_JNE, R0, 0, next);
		ebpf_load(as, BPF_DW, R1, R10, done);
		ebpf_mov_imm(as, R2, UINT64_C(1) << i);
		ebpf_alu(as, BPF_OR, R1, R2);
		ebpf_store(as, BPF_DW, R10, done, R1);
		ebpf_bind(as, next);
		ebpf_stack_release(as, mark);
	}
}
