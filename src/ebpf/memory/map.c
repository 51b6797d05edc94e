// SPDX-License-Identifier: BSD-2-Clause
/*
 * Creates the maps: array maps mapped into this process, so that counters are read without a call; and which of them
 * has room for what is laid out.
 */

#include "ebpf/memory/layout-priv.h"

#include "base/alloc.h"
#include "base/crew.h"
#include "ebpf/kernel/feature.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <unistd.h>

enum {
	VALUE_BYTES_SMALL = 4 << 20,   /* what every kernel takes */
	VALUE_BYTES_LARGE = 256 << 20, /* below the verifier's limit for offsets, 512 MiB */
};

/* How large a map may grow that is to hold bytes. The kernel is asked only where it matters: asking takes long. */
static uint64_t value_bytes_max(struct memory *memory, uint64_t bytes)
{
	if (bytes <= VALUE_BYTES_SMALL)
		return VALUE_BYTES_SMALL;
	if (!memory->asked_large_values)
		memory->large_values = ebpf_has_large_values() != 0; /* who makes the map is told why there is none */
	memory->asked_large_values = true;
	return memory->large_values ? VALUE_BYTES_LARGE : VALUE_BYTES_SMALL;
}

int memory_place(struct memory *memory, uint64_t bytes, struct memory_region *region)
{
	struct ebpf_array *map = memory->map_count ? &memory->maps[memory->map_count - 1] : NULL;

	bytes = (bytes + MATCHER_CACHE_LINE - 1) / MATCHER_CACHE_LINE * MATCHER_CACHE_LINE;
	uint64_t most = value_bytes_max(memory, map ? map->bytes + bytes : bytes);

	if (bytes > most)
		return -E2BIG;
	if (!map || map->bytes + bytes > most) {
		if (memory->map_count == MEMORY_MAPS_MAX)
			return -E2BIG;
		map = &memory->maps[memory->map_count++];
		*map = (struct ebpf_array){ 0 };
	}
	*region = (struct memory_region){ .map = (uint32_t)(map - memory->maps), .off = (uint32_t)map->bytes };
	map->bytes += bytes;
	return 0;
}

struct making {
	struct memory *memory;
	int errors[MEMORY_MAPS_MAX];
};

static void make_map(void *context, size_t index)
{
	struct making *making = context;
	struct ebpf_array *map = &making->memory->maps[index];

	making->errors[index] = ebpf_array_init(map, "asterism_runs", (uint32_t)map->bytes, 1, PROT_READ | PROT_WRITE);
}

/* Side by side: the kernel clears each page, and counts it for the cgroup. */
int memory_make_maps(struct memory *memory, uint32_t ring_bytes, struct asterism_diag *diag)
{
	struct making making = { .memory = memory };

	crew_do(memory->map_count, crew_of_processors(), make_map, &making);
	for (uint32_t i = 0; i < memory->map_count; i++)
		if (making.errors[i])
			return ebpf_map_refused(diag, making.errors[i], "a pool", memory->maps[i].bytes);
	memory->ring_fd = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "asterism_match", 0, 0, ring_bytes, NULL);
	return memory->ring_fd < 0 ? ebpf_map_refused(diag, memory->ring_fd, "a ring", ring_bytes) : 0;
}

int memory_make_queue(struct memory *memory, uint64_t bytes)
{
	if (bytes > INT32_MAX)
		return -E2BIG;
	if (alloc_grow(&memory->queues, &memory->queue_capacity, memory->queue_count, sizeof *memory->queues))
		return -ENOMEM;
	int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "asterism_raised", 4, (uint32_t)bytes, 1, NULL);

	if (fd >= 0)
		memory->queues[memory->queue_count++] = fd;
	return fd;
}

void memory_close_maps(struct memory *memory)
{
	for (uint32_t i = 0; i < memory->map_count; i++)
		ebpf_array_fini(&memory->maps[i]);
	if (memory->ring_fd >= 0)
		close(memory->ring_fd);
	for (size_t i = 0; i < memory->queue_count; i++)
		close(memory->queues[i]);
	alloc_free(memory->queues);
}
