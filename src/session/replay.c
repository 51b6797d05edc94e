// SPDX-License-Identifier: BSD-2-Clause
/*
 * Decides how recorded events reach an executor. A source numbers the event types that it meets; the first event of
 * each looks its type up in the program, every other goes by a table.
 */

#include "session/session.h"

#include "base/alloc.h"
#include "ebpf/ebpf.h"
#include "engine/engine.h"
#include "session/input.h"
#include "trace/jsonl.h"

#include <errno.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* How many events pass between two looks at the clock and the wish to stop. */
enum { EVENTS_PER_LOOK = 1024 };

struct replay {
	const struct session_replay_options *options;
	const struct program *program;
	struct trace_source *source;
	struct engine *engine; /* one of these two */
	struct ebpf *kernel;
	uint32_t *types; /* per type number of the source: index in the program, or PROGRAM_NONE */
	size_t type_count, type_capacity;
	struct session_progress progress;
};

void session_totals_fini(struct session_totals *totals)
{
	alloc_free(totals->rules);
	*totals = (struct session_totals){ 0 };
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Every rule must run in the kernel: results are to be those of the kernel, not of a stand-in. */
static int check_kernel(const struct program *program, struct asterism_diag *diag)
{
	int result = 0;

	for (uint32_t i = 0; i < program->rule_count; i++) {
		char reason[200];

		if (!ebpf_can_run(program, i, reason, sizeof reason))
			result = diag_error(diag, NULL, -EINVAL, "rule %s cannot run in the kernel: %s",
					    program_text(program, program->rules[i].name), reason);
	}
	return result;
}

static int open_kernel(struct replay *replay, const struct session_rules *rules, struct asterism_diag *diag)
{
	const struct ebpf_options options = {
		.scope = EBPF_SCOPE_ALL,
		.test_run = true,
		.on_match = replay->options->on_match,
		.context = replay->options->context,
	};
	int result = check_kernel(replay->program, diag);

	if (result)
		return result;
	result = ebpf_new(replay->program, session_rules_catalog(rules), &options, diag, &replay->kernel);
	return result == -EINVAL || result == -E2BIG ? -EOPNOTSUPP : result;
}

static int open_executor(struct replay *replay, const struct session_rules *rules, struct asterism_diag *diag)
{
	const struct engine_options options = {
		.on_match = replay->options->on_match,
		.context = replay->options->context,
	};

	if (replay->options->engine == SESSION_ENGINE_KERNEL)
		return open_kernel(replay, rules, diag);
	return engine_new(replay->program, &options, diag, &replay->engine);
}

/* Gives the event the type index that the program knows it by. */
static int translate(struct replay *replay, const struct trace_event *event)
{
	size_t number = event->record->type;

	while (replay->type_count <= number) {
		if (alloc_grow(&replay->types, &replay->type_capacity, replay->type_count, sizeof *replay->types))
			return -ENOMEM;
		replay->types[replay->type_count++] = program_type_find(replay->program, event->type->name);
	}
	event->record->type = replay->types[number];
	return 0;
}

static int feed(struct replay *replay, const struct trace_event *event)
{
	int result = translate(replay, event);

	if (result)
		return result;
	replay->progress.events++;
	return replay->engine ? engine_feed(replay->engine, event->record) : ebpf_feed(replay->kernel, event->record);
}

static bool must_stop(struct replay *replay)
{
	const struct session_replay_options *options = replay->options;

	if (options->on_progress) {
		replay->progress.bytes_read = trace_source_position(replay->source);
		options->on_progress(options->context, &replay->progress);
	}
	return options->stop && *options->stop;
}

static int feed_all(struct replay *replay)
{
	struct trace_event event;
	int result;

	while ((result = trace_source_next(replay->source, &event)) > 0) {
		result = feed(replay, &event);
		if (result < 0)
			return result;
		if (replay->progress.events % EVENTS_PER_LOOK == 0 && must_stop(replay))
			return 0;
	}
	/* A read that a signal interrupted is how a source that waits for input learns that it is to stop. */
	return result == -EINTR ? 0 : result;
}

static void count(const struct replay *replay, struct session_totals *totals)
{
	totals->events = replay->progress.events;
	for (uint32_t i = 0; i < totals->rule_count; i++) {
		if (replay->engine)
			engine_stats(replay->engine, i, &totals->rules[i]);
		else
			ebpf_stats(replay->kernel, i, &totals->rules[i]);
		totals->lost += totals->rules[i].lost;
	}
}

int session_replay(const struct session_rules *rules, const struct session_replay_options *options,
		   struct asterism_diag *diag, struct session_totals *totals)
{
	struct replay replay = { .options = options, .program = session_rules_program(rules) };
	struct stat status;
	uint64_t start_ns;
	int fd = session_input_open(options->file, diag), result;

	*totals = (struct session_totals){ .rule_count = replay.program->rule_count };
	if (fd < 0)
		return fd;
	if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode))
		replay.progress.bytes_total = (uint64_t)status.st_size;
	totals->rules = alloc_zero(totals->rule_count, sizeof *totals->rules);
	result = totals->rules ? trace_jsonl_new(fd, session_input_name(options->file), session_rules_catalog(rules),
						 diag, &replay.source)
			       : -ENOMEM;
	if (!result)
		result = open_executor(&replay, rules, diag);
	if (!result) {
		start_ns = now_ns();
		result = feed_all(&replay);
		totals->elapsed_ns = now_ns() - start_ns;
		count(&replay, totals);
	}
	if (result == -ENOMEM)
		diag_no_memory(diag);
	engine_free(replay.engine);
	ebpf_free(replay.kernel);
	trace_source_free(replay.source);
	alloc_free(replay.types);
	close(fd);
	return result;
}
