// SPDX-License-Identifier: BSD-2-Clause
/*
 * Keeps rings in maps: sub-buffers are values of an array map, so that their number is not bound by the size that older
 * kernels allow a value. Both maps are mapped for reading only; nothing here writes to a ring.
 */

#include "ebpf/recorder/record-priv.h"

#include "ebpf/kernel/cpus.h"

#include <errno.h>

enum { CACHE_LINE_BYTES = 64 };

int record_rings_init(struct record_rings *rings, uint32_t sub_bytes, uint32_t sub_count, struct asterism_diag *diag)
{
	int cpus = ebpf_possible_cpus(diag);

	*rings = (struct record_rings){ 0 };
	if (!ring_shape_is_valid(sub_bytes, sub_count))
		return diag_error(diag, NULL, -EINVAL,
				  "a ring cannot have %u sub-buffers of %u bytes: both must be powers of two",
				  sub_count, sub_bytes);
	if (cpus < 0)
		return cpus;
	rings->cpu_count = (uint32_t)cpus;
	rings->sub_units = sub_bytes / RING_UNIT_BYTES;
	rings->sub_count = sub_count;
	rings->stride =
		(uint32_t)(ring_control_bytes(sub_count) + CACHE_LINE_BYTES - 1) / CACHE_LINE_BYTES * CACHE_LINE_BYTES;
	uint64_t bytes = (uint64_t)rings->cpu_count * sub_count * sub_bytes;

	if ((uint64_t)rings->cpu_count * sub_count > INT32_MAX ||
	    (uint64_t)rings->cpu_count * rings->stride > INT32_MAX)
		return ebpf_map_refused(diag, -E2BIG, "rings", bytes);
	int result = ebpf_array_init(&rings->control, "ring_control", rings->stride * rings->cpu_count, 1, PROT_READ);

	if (!result)
		result = ebpf_array_init(&rings->data, "ring_data", sub_bytes, rings->cpu_count * sub_count, PROT_READ);
	return result ? ebpf_map_refused(diag, result, "rings", bytes) : 0;
}

void record_rings_fini(struct record_rings *rings)
{
	ebpf_array_fini(&rings->control);
	ebpf_array_fini(&rings->data);
}

struct ring record_ring_view(const struct record_rings *rings, uint32_t cpu)
{
	size_t bytes = (size_t)rings->sub_units * rings->sub_count * RING_UNIT_BYTES;

	return (struct ring){
		.control = (void *)((char *)rings->control.memory + (size_t)cpu * rings->stride),
		.data = (void *)((char *)rings->data.memory + cpu * bytes),
		.sub_units = rings->sub_units,
		.sub_count = rings->sub_count,
	};
}
