// SPDX-License-Identifier: BSD-2-Clause
/*
 * Decides which executor gets which rule of a live session, and makes one of them all: the kernel's, and an engine here
 * that is fed with the events the kernel ships for the rules it cannot run.
 */

#include "session/executor/executor.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "engine/engine.h"
#include "session/executor/place.h"
#include "session/load/order.h"

#include <errno.h>

/* How long after its deadline a shipped event may still come in, and how often time is looked at while nothing comes.
 */
enum { GRACE_NS = 50 * 1000 * 1000, TICK_NS = 20 * 1000 * 1000 };

struct executor {
	const struct program *program;
	struct ebpf *kernel;   /* the rules that run in the kernel */
	struct engine *engine; /* the others; NULL where there are none */
	bool *excluded;        /* per rule: does not run in the kernel */
	bool *here;            /* per rule: runs in the engine */
	program_match_fn *on_match;
	void *context;
	uint32_t batch, left; /* in this poll */
};

static int place_rules(struct executor *executor, struct event_catalog *catalog, const bool *elsewhere,
		       struct asterism_diag *diag)
{
	const struct program *program = executor->program;
	int result = 0;

	for (uint32_t i = 0; i < program->rule_count; i++) {
		const char *name = program_text(program, program->rules[i].name);
		struct session_placement placement;
		int error = session_check_raised(program, catalog, i, diag);

		if (elsewhere && elsewhere[i]) {
			executor->excluded[i] = true;
			continue;
		}
		session_place_watching(program, i, &placement);
		executor->excluded[i] = executor->here[i] = placement.place == SESSION_USER;
		if (placement.place == SESSION_NOWHERE)
			error = diag_error(diag, NULL, -EINVAL,
					   "rule %s is SYNCHRONOUS but cannot run in the kernel: %s", name,
					   placement.reason);
		else if (placement.place == SESSION_USER)
			diag_add(diag, ASTERISM_NOTE, NULL, NULL, "%s %s runs in user space: %s",
				 program_sort(&program->rules[i]), name, placement.reason);
		if (!error)
			error = session_tell_order(program, catalog, i, diag);
		if (error)
			result = error;
	}
	return result;
}

static int make_engine(struct executor *executor, const struct executor_options *options, struct asterism_diag *diag)
{
	const struct engine_options engine = {
		.on_match = options->on_match,
		.context = options->context,
		.rules = executor->here,
	};
	bool needed = false;

	for (uint32_t i = 0; i < executor->program->rule_count; i++)
		needed |= executor->here[i];
	return needed ? engine_new(executor->program, &engine, diag, &executor->engine) : 0;
}

/* Ends a poll between two events or matches, never in the midst of one. */
static int take_one(struct executor *executor)
{
	return executor->batch && --executor->left == 0 ? EXECUTOR_PAUSE : 0;
}

static int on_match(void *context, const struct program_match *match)
{
	struct executor *executor = context;
	int result = executor->on_match ? executor->on_match(executor->context, match) : 0;

	return result ? result : take_one(executor);
}

/* What matches stand in the callback's context is the sink's; shipped events go to the engine, which calls it. */
static int on_event(void *context, const struct event_header *record)
{
	struct executor *executor = context;
	int result = engine_feed(executor->engine, record);

	return result ? result : take_one(executor);
}

static void on_lost(void *context, uint64_t lost)
{
	struct executor *executor = context;

	engine_lose(executor->engine, lost);
}

/* A defect of the generated code is, to whoever runs it, something this kernel does not do. */
static int kernel_error(int result)
{
	return result == -EINVAL || result == -E2BIG ? -EOPNOTSUPP : result;
}

static int make_kernel(struct executor *executor, struct event_catalog *catalog, const struct executor_options *options,
		       struct asterism_diag *diag)
{
	const struct ebpf_options kernel = {
		.scope = options->scope,
		.excluded = executor->excluded,
		.recorder = options->recorder,
		.allowed = options->allowed,
		.anywhere = options->anywhere,
		.stops = options->stops,
		.on_match = on_match,
		.context = executor,
		.on_event = executor->engine ? on_event : NULL,
		.on_lost = on_lost,
		.event_context = executor,
	};

	return ebpf_new(executor->program, catalog, &kernel, diag, &executor->kernel);
}

