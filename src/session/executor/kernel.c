// SPDX-License-Identifier: BSD-2-Clause
/*
 * Rules in the kernel, with two ways for events to reach them. Live, the programs are attached and see an event where
 * it happens; matches are handed out by a poll, which also makes time pass. By test runs, an event
 * is fed to the same code, and its matches are handed out before that returns; what is told to be lost marks no runs,
 * as the programs know of their own losses only.
 */

#include "session/executor/kinds.h"

#include "base/alloc.h"

#include <errno.h>

struct kernel {
	struct executor executor; /* first */
	const struct program *program;
	struct ebpf *ebpf;
	bool *excluded; /* per rule: does not run here */
	program_match_fn *on_match;
	void *context;
	struct kernel_stream stream;
	uint32_t batch, left; /* in this poll */
	bool is_live;
};

/* Ends a poll between two events or matches, never in the midst of one. */
static int take_one(struct kernel *kernel)
{
	return kernel->batch && --kernel->left == 0 ? EXECUTOR_PAUSE : 0;
}

static int kernel_on_match(void *context, const struct program_match *match)
{
	struct kernel *kernel = context;
	int result = kernel->on_match ? kernel->on_match(kernel->context, match) : 0;

	return result ? result : take_one(kernel);
}

static int kernel_on_event(void *context, const struct event_header *record)
{
	struct kernel *kernel = context;
	int result = kernel->stream.on_event(kernel->stream.context, record);

	return result ? result : take_one(kernel);
}

static void kernel_on_lost(void *context, uint64_t lost)
{
	struct kernel *kernel = context;

	kernel->stream.on_lost(kernel->stream.context, lost);
}

static int kernel_feed(struct executor *executor, const struct event_header *record)
{
	return ebpf_feed(((struct kernel *)executor)->ebpf, record);
}

static int kernel_advance(struct executor *executor, uint64_t now_ns)
{
	return ebpf_advance(((struct kernel *)executor)->ebpf, now_ns);
}

static int kernel_add(struct executor *executor, pid_t pid)
{
	return ebpf_scope_add(((struct kernel *)executor)->ebpf, pid);
}

static bool kernel_has(const struct executor *executor, pid_t pid)
{
	return ebpf_scope_has(((const struct kernel *)executor)->ebpf, pid);
}

static int kernel_fd(const struct executor *executor)
{
	return ebpf_fd(((const struct kernel *)executor)->ebpf);
}

static int kernel_poll(struct executor *executor, uint64_t *wait_ns)
{
	struct kernel *kernel = (struct kernel *)executor;

	kernel->left = kernel->batch;
	return ebpf_poll(kernel->ebpf, wait_ns);
}

static int kernel_finish(struct executor *executor)
{
	struct kernel *kernel = (struct kernel *)executor;

	if (kernel->is_live)
		ebpf_detach(kernel->ebpf);
	return 0;
}

static void look_for_bypassed(const struct kernel *kernel, uint32_t rule, struct program_rule_stats *stats)
{
	stats->calls_32bit = ebpf_calls_32bit(kernel->ebpf, rule);
	stats->io_uring = ebpf_io_uring(kernel->ebpf, rule);
}

static void kernel_count(const struct executor *executor, struct session_totals *totals)
{
	const struct kernel *kernel = (const struct kernel *)executor;

	totals->events += ebpf_events(kernel->ebpf);
	totals->lost += ebpf_lost(kernel->ebpf);
	totals->replaced += ebpf_replaced(kernel->ebpf);
	for (uint32_t i = 0; i < totals->rule_count; i++) {
		if (kernel->excluded[i])
			continue;
		ebpf_stats(kernel->ebpf, i, &totals->rules[i]);
		totals->lost += totals->rules[i].pool_exhausted;
	}
	for (uint32_t i = 0; i < totals->rule_count; i++) /* also of rules for which events are only shipped */
		look_for_bypassed(kernel, i, &totals->rules[i]);
}

static void kernel_look(const struct executor *executor, struct program_rule_stats *rules)
{
	const struct kernel *kernel = (const struct kernel *)executor;

	for (uint32_t i = 0; i < kernel->program->rule_count; i++) {
		if (!kernel->excluded[i])
			ebpf_stats(kernel->ebpf, i, &rules[i]);
		look_for_bypassed(kernel, i, &rules[i]);
	}
}

static void kernel_tally(const struct executor *executor, uint32_t statement, uint64_t *buckets)
{
	ebpf_tally(((const struct kernel *)executor)->ebpf, statement, buckets);
}

