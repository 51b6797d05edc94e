/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef EBPF_PLAN_RUNS_H
#define EBPF_PLAN_RUNS_H

/* How large a rule's runs are, without a plan. */

#include "ebpf/plan/plan.h"

struct plan_sizes {
	struct plan_history history;
	uint32_t area_bytes, bucket_bits;
	bool has_runs;
};

/* Returns 0, -E2BIG (a run would have to keep too many events), -ENOMEM; sizes are set as far as they are known. */
int plan_sizes(const struct program *program, const struct program_rule *rule, struct plan_sizes *sizes);

#endif