/* Takes the rules that EMIT connects out of the kernel. False where there are none, or one must not leave it. */
static bool fall_back(struct executor *executor, struct asterism_diag *diag)
{
	const struct program *program = executor->program;
	uint32_t connected = 0;

	for (uint32_t i = 0; i < program->rule_count; i++) {
		if (executor->excluded[i] || !ebpf_emit_connects(program, i))
			continue;
		if (program->rules[i].mode == PROGRAM_SYNCHRONOUS)
			return false;
		connected++;
	}
	for (uint32_t i = 0; i < program->rule_count && connected; i++) {
		if (executor->excluded[i] || !ebpf_emit_connects(program, i))
			continue;
		executor->excluded[i] = executor->here[i] = true;
		diag_add(diag, ASTERISM_NOTE, NULL, NULL,
			 "%s %s runs in user space: with the rules that EMIT connects it with it is too much for one "
			 "program of this kernel",
			 program_sort(&program->rules[i]), program_text(program, program->rules[i].name));
	}
	return connected > 0;
}

/*
 * What follows from an event by EMIT is one program, and only the kernel tells whether that is too large. The attempt
 * after which there may be another one is silent.
 */
static int make_executors(struct executor *executor, struct event_catalog *catalog,
			  const struct executor_options *options, struct asterism_diag *diag)
{
	bool connected = false;
	int result = make_engine(executor, options, diag);

	for (uint32_t i = 0; i < executor->program->rule_count; i++)
		connected |= !executor->excluded[i] && ebpf_emit_connects(executor->program, i);
	if (result || !connected)
		return result ? result : make_kernel(executor, catalog, options, diag);
	result = make_kernel(executor, catalog, options, NULL);
	if (!result)
		return 0;
	if (result == -E2BIG && fall_back(executor, diag)) {
		engine_free(executor->engine);
		executor->engine = NULL;
		result = make_engine(executor, options, diag);
		if (result)
			return result;
	}
	return make_kernel(executor, catalog, options, diag);
}

int executor_new(const struct session_rules *rules, const struct executor_options *options, struct asterism_diag *diag,
		 struct executor **made)
{
	struct event_catalog *catalog = session_rules_catalog(rules);
	struct executor *executor = alloc_zero(1, sizeof *executor);
	int result;

	if (!executor)
		return diag_no_memory(diag);
	executor->program = session_rules_program(rules);
	executor->on_match = options->on_match;
	executor->context = options->context;
	executor->batch = executor->left = options->batch;
	executor->excluded = alloc_zero(executor->program->rule_count, sizeof *executor->excluded);
	executor->here = alloc_zero(executor->program->rule_count, sizeof *executor->here);
	result = executor->excluded && executor->here ? place_rules(executor, catalog, options->elsewhere, diag)
						      : diag_no_memory(diag);
	if (!result)
		result = kernel_error(make_executors(executor, catalog, options, diag));
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
	engine_free(executor->engine);
	alloc_free(executor->excluded);
	alloc_free(executor->here);
	alloc_free(executor);
}

int executor_add(struct executor *executor, pid_t pid)
{
	return ebpf_scope_add(executor->kernel, pid);
}

bool executor_has(const struct executor *executor, pid_t pid)
{
	return ebpf_scope_has(executor->kernel, pid);
}

void executor_tally(const struct executor *executor, uint32_t statement, uint64_t *buckets)
{
	ebpf_tally(executor->kernel, statement, buckets);
}

void executor_run_time(const struct executor *executor, struct ebpf_run_time *time)
{
	ebpf_run_time(executor->kernel, time);
}

int executor_fd(const struct executor *executor)
{
	return ebpf_fd(executor->kernel);
}

int executor_poll(struct executor *executor, uint64_t *wait_ns)
{
	uint64_t before = clock_now_ns();
	int result;

	executor->left = executor->batch;
	result = ebpf_poll(executor->kernel, wait_ns);

	if (result || !executor->engine)
		return result;
	if (*wait_ns > TICK_NS)
		*wait_ns = TICK_NS;
	return engine_advance(executor->engine, before - GRACE_NS);
}

void executor_detach(struct executor *executor)
{
	ebpf_detach(executor->kernel);
}

void executor_count(const struct executor *executor, struct session_totals *totals)
{
	totals->events = ebpf_events(executor->kernel);
	totals->lost = ebpf_lost(executor->kernel);
	for (uint32_t i = 0; i < totals->rule_count; i++) {
		if (executor->here[i])
			engine_stats(executor->engine, i, &totals->rules[i]);
		else if (!executor->excluded[i])
			ebpf_stats(executor->kernel, i, &totals->rules[i]);
		totals->lost += totals->rules[i].pool_exhausted;
		totals->lost += executor->here[i] ? totals->rules[i].unraised : 0; /* ebpf_lost has the others */
	}
}
