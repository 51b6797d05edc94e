// SPDX-License-Identifier: BSD-2-Clause
/* Decides how rules and a recording go together. */

#include "session/live/parts.h"

#include "base/clock.h"
#include "session/live/remaining.h"
#include "session/live/seed.h"
#include "session/output/result.h"
#include "trace/ctf/metadata.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* Time between two snapshots of matches. */
#define SNAPSHOT_PAUSE_NS 1000000000ull

static enum ebpf_scope scope_of(const struct session_live_options *options)
{
	if (options->all)
		return EBPF_SCOPE_ALL;
	return options->no_children ? EBPF_SCOPE_PIDS : EBPF_SCOPE_TREE;
}

/* The match as a line without its end, which the caller frees; NULL: memory is short. */
static char *line_of(const struct program *program, const struct program_match *match, size_t *length)
{
	char *line = NULL;
	FILE *stream = open_memstream(&line, length);

	if (!stream)
		return NULL;
	result_write_json(stream, program, match);
	if (fclose(stream)) {
		free(line);
		return NULL;
	}
	if (*length > 0 && line[*length - 1] == '\n')
		line[--*length] = '\0';
	return line;
}

/* What a mark says of the match: without its stack where that would make it too long to be whole. */
static char *values_of(const struct program *program, const struct program_match *match)
{
	struct program_match bare = *match;
	size_t length;
	char *values = line_of(program, match, &length);

	if (!values || length < CTF_MATCH_VALUES_BYTES || !match->stack_count)
		return values;
	free(values);
	bare.stack_count = 0;
	return line_of(program, &bare, &length);
}

static void mark(struct session_parts *parts, const struct program_match *match)
{
	const struct program *program = session_rules_program(parts->rules);
	char *values = values_of(program, match);
	const struct tape_mark at = {
		.ts = match->ts,
		.cpu = match->cpu,
		.pid = match->pid,
		.tid = match->tid,
		.comm = match->comm,
		.rule = program_text(program, program->rules[match->rule].name),
		.values = values ? values : "",
		.tainted = match->tainted,
	};

	tape_mark(parts->tape, &at);
	free(values);
	if (!parts->options->tape->flight || parts->rules_snap)
		return;
	/* A snapshot holds all the marks, but it is that of the first. */
	if (parts->pending)
		parts->snapshots_refused++;
	else
		parts->pending = at.rule;
}

static int tell(void *context, const struct program_match *match)
{
	struct session_parts *parts = context;
	const struct session_live_options *options = parts->options;

	return options->on_match && !parts->failed
		       ? session_parts_told(parts, options->on_match(options->context, match))
		       : 0;
}

int session_parts_told(struct session_parts *parts, int result)
{
	parts->failed |= result < 0;
	return result < 0 && parts->must_go_on ? 0 : result;
}

/* A match that asks is told when it has its verdict. */
static int on_match(void *context, const struct program_match *match)
{
	struct session_parts *parts = context;
	struct program_match told;
	int result = 0;

	if (!reactions_do(parts->responses.reactions, match, &told))
		return 0;
	if (!parts->responses.questions || !questions_take(parts->responses.questions, &told, &result))
		result = tell(parts, &told);
	if (result >= 0 && parts->tape)
		mark(parts, &told);
	return result;
}

static bool in_scope(void *context, int pid)
{
	const struct session_parts *parts = context;

	return parts->executor ? executor_has(parts->executor, pid) : tape_has(parts->tape, pid);
}

/* CALL Snapshot(): as one that every match causes, but of this rule's own wish. */
static int want_snapshot(void *context, const char *rule)
{
	struct session_parts *parts = context;

	if (parts->pending)
		return -EAGAIN;
	parts->pending = rule;
	return 0;
}

static int open_responses(struct session_parts *parts)
{
	const struct session_live_options *options = parts->options;
	const struct responses_options responses = {
		.program = session_rules_program(parts->rules),
		.policy = options->policy,
		.in_scope = in_scope,
		.snapshot = options->tape && options->tape->flight ? want_snapshot : NULL,
		.on_ask = options->on_ask,
		.ask_command = options->ask_command,
		.ask_context = options->context,
		.tell = tell,
		.context = parts,
		.stops = parts->diag,
	};
	int result = responses_open(&parts->responses, &responses, parts->diag);

	parts->must_go_on |= !result && reactions_may_act(parts->responses.reactions);
	parts->rules_snap = !result && reactions_call(parts->responses.reactions, react_find("Snapshot"));
	return result;
}

static int open_tape(struct session_parts *parts)
{
	struct tape_options tape = *parts->options->tape;
	int result;

	tape.scope = scope_of(parts->options);
	tape.is_guest = parts->rules != NULL;
	result = tape_new(&tape, parts->diag, &parts->tape);
	return result ? result : tape_attach(parts->tape);
}

int session_parts_open(struct session_parts *parts, const struct session_rules *rules,
		       const struct session_live_options *options, struct veto *veto, struct asterism_diag *diag)
{
	struct executor_options how = {
		.scope = scope_of(options), .elsewhere = veto_rules(veto), .on_match = on_match, .context = parts
	};
	int result = 0;

	*parts = (struct session_parts){
		.rules = rules,
		.options = options,
		.veto = veto,
		.diag = diag,
		.must_go_on = options->tape != NULL,
	};
	if (rules)
		result = open_responses(parts);
	if (!result && options->tape)
		result = open_tape(parts);
	how.allowed = parts->responses.reactions ? reactions_allowed(parts->responses.reactions) : NULL;
	how.anywhere = options->policy && options->policy->anywhere;
	how.stops = parts->responses.questions ? questions_stops(parts->responses.questions) : NULL;
	how.recorder = parts->tape ? tape_recorder(parts->tape) : NULL;
	if (!result && rules)
		result = executor_new(rules, &how, diag, &parts->executor);
	return result;
}

