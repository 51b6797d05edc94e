// SPDX-License-Identifier: BSD-2-Clause
/*
 * Switches a type on and off while its program is attached: a byte per type in a map of its own, which the program
 * reads before anything of the event. A store of one byte is seen by the next event, so a type that stays has no gap
 * and none comes twice, whatever happens to the others of its program.
 */

#include "ebpf/recorder/record-priv.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int record_gates_init(struct record_gates *gates, struct asterism_diag *diag)
{
	LIBBPF_OPTS(bpf_map_create_opts, options, .map_flags = BPF_F_MMAPABLE);
	void *memory;

	gates->map = bpf_map_create(BPF_MAP_TYPE_ARRAY, "gates", 4, RECORD_GATES, 1, &options);
	if (gates->map < 0)
		return diag_error(diag, NULL, gates->map, "cannot allocate memory for gates: %s",
				  strerror(-gates->map));
	memory = mmap(NULL, RECORD_GATES, PROT_READ | PROT_WRITE, MAP_SHARED, gates->map, 0);
	if (memory == MAP_FAILED)
		return diag_error(diag, NULL, -errno, "cannot map gates: %s", strerror(errno));
	gates->open = memory;
	return 0;
}

void record_gates_fini(struct record_gates *gates)
{
	if (gates->open)
		munmap(gates->open, RECORD_GATES);
	if (gates->map >= 0)
		close(gates->map);
}

void record_gates_set(struct record_gates *gates, size_t index, bool open)
{
	__atomic_store_n(&gates->open[index], open, __ATOMIC_RELEASE);
}

bool record_gates_has(const struct record_gates *gates, size_t index)
{
	return __atomic_load_n(&gates->open[index], __ATOMIC_RELAXED);
}

void record_emit_gate(const struct record_gates *gates, struct ebpf_asm *as, uint32_t index, uint32_t closed)
{
	if (gates->map < 0)
		return;
	ebpf_load_value(as, R1, gates->map, index);
	ebpf_load(as, BPF_B, R1, R1, 0);
	ebpf_jump_if_imm(as, BPF_JEQ, R1, 0, closed);
}
