// SPDX-License-Identifier: BSD-2-Clause
/*
 * Feeds recorded events to an executor. A source numbers the event types that it meets; the first event fed of each
 * looks its type up in the program, every other goes by a table.
 */

#include "session/replay/priv.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "session/executor/executor.h"
#include "session/replay/check.h"
#include "session/replay/input.h"
#include "session/replay/want.h"

#include <errno.h>
#include <inttypes.h>

/* How many events pass between two looks at the clock and the wish to stop. */
enum { EVENTS_PER_LOOK = 1024, NS_PER_S = 1000000000 };

/* A type that has not been looked up yet. */
#define TYPE_NEW (PROGRAM_NONE - 1)

struct replay {
	const struct session_replay_options *options;
	const struct program *program;
	struct replay_input input;
	struct replay_want want;
	bool *absent; /* per type of the program: its events do not reach the rules */
	struct executor *executor;
	uint32_t *types; /* per type number of the source: index in the program, PROGRAM_NONE or TYPE_NEW */
	size_t type_count, type_capacity;
	struct session_progress progress;
	bool begun, at_end;         /* the first event was seen; there are no more */
	bool failed;                /* the executor, or who takes the matches */
	uint64_t from_ns, to_ns;    /* the window, once begun */
	uint64_t start_ns, last_ns; /* of the first event, and of the last one met */
	uint64_t fed_ns;            /* of the last one that was fed */
	uint64_t lost;              /* of the source, as far as it has been told */
	bool passes_over;           /* events of types that no rule knows only let time pass, */
	uint64_t passed_ns;         /* up to this; the executor hears of it when it matters */
};

static int session_replay_on_match(void *context, const struct program_match *match)
{
	struct replay *replay = context;

	if (replay->options->machine)
		*replay->options->machine = replay->input.source->machine;
	return replay->options->on_match ? replay->options->on_match(replay->options->context, match) : 0;
}

static int open_executor(struct replay *replay, const struct session_rules *rules, struct asterism_diag *diag)
{
	bool in_kernel = replay->options->engine == SESSION_ENGINE_KERNEL;
	const struct executor_options options = {
		.program = replay->program,
		.catalog = session_rules_catalog(rules),
		.input = in_kernel ? EXECUTOR_TEST_RUN : EXECUTOR_FED,
		.jobs = replay->options->jobs,
		.counts_why = replay->options->counts_why,
		.on_match = session_replay_on_match,
		.context = replay,
	};

	int result = executor_new(&options, diag, &replay->executor);

	if (!result)
		executor_attach(replay->executor, replay->options->aggregates);
	return result;
}

static uint32_t known_type(const struct replay *replay, const struct event_type *type)
{
	uint32_t index = program_type_find(replay->program, type->name);

	return index != PROGRAM_NONE && replay->absent[index] ? PROGRAM_NONE : index;
}

/* Gives the event the type index that the program knows it by. */
static int translate_type(struct replay *replay, const struct event *event)
{
	size_t number = event->record->type;

	while (replay->type_count <= number) {
		if (alloc_grow(&replay->types, &replay->type_capacity, replay->type_count, sizeof *replay->types))
			return -ENOMEM;
		replay->types[replay->type_count++] = TYPE_NEW;
	}
	if (replay->types[number] == TYPE_NEW)
		replay->types[number] = known_type(replay, event->type);
	event->record->type = replay->types[number];
	if (event->completed_ns && event->record->type != PROGRAM_NONE)
		event->record->type |= EVENT_LATE;
	return 0;
}

static uint64_t resolve_moment(const struct session_moment *moment, uint64_t start_ns, uint64_t otherwise)
{
	uint64_t ns;

	if (!moment)
		return otherwise;
	if (!moment->since_start)
		return moment->ns;
	return __builtin_add_overflow(start_ns, moment->ns, &ns) ? UINT64_MAX : ns;
}

