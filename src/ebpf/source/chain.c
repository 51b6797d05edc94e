// SPDX-License-Identifier: BSD-2-Clause
/*
 * Keeps who comes behind whom. Each program calls what the map has under its own number, which is known when its code
 * is made; who that is, is not known before all are loaded. Closing the map's descriptor empties it.
 */

#include "ebpf/source/chain.h"

#include "ebpf/kernel/load.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

/* Programs that did not load keep their numbers. */
enum { NUMBERS = 256, CONTEXT_BYTES = 8 };

void chains_init(struct chains *chains)
{
	*chains = (struct chains){ { { "raw_syscalls:sys_enter", -1, 0, 0 }, { "raw_syscalls:sys_exit", -1, 0, 0 } } };
}

void chains_fini(struct chains *chains)
{
	for (size_t i = 0; i < CHAINS; i++) {
		if (chains->of[i].map >= 0)
			close(chains->of[i].map);
		chains->of[i].map = -1;
	}
}

/* Whether the kernel takes a program that makes a tail call and has a callback, as ours have. */
static bool can_chain(struct chain *chain, uint32_t attach_id, const struct ebpf_features *features)
{
	const struct chain_place place = { chain, 0 };
	const struct ebpf_load_options options = {
		.name = "probe",
		.type = BPF_PROG_TYPE_TRACING,
		.attach_type = BPF_TRACE_RAW_TP,
		.attach_btf_id = attach_id,
		.features = features,
	};
	struct ebpf_asm *as = ebpf_asm_new();

	if (!as)
		return false;
	uint32_t callback = ebpf_asm_function(as, "callback");
	int16_t slot = chain_emit_begin(as, &place);

	ebpf_mov_imm(as, R1, 1);
	ebpf_load_function(as, R2, callback);
	ebpf_mov_imm(as, R3, 0);
	ebpf_mov_imm(as, R4, 0);
	ebpf_call(as, BPF_FUNC_loop);
	chain_emit_next(as, &place, slot);
	ebpf_return(as, 0);
	ebpf_asm_enter(as, callback);
	ebpf_return(as, 0);
	ebpf_asm_leave(as);
	int fd = ebpf_load_program(as, &options, NULL);

	ebpf_asm_free(as);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

void chains_plan(struct chains *chains, const struct source_plan *plan, const char *late,
		 const struct ebpf_features *features)
{
	for (size_t i = 0; i < CHAINS; i++) {
		struct chain *chain = &chains->of[i];
		uint32_t attach_id = 0;
		size_t programs = 0;

		for (size_t j = 0; j < plan->unit_count; j++) {
			const struct source_unit *unit = &plan->units[j];
			bool here = !unit->classic && !unit->apart_count &&
				    strcmp(unit->tracepoint, chain->tracepoint) == 0;

			attach_id = here ? unit->attach_id : attach_id;
			programs += here + (unit->awaits && late && strcmp(late, chain->tracepoint) == 0);
		}
		if (programs < 2 || !attach_id)
			continue;
		chain->planned = programs;
		if (!features)
			continue;
		chain->map = bpf_map_create(BPF_MAP_TYPE_PROG_ARRAY, "chain", sizeof(uint32_t), sizeof(uint32_t),
					    NUMBERS, NULL);
		if (chain->map >= 0 && !can_chain(chain, attach_id, features)) {
			close(chain->map);
			chain->map = -1;
		}
		if (chain->map < 0)
			chain->planned = 0;
	}
}

size_t chains_length(const struct chains *chains, const char *tracepoint)
{
	for (size_t i = 0; i < CHAINS; i++)
		if (strcmp(chains->of[i].tracepoint, tracepoint) == 0)
			return chains->of[i].planned;
	return 0;
}

struct chain_place chains_join(struct chains *chains, const char *tracepoint)
{
	for (size_t i = 0; i < CHAINS; i++) {
		struct chain *chain = &chains->of[i];

		if (chain->map >= 0 && chain->taken < NUMBERS && strcmp(chain->tracepoint, tracepoint) == 0)
			return (struct chain_place){ chain, chain->taken++ };
	}
	return (struct chain_place){ 0 };
}

int16_t chain_emit_begin(struct ebpf_asm *as, const struct chain_place *place)
{
	if (!place->chain)
		return 0;
	int16_t slot = ebpf_stack_take(as, CONTEXT_BYTES);

	ebpf_store(as, BPF_DW, R10, slot, R1);
	return slot;
}

void chain_emit_next(struct ebpf_asm *as, const struct chain_place *place, int16_t slot)
{
	if (!place->chain)
		return;
	ebpf_note(as, "the next program here");
	ebpf_load(as, BPF_DW, R1, R10, slot);
	ebpf_load_map(as, R2, place->chain->map);
	ebpf_mov_imm(as, R3, place->number);
	ebpf_call(as, BPF_FUNC_tail_call);
}

int chain_set_next(const struct chain_place *place, int program, struct asterism_diag *diag)
{
	if (bpf_map_update_elem(place->chain->map, &place->number, &program, BPF_ANY) == 0)
		return 0;
	return diag_error(diag, NULL, -errno, "cannot put a program behind another one at %s: %m",
			  place->chain->tracepoint);
}
