// SPDX-License-Identifier: BSD-2-Clause
/* Decides which executor gets which rule of a live session, and makes one of them all. */

#include "session/executor.h"

#include "base/alloc.h"

#include <errno.h>

struct executor {
	const struct program *program;
	struct ebpf *kernel; /* the rules that run in the kernel */
	bool *excluded;      /* per rule: does not run in the kernel */
};

static int place_rules(struct executor *executor, struct asterism_diag *diag)
{
	const struct program *program = executor->program;
	int result = 0;

	for (uint32_t i = 0; i < program->rule_count; i++) {
		const char *name = program_text(program, program->rules[i].name);
		struct session_placement placement;

		session_place(program, i, &placement);
		executor->excluded[i] = placement.place == SESSION_USER;
		if (placement.place == SESSION_NOWHERE)
			result = diag_error(diag, NULL, -EINVAL,
					    "rule %s is SYNCHRONOUS but cannot run in the kernel: %s", name,
					    placement.reason);
	}
	return result;
}

/* A defect of the generated code is, to whoever runs it, something this kernel does not do. */
static int kernel_error(int result)
{
	return result == -EINVAL || result == -E2BIG ? -EOPNOTSUPP : result;
}

int executor_new(const struct session_rules *rules, const struct executor_options *options, struct asterism_diag *diag,
		 struct executor **made)
{
	struct executor *executor = alloc_zero(1, sizeof *executor);
	struct ebpf_options kernel = { .scope = options->scope,
				       .on_match = options->on_match,
				       .context = options->context };
	int result;

	if (!executor)
		return diag_no_memory(diag);
	executor->program = session_rules_program(rules);
	executor->excluded = alloc_zero(executor->program->rule_count, sizeof *executor->excluded);
	kernel.excluded = executor->excluded;
	result = executor->excluded ? place_rules(executor, diag) : diag_no_memory(diag);
	if (!result)
		result = kernel_error(
			ebpf_new(executor->program, session_rules_catalog(rules), &kernel, diag, &executor->kernel));
	if (result) {
		executor_free(executor);
		return result;
	}
	*made = executor;
	return 0;
}

void executor_free(struct executor *executor)
{
	if (!executor)
		return;
	ebpf_free(executor->kernel);
	alloc_free(executor->excluded);
	alloc_free(executor);
}

int executor_add(struct executor *executor, pid_t pid)
{
	return ebpf_scope_add(executor->kernel, pid);
}

int executor_fd(const struct executor *executor)
{
	return ebpf_fd(executor->kernel);
}

int executor_poll(struct executor *executor, uint64_t *wait_ns)
{
	return ebpf_poll(executor->kernel, wait_ns);
}

void executor_count(const struct executor *executor, struct session_totals *totals)
{
	totals->events = ebpf_events(executor->kernel);
	totals->lost = ebpf_lost(executor->kernel);
	for (uint32_t i = 0; i < totals->rule_count; i++) {
		ebpf_stats(executor->kernel, i, &totals->rules[i]);
		totals->lost += totals->rules[i].pool_exhausted;
	}
}
