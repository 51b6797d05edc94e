// SPDX-License-Identifier: BSD-2-Clause
/* Combines rules and a recording in one session. */

#include "session/live/components.h"

#include "base/clock.h"
#include "session/live/cgroups.h"
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
	result_write_json(stream, program, match, NULL); /* a trace has its clock and its host */
	if (fclose(stream)) {
		free(line);
		return NULL;
	}
	if (*length > 0 && line[*length - 1] == '\n')
		line[--*length] = '\0';
	return line;
}

/* What a mark says of the match: without its stacks where that would make it too long to be whole. */
static char *values_of(const struct program *program, const struct program_match *match)
{
	struct program_match bare = *match;
	size_t length;
	char *values = line_of(program, match, &length);

	if (!values || length < CTF_MATCH_VALUES_BYTES || (!match->named_stack.frame_count && !match->thread_count))
		return values;
	free(values);
	bare.named_stack.frame_count = bare.thread_count = 0;
	return line_of(program, &bare, &length);
}

static void mark_of_match(void *context, const struct program_match *match)
{
	struct session_components *components = context;
	const struct program *program = session_rules_program(components->rules);
	char *values = values_of(program, match);
	const struct recording_mark at = {
		.ts = match->ts,
		.cpu = match->cpu,
		.pid = match->pid,
		.tid = match->tid,
		.comm = match->comm,
		.rule = program_text(program, program->rules[match->rule].name),
		.values = values ? values : "",
		.tainted = match->tainted,
	};

	recording_mark(components->recording, &at);
	free(values);
	if (!components->options->recording->flight || components->rules_snap ||
	    !result_is_reported(&program->rules[match->rule], components->options->least_severity))
		return;
	/* A snapshot holds all the marks, but it is that of the first. */
	if (components->pending)
		components->snapshots_refused++;
	else
		components->pending = at.rule;
}

static int report_component_match(void *context, const struct program_match *match)
{
	struct session_components *components = context;
	const struct session_live_options *options = components->options;

	return options->on_match && !components->failed
		       ? session_components_reported(components, options->on_match(options->context, match))
		       : 0;
}

static int component_on_aggregate(void *context, const struct aggregate_report *report)
{
	struct session_components *components = context;
	const struct session_live_options *options = components->options;

	return options->on_aggregate && !components->failed
		       ? session_components_reported(components, options->on_aggregate(options->context, report))
		       : 0;
}

int session_components_reported(struct session_components *components, int result)
{
	components->failed |= result < 0;
	return result < 0 && components->must_go_on ? 0 : result;
}

static bool component_in_scope(void *context, int pid)
{
	const struct session_components *components = context;

	return components->unit.executor ? executor_has(components->unit.executor, pid)
					 : recording_has(components->recording, pid);
}

static bool is_observed(void *context, pid_t pid, pid_t parent)
{
	const struct session_components *components = context;

	return components->unit.executor ? executor_had(components->unit.executor, pid, parent)
					 : recording_has(components->recording, pid);
}

/* CALL Snapshot(): as one that every match causes, but of this rule's own wish. */
static int want_snapshot(void *context, const char *rule)
{
	struct session_components *components = context;

	if (components->pending)
		return -EAGAIN;
	components->pending = rule;
	return 0;
}

static int open_unit(struct session_components *components, struct veto *veto)
{
	const struct session_live_options *options = components->options;
	const struct live_unit_options unit = {
		.rules = components->rules,
		.scope = scope_of(options),
		.filter = options->filter,
		.policy = options->policy,
		.on_ask = options->on_ask,
		.ask_command = options->ask_command,
		.ask_context = options->context,
		.snapshot = options->recording && options->recording->flight ? want_snapshot : NULL,
		.report = report_component_match,
		.on_aggregate = component_on_aggregate,
		.on_found = options->recording ? mark_of_match : NULL,
		.context = components,
		.stops = components->diag,
		.veto = veto,
		.counts_why = options->counts_why,
	};
	int result = live_unit_open(&components->unit, &unit, components->diag);
	const struct reactions *reactions = components->unit.responses.reactions;

	components->must_go_on |= !result && reactions_may_act(reactions);
	components->rules_snap = !result && reactions_call(reactions, react_find("Snapshot"));
	return result;
}

static int open_recording(struct session_components *components)
{
	struct recording_options recording = *components->options->recording;
	int result;

	recording.scope = scope_of(components->options);
	recording.filter = components->options->filter;
	recording.is_guest = components->rules != NULL;
	recording.in_scope = components->rules ? is_observed : NULL;
	recording.context = components;
	if (!recording.is_guest)
		live_cgroups_warn_recorded(recording.what, components->diag);
	result = recording_new(&recording, components->diag, &components->recording);
	return result ? result : recording_attach(components->recording);
}

