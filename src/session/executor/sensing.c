// SPDX-License-Identifier: BSD-2-Clause
/* Reads the types of a program that applications raise, and counts what of their stream a session counts. */

#include "session/executor/sensing.h"

#include "base/alloc.h"
#include "program/query.h"
#include "sensor/stream/stream.h"

#include <errno.h>
#include <string.h>

struct sensing {
	struct sensing_options options;
	struct stream *stream;
	struct stream_wants wants;
};

/* Whether a rule that is fed from here waits for the type. */
static bool is_type_awaited(const struct sensing_options *options, uint32_t type)
{
	if (!options->program->types[type].sensor)
		return false;
	for (uint32_t i = 0; i < options->program->rule_count; i++)
		if (options->rules[i] && program_rule_sees(options->program, &options->program->rules[i], type))
			return true;
	return false;
}

static int find_sensing_wants(struct sensing *sensing, struct asterism_diag *diag)
{
	const struct sensing_options *options = &sensing->options;
	const struct program *program = options->program;

	sensing->wants.items = alloc_zero(program->type_count, sizeof *sensing->wants.items);
	if (!sensing->wants.items)
		return diag_no_memory(diag);
	for (uint32_t i = 0; i < program->type_count; i++) {
		struct stream_want want = { .number = i };

		if (!is_type_awaited(options, i))
			continue;
		want.type = event_catalog_find(options->catalog, program_text(program, program->types[i].name));
		want.name = program_text(program, program->types[i].sensor - 1);
		if (!want.type)
			return diag_error(diag, NULL, -EOPNOTSUPP, "no catalog declares the event %s",
					  program_text(program, program->types[i].name));
		sensing->wants.items[sensing->wants.count++] = want;
	}
	return 0;
}

static bool sensing_in_scope(void *context, pid_t pid, pid_t parent)
{
	const struct sensing *sensing = context;

	return executor_had(sensing->options.kernel, pid, parent);
}

static int sensing_on_event(void *context, const struct event_header *record)
{
	const struct sensing *sensing = context;

	return executor_feed(sensing->options.user, record);
}

static void sensing_on_lost(void *context, uint64_t lost)
{
	const struct sensing *sensing = context;

	executor_lose(sensing->options.user, lost);
}

static int open_sensing_stream(struct sensing *sensing, struct asterism_diag *diag)
{
	const struct stream_options options = {
		.wants = sensing->wants,
		.record_bytes = program_record_bytes_max(sensing->options.program),
		.in_scope = sensing_in_scope,
		.on_event = sensing_on_event,
		.on_lost = sensing_on_lost,
		.context = sensing,
		.diag = diag,
		.clock = sensing->options.clock,
	};

	return stream_new(&options, diag, &sensing->stream);
}

int sensing_new(const struct sensing_options *options, struct asterism_diag *diag, struct sensing **made)
{
	struct sensing *sensing = alloc_zero(1, sizeof *sensing);
	int result;

	*made = NULL;
	if (!sensing)
		return diag_no_memory(diag);
	sensing->options = *options;
	result = find_sensing_wants(sensing, diag);
	if (!result && sensing->wants.count)
		result = open_sensing_stream(sensing, diag);
	if (result || !sensing->wants.count)
		sensing_free(sensing);
	else
		*made = sensing;
	return result;
}

void sensing_free(struct sensing *sensing)
{
	if (!sensing)
		return;
	stream_free(sensing->stream);
	alloc_free(sensing->wants.items);
	alloc_free(sensing);
}

int sensing_fd(const struct sensing *sensing)
{
	return stream_fd(sensing->stream);
}

int sensing_take(struct sensing *sensing, const struct event_header *record)
{
	const struct program *program = sensing->options.program;
	uint32_t type = event_type_of(record), bytes = sizeof *record;

	if (type < program->type_count && !event_is_unknown(record))
		bytes = program->types[type].record_bytes;
	stream_put(sensing->stream, record, bytes);
	return stream_is_full(sensing->stream) ? EXECUTOR_PAUSE : 0;
}

int sensing_turn(struct sensing *sensing, uint64_t arrived_ns, uint64_t *passed_ns)
{
	stream_settle(sensing->stream, arrived_ns);
	return stream_turn(sensing->stream, passed_ns);
}

uint64_t sensing_wait_ns(const struct sensing *sensing)
{
	return stream_wait_ns(sensing->stream);
}

void sensing_end(struct sensing *sensing)
{
	stream_end(sensing->stream);
}

bool sensing_has_more(const struct sensing *sensing)
{
	return stream_has_more(sensing->stream);
}

void sensing_count(const struct sensing *sensing, struct session_totals *totals)
{
	struct session_sensors *sensors = &totals->sensors;
	struct stream_counts counts;

	stream_count(sensing->stream, &counts);
	totals->events += counts.events;
	totals->lost += counts.lost + counts.gaps;
	*sensors = (struct session_sensors){
		.events = counts.events,
		.lost = counts.lost - counts.unread,
		.late = counts.late,
		.unfinished = counts.unfinished,
		.gaps = counts.gaps,
		.unread = counts.unread,
		.processes = counts.processes,
		.out_of_scope = counts.out_of_scope,
		.unknown = counts.unknown,
	};
	sensors->unannounced.count =
		stream_unannounced(&sensing->wants, sensors->unannounced.names, RECORDING_UNANNOUNCED_NAMED);
}
