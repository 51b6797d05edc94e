// SPDX-License-Identifier: BSD-2-Clause
/*
 * Writes a trace for Perfetto (protos/perfetto/trace of github.com/google/perfetto; numbers of fields never change).
 * Where the whole machine was recorded, switches and wake-ups of each CPU are columns (compact_sched): Perfetto
 * works out the states of threads itself. Where only some processes were, it would take a thread for running until the
 * next switch that is there; so slices of threads are written as its track events. Matches are instants on tracks.
 */

#include "report/export/export.h"

#include "base/alloc.h"
#include "report/export/protobuf.h"
#include "report/names.h"

#include <errno.h>
#include <string.h>

enum { SWITCHES_MAX = 4096, UNDECIDED_MAX = 1 << 18, SEQUENCE = 1 };

/* Numbers of fields. */
enum {
	TRACE_PACKET = 1,
	PACKET_BUNDLE = 1,
	PACKET_PROCESS_TREE = 2,
	PACKET_TIMESTAMP = 8,
	PACKET_SEQUENCE = 10,
	PACKET_TRACK_EVENT = 11,
	PACKET_TRACK = 60,
	BUNDLE_CPU = 1,
	BUNDLE_COMPACT = 4,
	COMPACT_SWITCH_TIMES = 1,
	COMPACT_SWITCH_STATES,
	COMPACT_SWITCH_PIDS,
	COMPACT_SWITCH_PRIOS,
	COMPACT_NAMES,
	COMPACT_SWITCH_NAMES,
	COMPACT_WAKING_TIMES,
	COMPACT_WAKING_PIDS,
	COMPACT_WAKING_CPUS,
	COMPACT_WAKING_PRIOS,
	COMPACT_WAKING_NAMES,
	COMPACT_COLUMNS,
	TREE_PROCESS = 1,
	TREE_THREAD = 2,
	PROCESS_PID = 1,
	PROCESS_PARENT = 2,
	PROCESS_COMMAND = 3,
	THREAD_TID = 1,
	THREAD_NAME = 2,
	THREAD_PID = 3,
	TRACK_UUID = 1,
	TRACK_PROCESS = 3,
	TRACK_THREAD = 4,
	TRACK_THREAD_PID = 1,
	TRACK_THREAD_TID = 2,
	TRACK_THREAD_NAME = 5,
	TRACK_PROCESS_PID = 1,
	TRACK_PROCESS_NAME = 6,
	EVENT_TYPE = 9,
	EVENT_TRACK = 11,
	EVENT_CATEGORY = 22,
	EVENT_NAME = 23,
	SLICE_BEGIN = 1,
	SLICE_END = 2,
	INSTANT = 3,
};

/* What is kept of a CPU until it is a packet. */
struct columns {
	struct text_buffer column[COMPACT_COLUMNS];
	struct report_names names;
	uint64_t switch_ns, waking_ns; /* the last times: columns have differences */
	unsigned count;
};

struct perfetto {
	struct report_export base;
	struct columns *cpus;
	size_t cpu_capacity;
	struct text_buffer packet, inner, innermost;
	uint64_t undecided; /* events that were given up before it was known that all were recorded */
	bool is_failed;
};

static int perfetto_open(const struct report_view *view, struct report **made)
{
	struct perfetto *perfetto = alloc_zero(1, sizeof *perfetto);

	(void)view;
	if (!perfetto)
		return -ENOMEM;
	*made = &perfetto->base.report;
	return 0;
}

static void clear_columns(struct columns *columns)
{
	for (unsigned i = 0; i < COMPACT_COLUMNS; i++)
		text_fini(&columns->column[i]);
	report_names_fini(&columns->names);
	*columns = (struct columns){ 0 };
}

static void perfetto_free(struct report *report)
{
	struct perfetto *perfetto = (struct perfetto *)report;

	for (size_t i = 0; i < perfetto->cpu_capacity; i++)
		clear_columns(&perfetto->cpus[i]);
	alloc_free(perfetto->cpus);
	text_fini(&perfetto->packet);
	text_fini(&perfetto->inner);
	text_fini(&perfetto->innermost);
	alloc_free(perfetto);
}

/* Ends the packet, which is written, and begins another one. */
static void put_packet(struct perfetto *perfetto)
{
	struct text_buffer head = { 0 };

	protobuf_number(&perfetto->packet, PACKET_SEQUENCE, SEQUENCE);
	protobuf_length(&head, TRACE_PACKET, perfetto->packet.length);
	fwrite(head.bytes, 1, head.length, perfetto->base.stream);
	fwrite(perfetto->packet.bytes, 1, perfetto->packet.length, perfetto->base.stream);
	perfetto->is_failed |= head.failure || perfetto->packet.failure;
	perfetto->packet.length = 0;
	text_fini(&head);
}

