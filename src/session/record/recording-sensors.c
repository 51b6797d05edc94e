// SPDX-License-Identifier: BSD-2-Clause
/*
 * Writes packets of sensors. A packet ends where it is full, before a loss, and before a time too far ahead. So a loss
 * lies between two packets, as exactly as it is known.
 */

#include "session/record/recording-sensors.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "session/record/recording-types.h"
#include "sensor/stream/stream.h"

#include <errno.h>
#include <string.h>

enum {
	PACKET_BYTES = 256 * 1024,
	/* What stands before an event's payload at most: the context, that it is late, its word. */
	BEFORE_BYTES =
		3 * EVENT_PACKED_WORD_BYTES + sizeof(struct event_packed_context) + sizeof(struct event_packed_late),
	PAUSE = 1, /* of stream_turn: there is something to be written first */
};

/* A packet has no events further apart than this. */
#define SPAN_NS (UINT64_C(1) << (EVENT_PACKED_TIME_BITS - 3))

struct recording_sensors {
	struct recording_sensors_options options;
	struct asterism_diag *diag;
	struct stream *stream;
	struct stream_wants wants;
	struct recording_types *types;
	struct ctf_writer *trace; /* while it is written to */
	char *packet;             /* PACKET_BYTES, its header first */
	size_t used;
	uint64_t begin_ns, last_ns;          /* of the packet; of the last event */
	struct event_packed_context context; /* that holds at its end */
	uint64_t sequence, events_before;    /* as in struct ring_packet */
	uint64_t events;                     /* in the packet */
	uint64_t discarded;                  /* before it */
	uint64_t lost;                       /* since then: before the next event */
	struct event_header *waiting;        /* an event for the next packet, STREAM_RECORD_BYTES_MAX */
	bool is_waiting;
	bool has_begun;  /* the stream has a packet */
	bool is_refused; /* what was to be written could not be */
	bool is_dropped; /* and will not be any more: what comes is only counted */
	int failed;
	struct recording_sensors_totals totals;
};

static void begin_packet(struct recording_sensors *sensors, uint64_t ts)
{
	sensors->used = sizeof(struct ring_packet);
	sensors->begin_ns = ts;
	sensors->events = 0;
}

/* Writes what there is of the packet. Then there is an empty one. */
static int write_packet(struct recording_sensors *sensors)
{
	struct stream_counts counts;
	int result;

	stream_count(sensors->stream, &counts);
	const struct ring_packet header = {
		.timestamp_begin = sensors->begin_ns,
		.packet_seq_num = sensors->sequence,
		.events_before = sensors->events_before,
		.cpu_id = (uint32_t)counts.processes,
	};

	memcpy(sensors->packet, &header, sizeof header);
	result = ctf_writer_packet(sensors->trace, ctf_writer_sensors(sensors->trace), sensors->packet, sensors->used,
				   sensors->discarded);
	sensors->is_refused = result != 0;
	if (result)
		return result;
	sensors->has_begun = true;
	sensors->sequence++;
	sensors->events_before += sensors->events;
	sensors->totals.events += sensors->events;
	begin_packet(sensors, sensors->last_ns);
	return 0;
}

/* From here on nothing is written any more: what there is, and what still comes, is lost. */
static void give_recording_up(struct recording_sensors *sensors)
{
	sensors->is_dropped = true;
	sensors->totals.unwritten += sensors->events + sensors->is_waiting;
	sensors->lost += sensors->events + sensors->is_waiting;
	sensors->is_waiting = false;
	begin_packet(sensors, sensors->last_ns);
}

/* What was lost stands before what comes next. */
static void pass_lost(struct recording_sensors *sensors)
{
	sensors->discarded += sensors->lost;
	sensors->events_before += sensors->lost;
	sensors->lost = 0;
}

static void *put_event_word(struct recording_sensors *sensors, uint32_t id, uint64_t ts)
{
	uint64_t word = event_packed_word(id, ts);

	memcpy(sensors->packet + sensors->used, &word, sizeof word);
	sensors->used += sizeof word;
	return sensors->packet + sensors->used;
}

static void put_context(struct recording_sensors *sensors, const struct event_header *record, uint64_t ts)
{
	struct event_packed_context context = { .tid = record->tid, .pid = record->pid };

	memcpy(context.comm, record->comm, sizeof context.comm);
	if (sensors->events && !memcmp(&context, &sensors->context, sizeof context))
		return;
	memcpy(put_event_word(sensors, EVENT_PACKED_ID_CONTEXT, ts), &context, sizeof context);
	sensors->used += sizeof context;
	sensors->context = context;
}

static void put_late(struct recording_sensors *sensors, const struct event_header *record, uint64_t ts)
{
	const struct event_packed_late late = { .entered = record->ts };

	memcpy(put_event_word(sensors, EVENT_PACKED_ID_LATE, ts), &late, sizeof late);
	sensors->used += sizeof late;
}

