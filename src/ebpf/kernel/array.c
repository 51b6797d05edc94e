// SPDX-License-Identifier: BSD-2-Clause
/* Creates, maps and closes array maps. The kernel rounds the length of a mapping to whole pages. */

#include "ebpf/kernel/array.h"

#include "ebpf/kernel/feature.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

int ebpf_array_init(struct ebpf_array *array, const char *name, uint32_t value_bytes, uint32_t count, int access)
{
	LIBBPF_OPTS(bpf_map_create_opts, options, .map_flags = BPF_F_MMAPABLE);
	size_t bytes = (size_t)value_bytes * count;
	int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, name, 4, value_bytes, count, &options);

	if (fd < 0)
		return fd;
	void *memory = mmap(NULL, bytes, access, MAP_SHARED, fd, 0);

	if (memory == MAP_FAILED) {
		int error = -errno;

		close(fd);
		return error;
	}
	*array = (struct ebpf_array){ .fd = fd, .bytes = bytes, .memory = memory };
	return 0;
}

void ebpf_array_fini(struct ebpf_array *array)
{
	if (!array->memory)
		return;
	munmap(array->memory, array->bytes);
	close(array->fd);
	*array = (struct ebpf_array){ 0 };
}

int ebpf_map_refused(struct asterism_diag *diag, int error, const char *what, uint64_t bytes)
{
	if (error == -EPERM)
		return diag_error(diag, NULL, -EPERM, "creating BPF maps is not permitted (CAP_BPF)");
	if (error == -ENOMEM) {
		diag_add(diag, ASTERISM_ERROR, NULL, EBPF_MEMORY_HINT, "the kernel has no memory for %s of %llu bytes",
			 what, (unsigned long long)bytes);
		return -ENOMEM;
	}
	return diag_error(diag, NULL, error == -E2BIG ? -E2BIG : -EOPNOTSUPP, "the kernel refused %s of %llu bytes: %s",
			  what, (unsigned long long)bytes, strerror(-error));
}
