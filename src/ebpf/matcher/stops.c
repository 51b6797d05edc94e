// SPDX-License-Identifier: BSD-2-Clause
/* Maps the table of stops. */

#include "ebpf/matcher/stops.h"

#include <bpf/bpf.h>
#include <errno.h>

int ebpf_stops_init(struct ebpf_stops *stops, struct asterism_diag *diag)
{
	int result = ebpf_array_init(&stops->map, "asterism_stops", sizeof *stops->table, 1, PROT_READ | PROT_WRITE);

	if (result)
		return ebpf_map_refused(diag, result, "a table of stopped processes", sizeof *stops->table);
	stops->table = stops->map.memory;
	return 0;
}

void ebpf_stops_fini(struct ebpf_stops *stops)
{
	ebpf_array_fini(&stops->map);
	stops->table = NULL;
}

int ebpf_stops_add(struct ebpf_stops *stops, int program_fd)
{
	struct bpf_prog_info info = { 0 };
	uint32_t length = sizeof info, count = stops->table->program_count;
	int result = bpf_obj_get_info_by_fd(program_fd, &info, &length);

	if (result)
		return result;
	if (count == REACT_STOP_PROGRAMS)
		return -E2BIG;
	stops->table->programs[count] = info.id;
	__atomic_store_n(&stops->table->program_count, count + 1, __ATOMIC_RELEASE);
	return 0;
}
