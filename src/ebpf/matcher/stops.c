// SPDX-License-Identifier: BSD-2-Clause
/* Maps the table of stops. */

#include "ebpf/matcher/stops.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static size_t mapped_bytes(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	return (sizeof(struct react_stop_table) + page - 1) / page * page;
}

int ebpf_stops_init(struct ebpf_stops *stops, struct asterism_diag *diag)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_MMAPABLE);

	*stops = (struct ebpf_stops){ .fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "asterism_stops", 4,
							   sizeof(struct react_stop_table), 1, &opts) };
	if (stops->fd == -EPERM)
		return diag_error(diag, NULL, -EPERM, "creating BPF maps is not permitted (CAP_BPF)");
	if (stops->fd < 0)
		return diag_error(diag, NULL, stops->fd == -ENOMEM ? -ENOMEM : -EOPNOTSUPP,
				  "the kernel refused a table of stopped processes: %s", strerror(-stops->fd));
	void *memory = mmap(NULL, mapped_bytes(), PROT_READ | PROT_WRITE, MAP_SHARED, stops->fd, 0);

	if (memory == MAP_FAILED) {
		int error = -errno;

		ebpf_stops_fini(stops);
		return diag_error(diag, NULL, error, "cannot map the table of stopped processes: %s", strerror(-error));
	}
	stops->table = memory;
	return 0;
}

void ebpf_stops_fini(struct ebpf_stops *stops)
{
	if (stops->table)
		munmap(stops->table, mapped_bytes());
	if (stops->fd > 0)
		close(stops->fd);
	*stops = (struct ebpf_stops){ .fd = -1 };
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