static void flush_perfetto(struct perfetto *perfetto, uint32_t cpu)
{
	struct columns *columns = &perfetto->cpus[cpu];

	if (!columns->count)
		return;
	perfetto->inner.length = perfetto->innermost.length = 0;
	for (unsigned i = 1; i < COMPACT_COLUMNS; i++) {
		if (i == COMPACT_NAMES) {
			for (size_t j = 0; j < columns->names.count; j++)
				protobuf_text(&perfetto->innermost, i, columns->names.texts[j]);
		} else if (columns->column[i].length) {
			protobuf_message(&perfetto->innermost, i, &columns->column[i]);
		}
	}
	protobuf_number(&perfetto->inner, BUNDLE_CPU, cpu);
	protobuf_message(&perfetto->inner, BUNDLE_COMPACT, &perfetto->innermost);
	protobuf_message(&perfetto->packet, PACKET_BUNDLE, &perfetto->inner);
	put_packet(perfetto);
	clear_columns(columns);
}

static struct columns *columns_of(struct perfetto *perfetto, uint32_t cpu)
{
	return alloc_grow(&perfetto->cpus, &perfetto->cpu_capacity, cpu, sizeof *perfetto->cpus) ? NULL
												 : &perfetto->cpus[cpu];
}

/* The number of the name in the packet's table. */
static int put_comm_number(struct columns *columns, unsigned column, const struct report_view *view, const char *comm)
{
	uint32_t number;

	if (report_names_add(&columns->names, *comm && !view->is_redacted ? comm : "?", &number))
		return -ENOMEM;
	protobuf_varint(&columns->column[column], number - 1);
	return 0;
}

static void put_time(struct text_buffer *column, uint64_t *last, uint64_t ts)
{
	ts = ts > *last ? ts : *last; /* late events may go back, columns not */
	protobuf_varint(column, ts - *last);
	*last = ts;
}

static int put_switch(struct columns *columns, const struct report_view *view, const struct report_event *event)
{
	const struct report_layout *layout = event->layout;

	put_time(&columns->column[COMPACT_SWITCH_TIMES], &columns->switch_ns, event->event->record->ts);
	protobuf_varint(&columns->column[COMPACT_SWITCH_STATES],
			(uint64_t)report_number(layout, event->event, SWITCH_PREV_STATE));
	protobuf_varint(&columns->column[COMPACT_SWITCH_PIDS],
			(uint64_t)report_number(layout, event->event, SWITCH_NEXT_TID));
	protobuf_varint(&columns->column[COMPACT_SWITCH_PRIOS],
			(uint64_t)report_number(layout, event->event, SWITCH_NEXT_PRIO));
	return put_comm_number(columns, COMPACT_SWITCH_NAMES, view,
			       report_text(layout, event->event, SWITCH_NEXT_COMM));
}

static int put_waking(struct columns *columns, const struct report_view *view, const struct report_event *event)
{
	const struct report_layout *layout = event->layout;

	put_time(&columns->column[COMPACT_WAKING_TIMES], &columns->waking_ns, event->event->record->ts);
	protobuf_varint(&columns->column[COMPACT_WAKING_PIDS],
			(uint64_t)report_number(layout, event->event, WAKING_TID));
	protobuf_varint(&columns->column[COMPACT_WAKING_CPUS],
			(uint64_t)report_number(layout, event->event, WAKING_CPU));
	protobuf_varint(&columns->column[COMPACT_WAKING_PRIOS],
			(uint64_t)report_number(layout, event->event, WAKING_PRIO));
	return put_comm_number(columns, COMPACT_WAKING_NAMES, view, report_text(layout, event->event, WAKING_COMM));
}

static int perfetto_event(struct report *report, const struct report_event *event)
{
	struct perfetto *perfetto = (struct perfetto *)report;
	uint32_t cpu = event->event->record->cpu;
	struct columns *columns;
	int result;

	if (cpu >= REPORT_CPUS_MAX)
		return 0;
	columns = columns_of(perfetto, cpu);
	if (!columns)
		return -ENOMEM;
	result = event->layout->role == ROLE_SWITCH ? put_switch(columns, report->view, event)
						    : put_waking(columns, report->view, event);
	/* That all were recorded shows only after the first events. */
	if (++columns->count >= SWITCHES_MAX && report->view->is_whole)
		flush_perfetto(perfetto, cpu);
	else if (columns->count >= UNDECIDED_MAX) {
		perfetto->undecided += columns->count;
		clear_columns(columns);
	}
	return result;
}

/* An event on the track of a thread, which has the number of the thread. */
static void put_track_event(struct perfetto *perfetto, uint64_t ts, uint32_t thread, unsigned type, const char *name)
{
	perfetto->inner.length = 0;
	protobuf_number(&perfetto->packet, PACKET_TIMESTAMP, ts);
	protobuf_number(&perfetto->inner, EVENT_TYPE, type);
	protobuf_number(&perfetto->inner, EVENT_TRACK, thread);
	if (name) {
		protobuf_text(&perfetto->inner, EVENT_CATEGORY, type == INSTANT ? "match" : "state");
		protobuf_text(&perfetto->inner, EVENT_NAME, name);
	}
	protobuf_message(&perfetto->packet, PACKET_TRACK_EVENT, &perfetto->inner);
	put_packet(perfetto);
}

