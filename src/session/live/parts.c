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

static void mark(void *context, const struct program_match *match)
{
	struct session_parts *parts = context;
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

static bool in_scope(void *context, int pid)
{
	const struct session_parts *parts = context;

	return parts->unit.executor ? executor_has(parts->unit.executor, pid) : tape_has(parts->tape, pid);
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

static int open_unit(struct session_parts *parts, struct veto *veto)
{
	const struct session_live_options *options = parts->options;
	const struct live_unit_options unit = {
		.rules = parts->rules,
		.scope = scope_of(options),
		.policy = options->policy,
		.on_ask = options->on_ask,
		.ask_command = options->ask_command,
		.ask_context = options->context,
		.snapshot = options->tape && options->tape->flight ? want_snapshot : NULL,
		.tell = tell,
		.on_found = options->tape ? mark : NULL,
		.context = parts,
		.stops = parts->diag,
		.veto = veto,
	};
	int result = live_unit_open(&parts->unit, &unit, parts->diag);
	const struct reactions *reactions = parts->unit.responses.reactions;

	parts->must_go_on |= !result && reactions_may_act(reactions);
	parts->rules_snap = !result && reactions_call(reactions, react_find("Snapshot"));
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
	int result = 0;

	*parts = (struct session_parts){
		.rules = rules,
		.options = options,
		.diag = diag,
		.must_go_on = options->tape != NULL,
	};
	if (rules)
		result = open_unit(parts, veto);
	if (!result && options->tape)
		result = open_tape(parts);
	if (!result && rules)
		result = live_unit_start(&parts->unit, parts->tape ? tape_recorder(parts->tape) : NULL, diag);
	return result;
}

void session_parts_close(struct session_parts *parts)
{
	live_unit_close(&parts->unit); /* it writes to the tape */
	tape_free(parts->tape);
	parts->tape = NULL;
}

int session_parts_add(struct session_parts *parts, pid_t pid)
{
	int result = parts->tape ? tape_add(parts->tape, pid) : 0;

	return result || !parts->unit.executor ? result : executor_add(parts->unit.executor, pid);
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

int session_parts_watch(const struct session_parts *parts, const struct live_loop *loop)
{
	int result = parts->unit.executor ? live_unit_watch(&parts->unit, loop, parts->diag) : 0;

	return result || !parts->tape ? result
				      : live_loop_watch(loop, tape_fd(parts->tape), LIVE_WAKE_RULES, parts->diag);
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
	int result = 0, recorded = 0;

	*wait_ns = UINT64_MAX;
	if (parts->unit.executor)
		result = live_unit_poll(&parts->unit, wait_ns);
	if (parts->pending)
		take_pending(parts);
	parts->pending = NULL;
	if (parts->tape) {
		uint64_t wait_for_tape = UINT64_MAX;

		recorded = tape_poll(parts->tape, &wait_for_tape);
		*wait_ns = wait_for_tape < *wait_ns ? wait_for_tape : *wait_ns;
	}
	return result ? result : recorded;
}

int session_parts_finish(struct session_parts *parts, struct session_totals *totals)
{
	int result = parts->unit.executor ? live_unit_finish(&parts->unit, totals) : 0;

	live_unit_close(&parts->unit);

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