static void begin_replay(struct replay *replay, uint64_t start_ns)
{
	replay->begun = true;
	replay->start_ns = start_ns;
	replay->from_ns = resolve_moment(replay->options->from, start_ns, 0);
	replay->to_ns = resolve_moment(replay->options->to, start_ns, UINT64_MAX);
}

/*
 * Marks the open runs where events may be missing before the one at ts. Runs are opened and completed while a gap
 * lasts, too, so every event in it marks what the events before have opened.
 */
static int report_losses(struct replay *replay, uint64_t ts)
{
	const struct event_source *source = replay->input.source;
	uint64_t news = source->lost - replay->lost;
	int result;

	if (!news && ts > source->lossy_until_ns)
		return 0;
	replay->lost = source->lost;
	result = executor_advance(replay->executor, replay->passed_ns);
	return result ? result : executor_lose(replay->executor, news);
}

/* Whether the event only lets time pass, which the executor need not hear of now. */
static bool pass_over(struct replay *replay, struct event_header *record)
{
	if (record->type == PROGRAM_NONE && replay->passes_over) {
		if (record->ts > replay->passed_ns)
			replay->passed_ns = record->ts;
		return true;
	}
	if (record->ts < replay->passed_ns && !event_is_late(record))
		record->ts = replay->passed_ns;
	return false;
}

/* Events that are fed last set the time; it is passed on where it begins and ends. */
static void pass_time(struct replay *replay, uint64_t ns)
{
	if (!replay->progress.events && replay->options->on_time)
		replay->options->on_time(replay->options->context, ns);
	replay->fed_ns = ns;
}

static int feed(struct replay *replay, const struct event *event)
{
	const struct session_tap *tap = replay->options->tap;
	int result = tap ? tap->on_event(tap->context, replay->input.source, event) : 0;

	if (!result)
		result = translate_type(replay, event);
	pass_time(replay, event->record->ts);
	replay->progress.events++;
	if (!result && (replay->input.source->lossy_until_ns || replay->input.source->lost))
		result = report_losses(replay, event->record->ts);
	if (result || pass_over(replay, event->record))
		return result;
	return executor_feed(replay->executor, event->record);
}

static bool must_stop(struct replay *replay)
{
	const struct session_replay_options *options = replay->options;

	if (options->on_progress) {
		replay->progress.bytes_read = event_source_position(replay->input.source);
		options->on_progress(options->context, &replay->progress);
	}
	return options->stop && *options->stop;
}

static int feed_all(struct replay *replay)
{
	struct event event;
	int result;

	for (uint64_t count = 1; (result = event_source_next(replay->input.source, &event)) > 0; count++) {
		if (!replay->begun)
			begin_replay(replay, event.record->ts);
		replay->last_ns = event.record->ts;
		if (event.record->ts >= replay->to_ns)
			return 0;
		if (event.record->ts >= replay->from_ns)
			result = feed(replay, &event);
		if (result < 0) {
			replay->failed = true;
			return result;
		}
		if (count % EVENTS_PER_LOOK == 0 && must_stop(replay))
			return 0;
	}
	replay->at_end = result == 0;
	/* A read that a signal interrupted is how a source that waits for input learns that it is to stop. */
	return result == -EINTR ? 0 : result;
}

/* What the input lacks every rule lacks; it is lost once. */
static void count_replay_losses(struct replay *replay, struct session_totals *totals)
{
	totals->lost = 0;
	totals->threads = 1;
	executor_count(replay->executor, totals);
	totals->events = replay->progress.events;
	totals->missing = replay->lost;
	totals->lost += replay->lost;
}

/* What the input lacks after its last event, too, unless its end was not reached. The first failure counts. */
static int finish_replay(struct replay *replay, int result)
{
	int last = 0;

	if (!result && replay->at_end)
		result = report_losses(replay, UINT64_MAX);
	if (!replay->failed)
		last = executor_advance(replay->executor, replay->passed_ns);
	if (!last)
		last = executor_finish(replay->executor);
	if (!last && replay->progress.events && replay->options->on_time)
		replay->options->on_time(replay->options->context, replay->fed_ns);
	if (!last)
		last = aggregates_detach(replay->options->aggregates);
	return result ? result : last;
}

