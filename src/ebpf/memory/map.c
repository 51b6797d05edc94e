// SPDX-License-Identifier: BSD-2-Clause
/* Decides how the maps are made: array maps mapped into this process, so that counters are read without a call. */

#include "ebpf/memory/layout-priv.h"

#include "base/alloc.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static uint64_t mapped_bytes(const struct memory_map *map)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);

	return (map->bytes + page - 1) / page * page;
}

static int explain(struct asterism_diag *diag, int error, const char *what, uint64_t bytes)
{
	if (error == -EPERM)
		return diag_error(diag, NULL, -EPERM, "creating BPF maps is not permitted (CAP_BPF)");
	if (error == -ENOMEM)
		return diag_error(diag, NULL, -ENOMEM, "the kernel has no memory for %s of %llu bytes", what,
				  (unsigned long long)bytes);
	return diag_error(diag, NULL, error == -E2BIG ? -E2BIG : -EOPNOTSUPP, "the kernel refused %s of %llu bytes: %s",
			  what, (unsigned long long)bytes, strerror(-error));
}

static int make(struct memory_map *map, struct asterism_diag *diag)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_MMAPABLE);

	map->fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "asterism_runs", 4, (uint32_t)map->bytes, 1, &opts);
	if (map->fd < 0)
		return explain(diag, map->fd, "a pool", map->bytes);
	void *mapped = mmap(NULL, mapped_bytes(map), PROT_READ | PROT_WRITE, MAP_SHARED, map->fd, 0);

	if (mapped == MAP_FAILED)
		return explain(diag, -errno, "a mapping", map->bytes);
	map->memory = mapped;
	return 0;
}

int memory_make_maps(struct memory *memory, uint32_t ring_bytes, struct asterism_diag *diag)
{
	for (uint32_t i = 0; i < memory->map_count; i++) {
		int error = make(&memory->maps[i], diag);

		if (error)
			return error;
	}
	memory->ring_fd = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "asterism_match", 0, 0, ring_bytes, NULL);
	return memory->ring_fd < 0 ? explain(diag, memory->ring_fd, "a ring", ring_bytes) : 0;
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
	for (uint32_t i = 0; i < memory->map_count; i++) {
		struct memory_map *map = &memory->maps[i];

		if (map->memory)
			munmap(map->memory, mapped_bytes(map));
		if (map->fd >= 0)
			close(map->fd);
	}
	if (memory->ring_fd >= 0)
		close(memory->ring_fd);
	for (size_t i = 0; i < memory->queue_count; i++)
		close(memory->queues[i]);
	alloc_free(memory->queues);
}