int session_components_open(struct session_components *components, const struct session_rules *rules,
			    const struct session_live_options *options, struct veto *veto, struct asterism_diag *diag)
{
	int result = 0;

	*components = (struct session_components){
		.rules = rules,
		.options = options,
		.diag = diag,
		.must_go_on = options->recording != NULL,
	};
	if (rules)
		result = open_unit(components, veto);
	if (!result && options->recording)
		result = open_recording(components);
	if (!result && rules)
		result = live_unit_start(&components->unit, components->recording, diag);
	return result;
}

void session_components_close(struct session_components *components)
{
	if (components->recording)
		recording_close_scope(components->recording);
	live_unit_close(&components->unit); /* it writes to the recording */
	recording_free(components->recording);
	components->recording = NULL;
}

int session_components_add(struct session_components *components, pid_t pid)
{
	int result = components->recording ? recording_add(components->recording, pid) : 0;

	if (result || !components->unit.executor)
		return result;
	reactions_follow(components->unit.responses.reactions, pid);
	return executor_add(components->unit.executor, pid);
}

void session_components_remaining(struct session_components *components, struct session_remaining *found)
{
	remaining_find(component_in_scope, components, found);
}

/* What there is may come to more than a ring holds. Whatever ends the session, the next poll tells. */
static bool take_seeds(void *context)
{
	struct session_components *components = context;
	uint64_t wait_ns;
	int result = session_components_poll(components, &wait_ns);

	components->seeded = result == EXECUTOR_PAUSE ? 0 : result;
	return !components->seeded;
}

int session_components_seed(struct session_components *components, int waiting)
{
	if (seed_is_wanted(components->rules ? session_rules_program(components->rules) : NULL,
			   components->options->recording ? components->options->recording->what : NULL))
		return seed_report(&(struct seed_options){ component_in_scope, take_seeds, components, waiting });
	return 0;
}

int session_components_watch(const struct session_components *components, const struct live_loop *loop)
{
	int result = components->unit.executor ? live_unit_watch(&components->unit, loop, components->diag) : 0;

	return result || !components->recording
		       ? result
		       : live_loop_watch(loop, recording_fd(components->recording), LIVE_WAKE_RULES, components->diag);
}

int session_components_save(struct session_components *components, bool patient)
{
	if (components->recording)
		recording_flush(components->recording);
	return session_components_snapshot(components, "signal", patient);
}

int session_components_snapshot(struct session_components *components, const char *name, bool patient)
{
	return components->recording && components->options->recording->flight
		       ? recording_snapshot(components->recording, name, patient)
		       : 0;
}

/* The snapshot of a match: as a match may come a million times a second, not every one gets its own. */
static void take_pending(struct session_components *components)
{
	uint64_t now = clock_now_ns();
	int result = -EBUSY;

	if (components->snapshots < SESSION_SNAPSHOTS_MAX &&
	    (!components->snapshots || now - components->last_snapshot_ns >= SNAPSHOT_PAUSE_NS))
		result = session_components_snapshot(components, components->pending, false);
	if (result) {
		components->snapshots_refused++;
		return;
	}
	components->last_snapshot_ns = now;
	components->snapshots++;
}

int session_components_poll(struct session_components *components, uint64_t *wait_ns)
{
	int result = components->seeded, recorded = 0;

	*wait_ns = UINT64_MAX;
	components->seeded = 0;
	if (result)
		return result;
	if (components->unit.executor)
		result = live_unit_poll(&components->unit, wait_ns);
	if (components->pending)
		take_pending(components);
	components->pending = NULL;
	if (components->recording) {
		uint64_t wait_for_recording = UINT64_MAX;

		recorded = recording_poll(components->recording, &wait_for_recording);
		*wait_ns = wait_for_recording < *wait_ns ? wait_for_recording : *wait_ns;
	}
	return result ? result : recorded;
}

int session_components_finish(struct session_components *components, struct session_totals *totals)
{
	int result;

	if (components->recording)
		recording_close_scope(components->recording);
	result = components->unit.executor ? live_unit_finish(&components->unit, totals) : 0;
	/* The unit may serve the directory of sensors that the recording follows, too: it is closed last. */
	if (components->recording) {
		recording_finish(components->recording);
		recording_count(components->recording, &totals->recording);
		totals->recording.snapshots_refused = components->snapshots_refused;
		totals->lost += totals->recording.overwritten + totals->recording.dropped + totals->recording.unread +
				totals->recording.unwritten;
		totals->lost += totals->recording.unmarked + totals->recording.sensors.unknown;
		totals->lost += components->rules ? 0 : totals->recording.missed;
	}
	live_unit_close(&components->unit);
	return result;
}
