// SPDX-License-Identifier: BSD-2-Clause
/*
 * Shows the rings after the fact, of processes that run and of those that have ended: everything up to now that was not
 * overwritten. Nothing is waited for; an event in flight stays out.
 */

#include "cmd/sensors/dump.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "cli/print.h"
#include "sensor/stream/merge.h"
#include "sensor/stream/process.h"
#include "trace/sink/sink.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { TURN_EVENTS = 4096 };

struct dump {
	const struct live_sensors *live;
	struct stream_reading reading;
	struct stream_process **processes; /* as live has them; NULL: its memory cannot be read */
	struct merge merge;
	struct event_sink *sink;
	uint64_t overwritten, unfinished, broken; /* broken: rings whose contents make no sense */
	struct asterism_diag *diag;
};

static bool is_asked_for(const char *pattern, const char *name)
{
	const char *colon = strrchr(pattern, ':'), *wanted = colon ? colon + 1 : pattern;

	return !*wanted || !strcmp(wanted, "*") || !strcmp(wanted, name);
}

/* Makes all ids known, and the events of those that are asked for to be shown. */
static int take_types(struct dump *dump, size_t index, const char *pattern)
{
	struct stream_process *process = dump->processes[index];
	int result = 0;

	for (size_t i = 0; i < dump->live->type_count && !result; i++) {
		const struct live_type *type = &dump->live->types[i];
		struct stream_want want = { .type = type->type, .name = type->type->name, .number = (uint32_t)i };
		struct stream_wants wants = { &want, is_asked_for(pattern, type->type->name) };
		struct sensor_type told = { .id = type->id, .units = type->units };

		if (type->process == index)
			result = stream_process_type(process, &told, type->text, &wants, dump->diag);
	}
	return result;
}

static int open_process(struct dump *dump, size_t index, const char *pattern)
{
	struct live_sensors_process *live = &dump->live->processes[index];
	struct stream_process *process;
	int result = live->area ? stream_process_new(&live->told, live->area, &dump->reading, &process) : 0;

	if (result || !live->area)
		return result;
	live->area = NULL; /* it has it now */
	dump->processes[index] = process;
	result = take_types(dump, index, pattern);
	for (uint32_t i = 0; i < process->reader_count && !result; i++) {
		process->readers[i].is_closed = true; /* what comes later is not waited for */
		result = merge_add(&dump->merge, &process->readers[i].input);
	}
	return result;
}

static int show_record(void *context, struct merge_input *input, const struct event_header *record)
{
	struct dump *dump = context;
	struct event event = { .record = (struct event_header *)record };

	(void)input;
	event.type = dump->live->types[event_type_of(record)].type;
	dump->sink->start_ns = dump->sink->start_ns ? dump->sink->start_ns : record->ts;
	return dump->sink->kind->put(dump->sink, &event);
}

static int show_all(struct dump *dump)
{
	int result;

	do
		result = merge_turn(&dump->merge, TURN_EVENTS, show_record, dump);
	while (!result && dump->merge.has_more);
	return result ? result : event_sink_flush(dump->sink);
}

static void add_up_dump(struct dump *dump)
{
	for (size_t i = 0; i < dump->live->process_count; i++) {
		const struct stream_process *process = dump->processes[i];

		for (uint32_t j = 0; process && j < process->reader_count; j++) {
			dump->overwritten += process->readers[j].elements.lost;
			dump->broken += process->readers[j].elements.failed != 0;
		}
		if (process && dump->live->processes[i].told.is_ended)
			dump->unfinished += stream_process_unfinished(process);
	}
}

static void report_dump(const struct dump *dump)
{
	cli_note("%" PRIu64 " events shown, %" PRIu64 " were overwritten before", dump->reading.events,
		 dump->overwritten);
	if (dump->unfinished)
		cli_note("%" PRIu64 " event%s begun and never finished: %s process ended", dump->unfinished,
			 dump->unfinished == 1 ? " was" : "s were", dump->unfinished == 1 ? "its" : "their");
	if (dump->broken)
		cli_warning("%" PRIu64 " rings are damaged: their remaining events are not shown", dump->broken);
}

static uint64_t dump_now_ns(void)
{
	return clock_now_ns();
}

/* What added to a time gives the date. */
static uint64_t wall_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec - clock_now_ns();
}

static void fini(struct dump *dump)
{
	for (size_t i = 0; dump->processes && i < dump->live->process_count; i++)
		stream_process_free(dump->processes[i]);
	alloc_free(dump->processes);
	merge_fini(&dump->merge);
	event_sink_free(dump->sink);
}

static int run_sensors_dump(struct dump *dump, const char *pattern, const struct event_sink_options *sink,
			    const char *format)
{
	const struct live_sensors *live = dump->live;
	int result = trace_sink_open(format, sink, &dump->sink);

	dump->processes = result ? NULL : alloc_zero(live->process_count + 1, sizeof(struct stream_process *));
	if (!result && !dump->processes)
		result = -ENOMEM;
	for (size_t i = 0; i < live->process_count && !result; i++)
		result = open_process(dump, i, pattern);
	if (result)
		return result;
	dump->sink->wall_ns = wall_ns();
	return show_all(dump);
}

int dump_sensors(const struct live_sensors *live, const char *pattern, const char *format, struct asterism_diag *diag)
{
	const struct event_sink_options sink = { .fd = STDOUT_FILENO, .time = EVENT_TIME_WALL };
	struct dump dump = { .live = live, .diag = diag };
	int result;

	dump.reading = (struct stream_reading){ .clock = live->clock,
						.now = dump_now_ns,
						.end_ns = clock_now_ns(),
						.record_bytes = EVENT_RECORD_BYTES_MAX };
	stream_clock_look(&dump.reading.clock);
	result = run_sensors_dump(&dump, pattern, &sink, format);
	if (!result || result == -EPIPE) {
		add_up_dump(&dump);
		report_dump(&dump);
		result = 0;
	} else {
		diag_error(diag, NULL, result, "cannot show the rings of sensors: %s", strerror(-result));
	}
	fini(&dump);
	return result;
}
