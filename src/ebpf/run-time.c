// SPDX-License-Identifier: BSD-2-Clause
/* Measures the time that programs take. */

#include "ebpf/run-time.h"

#include "ebpf/source/set.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <string.h>

int ebpf_measure(struct asterism_diag *diag)
{
	int fd = bpf_enable_stats(BPF_STATS_RUN_TIME);

	if (fd >= 0)
		return fd;
	return diag_error(diag, NULL, fd, "the kernel does not measure programs: %s", strerror(-fd));
}

void run_time_of_sources(const struct source_set *set, struct ebpf_run_time *time)
{
	*time = (struct ebpf_run_time){ .programs = source_set_programs(set) };
	for (size_t i = 0; i < source_set_programs(set); i++) {
		struct bpf_prog_info info = { 0 };
		uint32_t length = sizeof info;

		if (bpf_obj_get_info_by_fd(source_set_program(set, i), &info, &length) < 0)
			continue;
		time->ns += info.run_time_ns;
		time->runs += info.run_cnt;
	}
}
