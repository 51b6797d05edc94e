/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef EBPF_RUN_TIME_H
#define EBPF_RUN_TIME_H

/* What the kernel measures of the programs of an executor, while somebody wants it to. */

#include "ebpf/ebpf.h"

struct ebpf_run_time {
	uint64_t ns;   /* in the programs, without what it takes to get there */
	uint64_t runs; /* of all programs */
	uint64_t programs;
};

/*
 * The kernel measures all programs of the machine until the descriptor that is returned is closed; -EPERM or another
 * -errno with a message.
 */
int ebpf_measure(struct asterism_diag *diag);

/* So far; programs that make matches wait out their time (sweeps) are not measured by the kernel. */
void ebpf_run_time(const struct ebpf *ebpf, struct ebpf_run_time *time);

#endif
