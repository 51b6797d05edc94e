// SPDX-License-Identifier: BSD-2-Clause
/* Stands in for the kernel executor in a tree that does not have it yet: every rule is one that it cannot run. */

#include "ebpf/ebpf.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

int ebpf_can_run(const struct program *program, uint32_t rule, char *reason, size_t size)
{
	(void)program;
	(void)rule;
	snprintf(reason, size, "this build has no kernel executor");
	return 0;
}

uint64_t ebpf_pool_bytes(const struct program *program, uint32_t rule)
{
	(void)program;
	(void)rule;
	return 0;
}

int ebpf_new(const struct program *program, struct event_catalog *catalog, const struct ebpf_options *options,
	     struct asterism_diag *diag, struct ebpf **made)
{
	(void)program;
	(void)catalog;
	(void)options;
	(void)made;
	return diag_error(diag, NULL, -EOPNOTSUPP, "this build has no kernel executor");
}

void ebpf_free(struct ebpf *ebpf)
{
	(void)ebpf;
}

int ebpf_scope_add(struct ebpf *ebpf, pid_t pid)
{
	(void)ebpf;
	(void)pid;
	return -EOPNOTSUPP;
}

int ebpf_fd(const struct ebpf *ebpf)
{
	(void)ebpf;
	return -1;
}

int ebpf_poll(struct ebpf *ebpf, uint64_t *wait_ns)
{
	(void)ebpf;
	(void)wait_ns;
	return -EOPNOTSUPP;
}

int ebpf_feed(struct ebpf *ebpf, const struct event_header *record)
{
	(void)ebpf;
	(void)record;
	return -EOPNOTSUPP;
}

void ebpf_stats(const struct ebpf *ebpf, uint32_t rule, struct program_rule_stats *stats)
{
	(void)ebpf;
	(void)rule;
	memset(stats, 0, sizeof *stats);
}

uint64_t ebpf_events(const struct ebpf *ebpf)
{
	(void)ebpf;
	return 0;
}

uint64_t ebpf_lost(const struct ebpf *ebpf)
{
	(void)ebpf;
	return 0;
}
