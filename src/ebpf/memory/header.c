// SPDX-License-Identifier: BSD-2-Clause
/*
 * Fetches the header of a live event as late as possible: the clock costs as much as everything else, so whatever is
 * not needed to find out that an event does not matter waits until it does; and who raised it may wait for a match.
 */

#include "ebpf/memory/emit.h"

enum { TS = 1 << 0, CPU = 1 << 1, PID = 1 << 2, TID = 1 << 3, COMM = 1 << 4 };

/* Fills fields of the record in r6. Overwrites r0-r5. */
static void fetch_fields(struct ebpf_asm *as, uint8_t fields)
{
	uint32_t known = ebpf_label(as);

	if (fields & TS) {
		ebpf_load(as, BPF_DW, R0, R6, HEADER(ts));
		ebpf_jump_if_imm(as, BPF_JNE, R0, 0, known);
		ebpf_call(as, BPF_FUNC_ktime_get_ns);
		ebpf_store(as, BPF_DW, R6, HEADER(ts), R0);
	}
	ebpf_bind(as, known);
	if (fields & (PID | TID)) {
		ebpf_call(as, BPF_FUNC_get_current_pid_tgid);
		if (fields & TID)
			ebpf_store(as, BPF_W, R6, HEADER(tid), R0);
		ebpf_alu_imm(as, BPF_RSH, R0, 32);
		if (fields & PID)
			ebpf_store(as, BPF_W, R6, HEADER(pid), R0);
	}
	if (fields & CPU) {
		ebpf_call(as, BPF_FUNC_get_smp_processor_id);
		ebpf_store(as, BPF_W, R6, HEADER(cpu), R0);
	}
	if (fields & COMM)
		ebpf_call_comm(as, R6, HEADER(comm));
}

/* A function (record) that fills fields. */
static uint32_t function_fetch(struct ebpf_asm *as, const char *name, uint8_t fields)
{
	uint32_t function = ebpf_asm_function(as, name);

	ebpf_asm_enter(as, function);
	ebpf_mov(as, R6, R1);
	fetch_fields(as, fields);
	ebpf_return(as, 0);
	ebpf_asm_leave(as);
	return function;
}

void emit_header_begin(struct ebpf_asm *as, const struct plan_header *header, struct emit_functions *functions)
{
	functions->late = function_fetch(as, "header", header->late);
	functions->match = function_fetch(as, "header_of_match", header->match);
	if (header->late) /* dead code where every rule fetches in place */
		memory_frame_set(as, FRAME(late), 0);
}

/* The event in r6 matters: its header is complete as far as conditions and actions go. Overwrites r0-r5. */
void emit_header_late(struct emit *emit)
{
	struct ebpf_asm *as = emit->as;
	uint32_t have = ebpf_label(as);

	if (!emit->header.late || emit->has_late)
		return;
	if (emit->fetches_once) {
		fetch_fields(as, emit->header.late);
		return;
	}
	ebpf_load(as, BPF_DW, R0, R9, FRAME(late));
	ebpf_jump_if_imm(as, BPF_JNE, R0, 0, have);
	ebpf_mov(as, R1, R6);
	ebpf_call_function(as, emit->functions.late);
	memory_frame_set(as, FRAME(late), 1);
	ebpf_bind(as, have);
}

/* The event in r6 completes a match. Overwrites r0-r5. */
void emit_header_match(struct emit *emit)
{
	if (!emit->header.match)
		return;
	ebpf_mov(emit->as, R1, R6);
	ebpf_call_function(emit->as, emit->functions.match);
}
