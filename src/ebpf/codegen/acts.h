/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef EBPF_CODEGEN_ACTS_H
#define EBPF_CODEGEN_ACTS_H

#include <stdbool.h>
#include <stdint.h>

/* What the programs may do at a match, and how this kernel lets them. */
struct ebpf_acts {
	const bool *allowed; /* per statement of the program */
	bool anywhere;       /* to processes out of scope, too */
	/* BTF ids of kernel functions; 0: missing, then only the current process can be met */
	int32_t task_from_pid, task_release, send_signal_task;
	uint32_t tgid_offset; /* of struct task_struct's member */
	int stops_fd;         /* of the map in which stops are noted; 0: no process is stopped */
};

#endif
