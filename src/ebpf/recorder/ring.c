// SPDX-License-Identifier: BSD-2-Clause
/*
 * Keeps rings in maps: sub-buffers are values of an array map, so that their number is not bound by the size that older
 * kernels allow a value. Both maps are mapped for reading only; nothing here writes to a ring.
 */

#include "ebpf/recorder/record-priv.h"

#include "ebpf/kernel/cpus.h"
#include "ebpf/kernel/feature.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { CACHE_LINE_BYTES = 64 };

static int explain_ring_error(struct asterism_diag *diag, int error, uint64_t bytes)
{
	if (error == -EPERM)
		return diag_error(diag, NULL, -EPERM, "creating BPF maps is not permitted (CAP_BPF)");
	if (error == -ENOMEM) {
		diag_add(diag, ASTERISM_ERROR, NULL, EBPF_MEMORY_HINT,
			 "the kernel has no memory for rings of %llu bytes", (unsigned long long)bytes);
		return -ENOMEM;
	}
	return diag_error(diag, NULL, error == -E2BIG ? -E2BIG : -EOPNOTSUPP,
			  "the kernel refused rings of %llu bytes: %s", (unsigned long long)bytes, strerror(-error));
}

static int make_ring_map(const char *name, uint32_t value_bytes, uint32_t count, void **memory, size_t *bytes)
{
	LIBBPF_OPTS(bpf_map_create_opts, options, .map_flags = BPF_F_MMAPABLE);
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	int map = bpf_map_create(BPF_MAP_TYPE_ARRAY, name, 4, value_bytes, count, &options);

	*bytes = ((size_t)value_bytes * count + page - 1) / page * page;
	if (map < 0)
		return map;
	*memory = mmap(NULL, *bytes, PROT_READ, MAP_SHARED, map, 0);
	if (*memory == MAP_FAILED) {
		int error = -errno;

		*memory = NULL;
		close(map);
		return error;
	}
	return map;
}

int record_rings_init(struct record_rings *rings, uint32_t sub_bytes, uint32_t sub_count, struct asterism_diag *diag)
{
	int cpus = ebpf_possible_cpus(diag);

	*rings = (struct record_rings){ .control_map = -1, .data_map = -1 };
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
		return explain_ring_error(diag, -E2BIG, bytes);
	rings->control_map = make_ring_map("ring_control", rings->stride * rings->cpu_count, 1,
					   (void **)&rings->control, &rings->control_bytes);
	if (rings->control_map < 0)
		return explain_ring_error(diag, rings->control_map, bytes);
	rings->data_map = make_ring_map("ring_data", sub_bytes, rings->cpu_count * sub_count, (void **)&rings->data,
					&rings->data_bytes);
	return rings->data_map < 0 ? explain_ring_error(diag, rings->data_map, bytes) : 0;
}

void record_rings_fini(struct record_rings *rings)
{
	if (rings->control)
		munmap(rings->control, rings->control_bytes);
	if (rings->data)
		munmap(rings->data, rings->data_bytes);
	if (rings->control_map >= 0)
		close(rings->control_map);
	if (rings->data_map >= 0)
		close(rings->data_map);
}

struct ring record_ring_view(const struct record_rings *rings, uint32_t cpu)
{
	size_t bytes = (size_t)rings->sub_units * rings->sub_count * RING_UNIT_BYTES;

	return (struct ring){
		.control = (void *)(rings->control + (size_t)cpu * rings->stride),
		.data = (void *)(rings->data + cpu * bytes),
		.sub_units = rings->sub_units,
		.sub_count = rings->sub_count,
	};
}