void session_parts_close(struct session_parts *parts)
{
	executor_free(parts->executor); /* it writes to the tape */
	responses_close(&parts->responses);
	tape_free(parts->tape);
	parts->executor = NULL;
	parts->tape = NULL;
}

int session_parts_add(struct session_parts *parts, pid_t pid)
{
	int result = parts->tape ? tape_add(parts->tape, pid) : 0;

	return result || !parts->executor ? result : executor_add(parts->executor, pid);
}

void session_parts_remaining(struct session_parts *parts, struct session_remaining *found)
{
	remaining_find(in_scope, parts, found);
}

int session_parts_seed(struct session_parts *parts, int waiting)
{
	if (seed_is_wanted(parts->rules ? session_rules_program(parts->rules) : NULL,
			   parts->options->tape ? parts->options->tape->what : NULL))
		return seed_tell(in_scope, parts, waiting);
	return 0;
}

int session_parts_fd(const struct session_parts *parts)
{
	return parts->executor ? executor_fd(parts->executor) : -1;
}

int session_parts_ask_fd(const struct session_parts *parts)
{
	return parts->responses.questions ? questions_fd(parts->responses.questions) : -1;
}

int session_parts_tape_fd(const struct session_parts *parts)
{
	return parts->tape ? tape_fd(parts->tape) : -1;
}

int session_parts_save(struct session_parts *parts, bool patient)
{
	if (parts->tape)
		tape_flush(parts->tape);
	return session_parts_snapshot(parts, "signal", patient);
}

int session_parts_snapshot(struct session_parts *parts, const char *name, bool patient)
{
	return parts->tape && parts->options->tape->flight ? tape_snapshot(parts->tape, name, patient) : 0;
}

/* The snapshot of a match: as a match may come a million times a second, not every one gets its own. */
static void take_pending(struct session_parts *parts)
{
	uint64_t now = clock_now_ns();
	int result = -EBUSY;

	if (parts->snapshots < SESSION_SNAPSHOTS_MAX &&
	    (!parts->snapshots || now - parts->last_snapshot_ns >= SNAPSHOT_PAUSE_NS))
		result = session_parts_snapshot(parts, parts->pending, false);
	if (result) {
		parts->snapshots_refused++;
		return;
	}
	parts->last_snapshot_ns = now;
	parts->snapshots++;
}

int session_parts_poll(struct session_parts *parts, uint64_t *wait_ns)
{
	uint64_t wait_for_rules = UINT64_MAX;
	int results[4] = { 0 }, result = 0;

	*wait_ns = UINT64_MAX;
	if (parts->executor)
		results[0] = executor_poll(parts->executor, &wait_for_rules);
	results[1] = veto_poll(parts->veto, on_match, parts);
	if (parts->pending)
		take_pending(parts);
	parts->pending = NULL;
	if (parts->tape)
		results[2] = tape_poll(parts->tape, wait_ns);
	if (wait_for_rules < *wait_ns)
		*wait_ns = wait_for_rules;
	results[3] = responses_poll(&parts->responses, clock_now_ns(), wait_ns);
	for (size_t i = 0; i < sizeof results / sizeof *results && !result; i++)
		result = results[i]; /* what one cannot do the others do all the same */
	return result;
}

static void tally(void *context, uint32_t statement, uint64_t *buckets)
{
	const struct session_parts *parts = context;

	executor_tally(parts->executor, statement, buckets);
}

/*
 * No event after this. Whoever was stopped since the last look goes on, and what was asked has its answer: the default.
 * Returns the first failure; everything is done all the same.
 */
static int finish_rules(struct session_parts *parts, struct session_totals *totals)
{
	uint64_t wait_ns;
	int results[5] = { 0 }, result = 0;

	if (parts->responses.questions)
		questions_refuse(parts->responses.questions);
	veto_settle(parts->veto);
	results[0] = veto_poll(parts->veto, on_match, parts);
	executor_detach(parts->executor);
	results[1] = executor_poll(parts->executor, &wait_ns);
	if (parts->responses.questions) {
		results[2] = questions_close(parts->responses.questions);
		questions_count(parts->responses.questions, &totals->stops_refused, &totals->asks_lost);
	}
	executor_count(parts->executor, totals);
	veto_count(parts->veto, totals);
	results[3] = reactions_tallies(parts->responses.reactions, tally, parts, &totals->tallies);
	results[4] = reactions_refusals(parts->responses.reactions, &totals->refusals);
	executor_free(parts->executor);
	parts->executor = NULL;
	for (size_t i = 0; i < sizeof results / sizeof *results && !result; i++)
		result = results[i];
	return result;
}

int session_parts_finish(struct session_parts *parts, struct session_totals *totals)
{
	int result = parts->executor ? finish_rules(parts, totals) : 0;

	if (parts->tape) {
		tape_finish(parts->tape);
		tape_count(parts->tape, &totals->tape);
		totals->tape.snapshots_refused = parts->snapshots_refused;
		totals->lost +=
			totals->tape.overwritten + totals->tape.dropped + totals->tape.unread + totals->tape.unwritten;
		totals->lost += totals->tape.unmarked;
		totals->lost += parts->rules ? 0 : totals->tape.missed;
	}
	return result;
}
