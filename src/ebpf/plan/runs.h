/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef EBPF_PLAN_RUNS_H
#define EBPF_PLAN_RUNS_H

/* How large a rule's runs are, without a plan. */

#include "ebpf/plan/plan.h"

enum {
	PLAN_RUN_BYTES = 40,       /* of a run, in front of its slots */
	PLAN_ROOM_MAX = 256 << 20, /* for the runs of a rule, on any kernel */
};

struct plan_sizes {
	struct plan_history history;
	uint32_t area_bytes, bucket_bits;
	bool has_runs;
};

/* Returns 0, -ENOMEM; sizes are set as far as they are known. */
int plan_sizes(const struct program *program, const struct program_rule *rule, struct plan_sizes *sizes);

#endif
