// SPDX-License-Identifier: BSD-2-Clause
/* Runs many events in one test run: a loop whose body is the code for all types, chosen by the record's type. */

#include "ebpf/batch.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "ebpf/kernel/array.h"
#include "ebpf/kernel/load.h"
#include "ebpf/matcher/matcher-priv.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stddef.h>
#include <unistd.h>

struct batch {
	int program;
	uint32_t stride;
	struct ebpf_array records; /* in the first stride their number, then they */
};

/* The program has all parts of all types. */
static void begin_matcher_program(struct ebpf_matcher *matcher, struct ebpf_asm *as)
{
	struct ebpf_matcher_part *parts = NULL;
	size_t count = 0, capacity = 0;

	for (uint32_t type = 0; type < matcher->program->type_count; type++) {
		for (uint32_t part = 0; part < ebpf_matcher_parts(matcher, type); part++) {
			if (alloc_grow(&parts, &capacity, count, sizeof *parts)) {
				ebpf_asm_fail(as, -ENOMEM);
				break;
			}
			parts[count++] = (struct ebpf_matcher_part){ type, part };
		}
	}
	ebpf_matcher_begin(matcher, as, parts, count);
	alloc_free(parts);
}

/* bpf_loop's callback (turn, nothing). */
static uint32_t function_event(const struct batch *batch, struct ebpf_matcher *matcher, struct ebpf_asm *as)
{
	uint32_t function = ebpf_asm_function(as, "event");

	begin_matcher_program(matcher, as);
	ebpf_asm_enter(as, function);
	uint32_t out = ebpf_label(as);

	ebpf_jump_if_imm(as, BPF_JGE, R1, BATCH_RECORDS_MAX, out);
	ebpf_load_value(as, R6, batch->records.fd, batch->stride);
	ebpf_alu_imm(as, BPF_MUL, R1, (int32_t)batch->stride);
	ebpf_alu(as, BPF_ADD, R6, R1);
	for (uint32_t type = 0; type < matcher->program->type_count; type++) {
		uint32_t next = ebpf_label(as);

		ebpf_load(as, BPF_W, R0, R6, offsetof(struct event_header, type));
		ebpf_jump_if_imm(as, BPF_JNE, R0, (int32_t)type, next);
		for (uint32_t part = 0; part < ebpf_matcher_parts(matcher, type); part++)
			ebpf_matcher_emit(matcher, as, type, part, 0);
		ebpf_jump(as, out);
		ebpf_bind(as, next);
	}
	ebpf_bind(as, out);
	ebpf_return(as, 0);
	ebpf_asm_leave(as);
	return function;
}

static int load_batch_matcher(struct batch *batch, struct ebpf_matcher *matcher, struct asterism_diag *diag)
{
	struct ebpf_load_options options = { .name = "asterism_batch",
					     .type = BPF_PROG_TYPE_RAW_TRACEPOINT,
					     .features = matcher->options.features };
	struct ebpf_asm *as = ebpf_asm_new();

	if (!as)
		return diag_no_memory(diag);
	ebpf_load_value(as, R1, batch->records.fd, 0);
	ebpf_load(as, BPF_DW, R1, R1, 0);
	ebpf_load_function(as, R2, function_event(batch, matcher, as));
	ebpf_mov_imm(as, R3, 0);
	ebpf_mov_imm(as, R4, 0);
	ebpf_call(as, BPF_FUNC_loop);
	ebpf_return(as, 0);
	batch->program = ebpf_load_program(as, &options, diag);
	ebpf_asm_free(as);
	return batch->program < 0 ? batch->program : 0;
}

static int make_batch(struct batch *batch, struct ebpf_matcher *matcher, struct asterism_diag *diag)
{
	int result = ebpf_array_init(&batch->records, "asterism_batch", batch->stride * (BATCH_RECORDS_MAX + 1), 1,
				     PROT_READ | PROT_WRITE);

	if (result)
		return diag_error(diag, NULL, result, "the kernel refused memory for %d records", BATCH_RECORDS_MAX);
	return load_batch_matcher(batch, matcher, diag);
}

int batch_new(struct ebpf_matcher *matcher, uint32_t stride, struct asterism_diag *diag, struct batch **made)
{
	struct batch *batch = alloc_zero(1, sizeof *batch);
	int error;

	if (!batch)
		return diag_no_memory(diag);
	batch->program = -1;
	batch->stride = (stride + 63) / 64 * 64;
	error = make_batch(batch, matcher, diag);
	if (error)
		batch_free(batch);
	else
		*made = batch;
	return error;
}

void batch_free(struct batch *batch)
{
	if (!batch)
		return;
	ebpf_array_fini(&batch->records);
	if (batch->program >= 0)
		close(batch->program);
	alloc_free(batch);
}

struct event_header *batch_record(struct batch *batch, uint32_t index)
{
	return (struct event_header *)((char *)batch->records.memory + (size_t)batch->stride * (index + 1));
}

int batch_run(struct batch *batch, uint32_t count, uint64_t *took_ns)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts);
	uint64_t begin;
	int result;

	if (count > BATCH_RECORDS_MAX)
		return -EINVAL;
	*(uint64_t *)batch->records.memory = count;
	begin = clock_now_ns();
	result = bpf_prog_test_run_opts(batch->program, &opts);
	*took_ns = clock_now_ns() - begin;
	return result;
}
