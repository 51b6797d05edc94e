// SPDX-License-Identifier: BSD-2-Clause
/*
 * Switches a type on and off while its program is attached: a byte per type in a map of its own, which the program
 * reads before anything of the event. A store of one byte is seen by the next event, so a type that stays has no gap
 * and none comes twice, whatever happens to the others of its program.
 */

#include "ebpf/recorder/record-priv.h"

#include <string.h>

int record_gates_init(struct record_gates *gates, struct asterism_diag *diag)
{
	int result = ebpf_array_init(&gates->open, "gates", RECORD_GATES, 1, PROT_READ | PROT_WRITE);

	return result ? diag_error(diag, NULL, result, "cannot allocate memory for gates: %s", strerror(-result)) : 0;
}

void record_gates_fini(struct record_gates *gates)
{
	ebpf_array_fini(&gates->open);
}

void record_gates_set(struct record_gates *gates, size_t index, bool open)
{
	__atomic_store_n((uint8_t *)gates->open.memory + index, open, __ATOMIC_RELEASE);
}

bool record_gates_has(const struct record_gates *gates, size_t index)
{
	return __atomic_load_n((const uint8_t *)gates->open.memory + index, __ATOMIC_RELAXED);
}

void record_emit_gate(const struct record_gates *gates, struct ebpf_asm *as, uint32_t index, uint32_t closed)
{
	if (!gates->open.memory)
		return;
	ebpf_load_value(as, R1, gates->open.fd, index);
	ebpf_load(as, BPF_B, R1, R1, 0);
	ebpf_jump_if_imm(as, BPF_JEQ, R1, 0, closed);
}