/* Puts the event into the packet, in which there is room for it. */
static void put_packed_event(struct recording_sensors *sensors, const struct recording_type *type,
			     const struct event_header *record, uint64_t ts)
{
	void *payload;

	if (!sensors->events)
		sensors->begin_ns = ts;
	put_context(sensors, record, ts);
	if (record->ts < ts)
		put_late(sensors, record, ts);
	payload = put_event_word(sensors, type->id, ts);
	sensors->used += (size_t)event_packed_encode(&type->layout, record, payload, PACKET_BYTES - sensors->used);
	sensors->events++;
	sensors->last_ns = ts;
}

/* What must be done before the event can be put. Returns 0; -errno: it could not be, yet. */
static int prepare_record(struct recording_sensors *sensors, struct recording_type *type, uint64_t ts)
{
	int result = 0;

	if (sensors->events && (sensors->lost || ts - sensors->begin_ns > SPAN_NS ||
				sensors->used + BEFORE_BYTES + type->layout.bytes_max > PACKET_BYTES))
		result = write_packet(sensors);
	if (!result)
		result = recording_type_declare(type, sensors->trace);
	if (result)
		return result;
	pass_lost(sensors);
	return 0;
}

/* Returns 0; -errno: it has to wait, and with it all others. */
static int take_sensor_record(struct recording_sensors *sensors, const struct event_header *record)
{
	struct recording_type *type = recording_types_get(sensors->types, event_type_of(record));
	uint64_t ts = record->ts > sensors->last_ns ? record->ts : sensors->last_ns;
	int result;

	/* No time that there is: no reader of traces takes it, and the application does not mean it. */
	if (sensors->is_dropped || ts > INT64_MAX) {
		sensors->totals.unwritten++;
		sensors->lost++;
		return 0;
	}
	result = prepare_record(sensors, type, ts);
	if (!result)
		put_packed_event(sensors, type, record, ts);
	return result;
}

static int sensors_on_event(void *context, const struct event_header *record)
{
	struct recording_sensors *sensors = context;

	sensors->failed = take_sensor_record(sensors, record);
	if (!sensors->failed)
		return 0;
	memcpy(sensors->waiting, record,
	       recording_types_get(sensors->types, event_type_of(record))->type->record_bytes);
	sensors->is_waiting = true;
	return PAUSE;
}

static void sensors_on_lost(void *context, uint64_t lost)
{
	struct recording_sensors *sensors = context;

	sensors->lost += lost;
	if (sensors->is_refused)
		sensors->totals.unwritten += lost;
	else
		sensors->totals.overwritten += lost;
}

static bool sensors_in_scope(void *context, pid_t pid, pid_t parent)
{
	const struct recording_sensors *sensors = context;

	return sensors->options.in_scope(sensors->options.context, pid, parent);
}

static int take_recorded_type(void *context, const struct stream_announced *announced, const struct event_type **type,
			      uint32_t *number)
{
	struct recording_sensors *sensors = context;

	return recording_types_add(sensors->types, announced, sensors->diag, type, number);
}

static int open_recording_stream(struct recording_sensors *sensors, struct asterism_diag *diag)
{
	const struct selection *what = sensors->options.what;
	struct stream_options options = {
		.record_bytes = STREAM_RECORD_BYTES_MAX,
		.in_scope = sensors_in_scope,
		.on_event = sensors_on_event,
		.on_lost = sensors_on_lost,
		.context = sensors,
		.diag = diag,
		.clock = sensors->options.clock,
		.is_quiet = sensors->options.is_quiet,
	};

	sensors->wants.items = alloc_zero(what->sensor_count, sizeof *sensors->wants.items);
	sensors->types = recording_types_new();
	sensors->packet = alloc_zero(PACKET_BYTES, 1);
	sensors->waiting = alloc_zero(STREAM_RECORD_BYTES_MAX, 1);
	if (!sensors->wants.items || !sensors->types || !sensors->packet || !sensors->waiting)
		return diag_no_memory(diag);
	for (size_t i = 0; i < what->sensor_count; i++)
		sensors->wants.items[i].name = what->sensors[i];
	sensors->wants.count = what->sensor_count;
	sensors->wants.take = take_recorded_type;
	sensors->wants.context = sensors;
	options.wants = sensors->wants;
	return stream_new(&options, diag, &sensors->stream);
}

int recording_sensors_new(const struct recording_sensors_options *options, struct asterism_diag *diag,
			  struct recording_sensors **made)
{
	struct recording_sensors *sensors = alloc_zero(1, sizeof *sensors);
	int result;

	if (!sensors)
		return diag_no_memory(diag);
	sensors->options = *options;
	sensors->diag = diag;
	sensors->last_ns = options->start_ns;
	begin_packet(sensors, options->start_ns);
	result = open_recording_stream(sensors, diag);
	if (result)
		recording_sensors_free(sensors);
	else
		*made = sensors;
	return result;
}