static void kernel_count_why(const struct executor *executor, struct program_why *why)
{
	const struct kernel *kernel = (const struct kernel *)executor;

	for (uint32_t i = 0; i < why->program->rule_count; i++)
		if (!kernel->excluded[i])
			ebpf_count_why(kernel->ebpf, i, why->rules[i]);
}

static void kernel_source(const struct executor *executor, struct aggregate_source *source)
{
	ebpf_source(((const struct kernel *)executor)->ebpf, source);
}

static void kernel_run_time(const struct executor *executor, struct ebpf_run_time *time)
{
	ebpf_run_time(((const struct kernel *)executor)->ebpf, time);
}

static void kernel_free(struct executor *executor)
{
	struct kernel *kernel = (struct kernel *)executor;

	ebpf_free(kernel->ebpf);
	alloc_free(kernel->excluded);
	alloc_free(kernel);
}

static int make_ebpf(struct kernel *kernel, const struct executor_options *options, struct asterism_diag *diag)
{
	const struct ebpf_options ebpf = {
		.test_run = !kernel->is_live,
		.scope = kernel->is_live ? options->scope : EBPF_SCOPE_ALL,
		.filter = kernel->is_live ? options->filter : NULL,
		.excluded = kernel->excluded,
		.recorder = options->recorder,
		.allowed = options->allowed,
		.counts_why = options->counts_why,
		.anywhere = options->anywhere,
		.stops = options->stops,
		.deliver_all = options->deliver_all,
		.news = options->news,
		.on_match = kernel_on_match,
		.context = kernel,
		.on_event = kernel->stream.on_event ? kernel_on_event : NULL,
		.on_lost = kernel->stream.on_lost ? kernel_on_lost : NULL,
		.event_context = kernel,
	};

	return ebpf_new(kernel->program, options->catalog, &ebpf, diag, &kernel->ebpf);
}

int kernel_open(const struct executor_options *options, const struct kernel_stream *stream, struct asterism_diag *diag,
		struct executor **made)
{
	uint32_t rule_count = options->program->rule_count;
	struct kernel *kernel = alloc_zero(1, sizeof *kernel);
	int result;

	if (!kernel)
		return diag_no_memory(diag);
	kernel->executor.kind = &executor_kernel;
	kernel->program = options->program;
	kernel->on_match = options->on_match;
	kernel->context = options->context;
	kernel->stream = *stream;
	kernel->batch = options->batch;
	kernel->is_live = options->input == EXECUTOR_LIVE;
	kernel->excluded = alloc_zero(rule_count, sizeof *kernel->excluded);
	for (uint32_t i = 0; kernel->excluded && i < rule_count; i++)
		kernel->excluded[i] = options->rules && !options->rules[i];
	result = kernel->excluded ? make_ebpf(kernel, options, diag) : diag_no_memory(diag);
	if (result)
		kernel_free(&kernel->executor);
	else
		*made = &kernel->executor;
	return result;
}

/* Every rule must run in the kernel: results are to be those of the kernel, not of a stand-in. */
static int check_rules(const struct program *program, struct asterism_diag *diag)
{
	int result = 0;

	for (uint32_t i = 0; i < program->rule_count; i++) {
		char reason[200];

		if (!ebpf_can_run(program, i, reason, sizeof reason))
			result = diag_error(diag, NULL, -EINVAL, "%s %s cannot run in the kernel: %s",
					    program_sort(&program->rules[i]),
					    program_text(program, program->rules[i].name), reason);
	}
	return result;
}

int kernel_error(int result)
{
	return result == -EINVAL || result == -E2BIG ? -EOPNOTSUPP : result;
}

static int open_for_test_runs(const struct executor_options *options, struct asterism_diag *diag,
			      struct executor **made)
{
	static const struct kernel_stream nobody = { .context = NULL };
	int result;

	if (options->input != EXECUTOR_TEST_RUN)
		return 0;
	result = check_rules(options->program, diag);
	return result ? result : kernel_error(kernel_open(options, &nobody, diag, made));
}

const struct executor_kind executor_kernel = {
	.name = "kernel",
	.open = open_for_test_runs,
	.free = kernel_free,
	.feed = kernel_feed,
	.advance = kernel_advance,
	.add = kernel_add,
	.has = kernel_has,
	.fd = kernel_fd,
	.poll = kernel_poll,
	.finish = kernel_finish,
	.count = kernel_count,
	.look = kernel_look,
	.tally = kernel_tally,
	.count_why = kernel_count_why,
	.source = kernel_source,
	.run_time = kernel_run_time,
};
