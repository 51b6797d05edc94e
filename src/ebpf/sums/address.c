// SPDX-License-Identifier: BSD-2-Clause
/* Generates code that addresses what the sums read and change. */

#include "ebpf/sums/sums-priv.h"

uint32_t sums_room_bytes(const struct plan *plan)
{
	uint32_t most = 0;

	for (uint32_t i = 0; i < plan->program->rule_count; i++) {
		const struct plan_rule *rule = &plan->rules[i];

		if (!rule->here || !rule->sums.here)
			continue;
		uint32_t count = program_aggregation(plan->program, rule->rule)->aggregate_count;
		uint32_t bytes = (uint32_t)sums_room_value(&rule->sums, count);

		most = bytes > most ? bytes : most;
	}
	return (most + MATCHER_CACHE_LINE - 1) / MATCHER_CACHE_LINE * MATCHER_CACHE_LINE;
}

bool sums_may_lack(const struct emit *emit, const struct program_aggregate *row)
{
	return row->there || (row->node != PROGRAM_NONE && emit->context->plan->nodes[row->node].divides);
}

void sums_load_region(const struct sums_code *code, uint8_t dst, const struct memory_region *region)
{
	ebpf_load_value(code->as, dst, code->emit->context->memory->maps[region->map].fd, region->off);
}

void sums_load_row(const struct sums_code *code, uint8_t dst, const struct memory_region *region, uint32_t bits,
		   int32_t shift)
{
	struct ebpf_asm *as = code->as;

	if (code->plan->indexes > 1) {
		ebpf_mov(as, R0, R7);
		ebpf_alu_imm(as, BPF_LSH, R0, (int32_t)bits);
		ebpf_alu(as, BPF_ADD, dst, R0);
	}
	ebpf_alu_imm(as, BPF_LSH, dst, shift);
	sums_load_region(code, R0, region);
	ebpf_alu(as, BPF_ADD, dst, R0);
}

void sums_load_head(const struct sums_code *code, uint8_t dst, bool of_index)
{
	_Static_assert(sizeof(struct matcher_sums) == 1 << 6, "shifted below");

	sums_load_region(code, dst, &code->at->heads);
	if ((of_index ? code->plan->indexes : code->plan->halves) == 1)
		return;
	ebpf_mov(code->as, R0, R7);
	ebpf_alu_imm(code->as, BPF_LSH, R0, 6);
	ebpf_alu(code->as, BPF_ADD, dst, R0);
}

void sums_emit_if_there(const struct sums_code *code, uint32_t aggregate, uint32_t absent)
{
	if (!code->plan->sums[aggregate].may_lack)
		return;
	ebpf_load(code->as, BPF_DW, R0, R6, sums_room_there(code->plan));
	ebpf_alu_imm(code->as, BPF_RSH, R0, (int32_t)aggregate);
	ebpf_alu_imm(code->as, BPF_AND, R0, 1);
	ebpf_jump_if_imm(code->as, BPF_JEQ, R0, 0, absent);
}