void recording_sensors_free(struct recording_sensors *sensors)
{
	if (!sensors)
		return;
	stream_free(sensors->stream);
	recording_types_free(sensors->types);
	alloc_free(sensors->wants.items);
	alloc_free(sensors->packet);
	alloc_free(sensors->waiting);
	alloc_free(sensors);
}

/* Writes what there is, and tells of what was lost behind it. passed_ns: no event before it will come. */
static int flush_packet(struct recording_sensors *sensors, uint64_t passed_ns)
{
	int result = sensors->events ? write_packet(sensors) : 0;

	if (result || !sensors->lost || sensors->is_dropped)
		return result;
	pass_lost(sensors);
	if (passed_ns > sensors->last_ns && passed_ns != MERGE_NEVER)
		sensors->last_ns = passed_ns;
	begin_packet(sensors, sensors->last_ns);
	return write_packet(sensors);
}

/* What had to be written first. */
static int resume(struct recording_sensors *sensors)
{
	int result = sensors->has_begun || sensors->is_dropped ? 0 : write_packet(sensors);

	if (!result && sensors->is_waiting)
		result = take_sensor_record(sensors, sensors->waiting);
	sensors->is_waiting &= result != 0;
	return result;
}

int recording_sensors_turn(struct recording_sensors *sensors, struct ctf_writer *trace, bool flush, uint64_t *wait_ns)
{
	uint64_t passed_ns;
	int result;

	sensors->trace = trace;
	result = resume(sensors);
	if (result)
		return result;
	sensors->failed = 0;
	stream_settle(sensors->stream, MERGE_NEVER);
	result = stream_turn(sensors->stream, &passed_ns);
	if (result == PAUSE)
		return sensors->failed;
	if (stream_wait_ns(sensors->stream) < *wait_ns)
		*wait_ns = stream_wait_ns(sensors->stream);
	return flush && !result ? flush_packet(sensors, passed_ns) : result;
}

/* A packet without events tells of what is lost at the end; where there is no room for that, the one before. */
static void write_lost_end(struct recording_sensors *sensors)
{
	const struct ring_packet packet = {
		.timestamp_begin = sensors->last_ns,
		.packet_seq_num = sensors->sequence,
		.events_before = sensors->events_before + sensors->lost,
	};

	ctf_writer_end(sensors->trace, ctf_writer_sensors(sensors->trace), &packet, sensors->discarded + sensors->lost);
}

/* Writes what is still to come, to the end. */
static int drain(struct recording_sensors *sensors, struct ctf_writer *trace)
{
	int result = 0, failed = 0;
	uint64_t wait_ns = 0;

	do {
		result = recording_sensors_turn(sensors, trace, true, &wait_ns);
		if (result && !sensors->is_dropped)
			give_recording_up(sensors);
		failed = failed ? failed : result;
	} while (stream_has_more(sensors->stream));
	write_lost_end(sensors);
	return failed;
}

int recording_sensors_finish(struct recording_sensors *sensors, struct ctf_writer *trace)
{
	stream_end(sensors->stream);
	return drain(sensors, trace);
}

int recording_sensors_keep(struct recording_sensors *sensors)
{
	return stream_keep(sensors->stream);
}

/* For another trace: nothing has been written yet. */
static void begin_anew(struct recording_sensors *sensors, uint64_t since_ns)
{
	recording_types_forget(sensors->types);
	sensors->sequence = sensors->events_before = sensors->discarded = sensors->lost = 0;
	sensors->has_begun = sensors->is_refused = sensors->is_dropped = sensors->is_waiting = false;
	sensors->last_ns = since_ns;
	begin_packet(sensors, since_ns);
}

int recording_sensors_snapshot(struct recording_sensors *sensors, struct ctf_writer *trace, uint64_t since_ns,
			       uint64_t at_ns)
{
	const struct recording_sensors_totals before = sensors->totals;
	int result;

	since_ns = since_ns > sensors->options.start_ns ? since_ns : sensors->options.start_ns;
	begin_anew(sensors, since_ns);
	result = stream_rewind(sensors->stream, since_ns, at_ns);
	if (!result)
		result = drain(sensors, trace);
	/* What a snapshot does not hold is no loss: that it is not whole is told. */
	sensors->totals.overwritten = before.overwritten;
	sensors->totals.unwritten = before.unwritten;
	return result;
}

void recording_sensors_count(const struct recording_sensors *sensors, struct recording_sensors_totals *totals)
{
	struct stream_counts counts;

	stream_count(sensors->stream, &counts);
	*totals = sensors->totals;
	totals->late = counts.late;
	totals->unfinished = counts.unfinished;
	totals->processes = counts.processes;
	totals->out_of_scope = counts.out_of_scope;
	totals->unknown = counts.unknown;
	totals->unannounced.count =
		stream_unannounced(&sensors->wants, totals->unannounced.names, RECORDING_UNANNOUNCED_NAMED);
}