static int perfetto_slice(struct report *report, const struct report_slice *slice)
{
	struct perfetto *perfetto = (struct perfetto *)report;
	char name[96];

	if (report->view->is_whole || slice->thread == REPORT_NONE || !slice->thread)
		return 0;
	snprintf(name, sizeof name, "%s%s%s", report_state_name(slice->state),
		 slice->state == REPORT_BLOCKED && slice->reason ? ": " : "",
		 slice->state == REPORT_BLOCKED ? report_name(report->view, slice->reason) : "");
	put_track_event(perfetto, slice->begin, slice->thread, SLICE_BEGIN, name);
	put_track_event(perfetto, slice->end, slice->thread, SLICE_END, NULL);
	return perfetto->is_failed ? -ENOMEM : 0;
}

static int perfetto_match(struct report *report, const struct report_match *match)
{
	struct perfetto *perfetto = (struct perfetto *)report;

	put_track_event(perfetto, match->ts, match->thread == REPORT_NONE ? 0 : match->thread, INSTANT, match->rule);
	return perfetto->is_failed ? -ENOMEM : 0;
}

static const char *shown_name(const struct report_view *view, uint32_t thread, char name[32])
{
	const struct report_thread *known = &view->threads[thread];

	if (view->is_redacted)
		snprintf(name, 32, "thread %u", thread);
	else
		snprintf(name, 32, "%.*s", EVENT_COMM_BYTES - 1, known->comm);
	return name;
}

static void put_tree(struct perfetto *perfetto)
{
	const struct report_view *view = perfetto->base.report.view;
	char name[32];

	perfetto->inner.length = 0;
	for (uint32_t i = 1; i < view->thread_count; i++) {
		const struct report_thread *thread = &view->threads[i];
		bool is_process = thread->tid == report_export_pid(view, i);

		perfetto->innermost.length = 0;
		if (is_process) {
			protobuf_number(&perfetto->innermost, PROCESS_PID, thread->tid);
			protobuf_number(&perfetto->innermost, PROCESS_PARENT, thread->parent_pid);
			protobuf_text(&perfetto->innermost, PROCESS_COMMAND, shown_name(view, i, name));
		} else {
			protobuf_number(&perfetto->innermost, THREAD_TID, thread->tid);
			protobuf_text(&perfetto->innermost, THREAD_NAME, shown_name(view, i, name));
			protobuf_number(&perfetto->innermost, THREAD_PID, report_export_pid(view, i));
		}
		protobuf_message(&perfetto->inner, is_process ? TREE_PROCESS : TREE_THREAD, &perfetto->innermost);
	}
	protobuf_message(&perfetto->packet, PACKET_PROCESS_TREE, &perfetto->inner);
	put_packet(perfetto);
}

static void put_tracks(struct perfetto *perfetto)
{
	const struct report_view *view = perfetto->base.report.view;
	char name[32];

	for (uint32_t i = 1; i < view->thread_count; i++) {
		if (view->threads[i].is_stranger)
			continue;
		perfetto->inner.length = perfetto->innermost.length = 0;
		protobuf_number(&perfetto->innermost, TRACK_THREAD_PID, report_export_pid(view, i));
		protobuf_number(&perfetto->innermost, TRACK_THREAD_TID, view->threads[i].tid);
		protobuf_text(&perfetto->innermost, TRACK_THREAD_NAME, shown_name(view, i, name));
		protobuf_number(&perfetto->inner, TRACK_UUID, i);
		protobuf_message(&perfetto->inner, TRACK_THREAD, &perfetto->innermost);
		protobuf_message(&perfetto->packet, PACKET_TRACK, &perfetto->inner);
		put_packet(perfetto);
	}
}

static int perfetto_finish(struct report *report)
{
	struct perfetto *perfetto = (struct perfetto *)report;

	perfetto->base.left_out = report->view->is_whole ? perfetto->undecided : 0;
	for (uint32_t cpu = 0; cpu < perfetto->cpu_capacity && report->view->is_whole; cpu++)
		flush_perfetto(perfetto, cpu);
	put_tree(perfetto);
	put_tracks(perfetto);
	return perfetto->is_failed ? -ENOMEM : 0;
}

const struct report_kind report_export_perfetto = {
	.name = "perfetto",
	.open = perfetto_open,
	.event = perfetto_event,
	.slice = perfetto_slice,
	.match = perfetto_match,
	.finish = perfetto_finish,
	.free = perfetto_free,
	.roles = UINT64_C(1) << ROLE_SWITCH | UINT64_C(1) << ROLE_WAKING,
};