static int check_input(struct replay *replay, const struct session_rules *rules, struct asterism_diag *diag)
{
	const struct replay_check check = {
		.program = replay->program,
		.catalog = session_rules_catalog(rules),
		.source = replay->input.source,
		.want = &replay->want,
		.remedy = replay->options->remedy,
		.skips = replay->options->skips_missing,
		.on_no_end = replay->options->on_no_end,
		.context = replay->options->context,
	};

	replay->absent = alloc_zero(replay->program->type_count, sizeof *replay->absent);
	return replay->absent ? replay_check(&check, diag, replay->absent) : -ENOMEM;
}

static int open_sources(struct replay *replay, const struct session_rules *rules, struct asterism_diag *diag)
{
	const struct session_replay_options *options = replay->options;
	int result = replay_input_open(options, session_rules_catalog(rules), diag, &replay->input);

	replay->progress.bytes_total = replay->input.bytes_total;
	if (!result && options->relaxed)
		replay_input_relax(&replay->input);
	if (!result)
		result = replay_want_init(&replay->want, replay->program, options->tap);
	if (result)
		return result;
	result = check_input(replay, rules, diag);
	if (result)
		return result;
	/* What comes as it happens is told as it happens, also that time is up. */
	replay->passes_over = replay->input.bytes_total && !replay->want.sees_all;
	const struct event_want want = replay_want_of(&replay->want);
	event_source_want(replay->input.source, &want);
	return open_executor(replay, rules, diag);
}

static void close_sources(struct replay *replay)
{
	executor_free(replay->executor);
	replay_input_close(&replay->input);
	replay_want_fini(&replay->want);
	alloc_free(replay->types);
	alloc_free(replay->absent);
}

static void warn_of_end(const struct replay *replay, struct asterism_diag *diag)
{
	uint64_t length_ns = replay->last_ns - replay->start_ns;

	if (replay->begun && replay->at_end && replay->last_ns < replay->from_ns)
		diag_add(diag, ASTERISM_WARNING, NULL, NULL,
			 "all events are before --from: the last event that rules look at is %" PRIu64 ".%09" PRIu64
			 " s after the first, at @%" PRIu64,
			 length_ns / NS_PER_S, length_ns % NS_PER_S, replay->last_ns);
}

/* Goes through the inputs. */
static int pass_inputs(struct replay *replay, const struct session_rules *rules, struct asterism_diag *diag,
		       struct session_totals *totals)
{
	int result = open_sources(replay, rules, diag);

	if (!result) {
		uint64_t start_ns = clock_now_ns();

		result = finish_replay(replay, feed_all(replay));
		totals->elapsed_ns = clock_now_ns() - start_ns;
		count_replay_losses(replay, totals);
		if (totals->why)
			executor_count_why(replay->executor, totals->why);
		warn_of_end(replay, diag);
		if (replay->options->machine)
			*replay->options->machine = replay->input.source->machine;
	}
	close_sources(replay);
	return result;
}

int replay_events(const struct session_rules *rules, const struct session_replay_options *options,
		  struct asterism_diag *diag, struct session_totals *totals)
{
	struct replay replay = { .options = options, .program = session_rules_program(rules) };
	int result = -ENOMEM;

	*totals = (struct session_totals){ .rule_count = replay.program->rule_count };
	totals->rules = alloc_zero(totals->rule_count, sizeof *totals->rules);
	if (totals->rules && options->counts_why)
		program_why_new(replay.program, &totals->why);
	if (totals->rules && (totals->why || !options->counts_why))
		result = pass_inputs(&replay, rules, diag, totals);
	if (result == -ENOMEM)
		diag_no_memory(diag);
	return result;
}
