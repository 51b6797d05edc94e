// SPDX-License-Identifier: BSD-2-Clause
/*
 * Writes packets of a ring as packets of a trace. Going through its events finds where the last one ends and when it
 * was: CTF counts the content without the padding behind it, and a ring does not.
 */

#include "trace/ctf/write-priv.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

enum { MATCH_BYTES_MAX = 1 + 256 + 4096, ASIDE_BYTES_MAX = 8192, CHANGE_NAME_BYTES = 32 };

/* What the last packet of a stream says. */
struct stream_end {
	uint64_t timestamp_end, discarded;
	uint64_t portions; /* packets that went on with a sub-buffer: so many more than sub-buffers there are */
};

struct ctf_writer {
	struct ctf_files *files;
	struct asterism_diag *diag;
	struct event_packed *layouts; /* by id; the context's is that of EVENT_PACKED_ID_CONTEXT */
	uint32_t layout_count;
	uint32_t stream_count;      /* without that of the matches */
	struct ctf_sensors sensors; /* where there are some, the last one is theirs */
	const struct ctf_layout *layout;
	char *arranged; /* a packet's events as the layout wants them, of arranged_bytes */
	size_t arranged_bytes;
	char *rest; /* of a sub-buffer, of rest_bytes */
	size_t rest_bytes;
	struct stream_end *ends; /* per stream, that of the matches last */
	uint64_t events, aside_count;
	uint64_t wall_ns;
	uint8_t uuid[CTF_UUID_BYTES];
};

/* What going through a packet has found. */
struct walk {
	size_t end; /* behind the last event's payload, without padding */
	uint64_t ts;
	uint64_t events;
	/* Where the part that is to be written begins; 0: with the first event. What holds there: */
	size_t skip;
	uint64_t skip_ts, skip_events;
	struct event_packed_context context;
	bool has_skipped;
};

static uint64_t wall_ns(void)
{
	struct timespec wall, steady;

	clock_gettime(CLOCK_MONOTONIC, &steady);
	clock_gettime(CLOCK_REALTIME, &wall);
	return (uint64_t)(wall.tv_sec - steady.tv_sec) * 1000000000 + (uint64_t)wall.tv_nsec - (uint64_t)steady.tv_nsec;
}

/* How the choice of types has changed, as change_1 and so on. */
static void add_changes(const struct ctf_writer_options *options, char (*names)[CHANGE_NAME_BYTES],
			struct ctf_metadata *metadata, struct ctf_env *env)
{
	for (size_t i = 0; i < options->change_count; i++) {
		snprintf(names[i], sizeof names[i], CTF_ENV_CHANGE "%zu", i + 1);
		env[metadata->env_count++] = (struct ctf_env){ names[i], options->changes[i], false };
	}
}

static int write_metadata(struct ctf_writer *writer, const struct ctf_writer_options *options,
			  const struct ctf_event *events, size_t event_count)
{
	char(*names)[CHANGE_NAME_BYTES] = alloc_zero(options->change_count, sizeof *names);
	struct ctf_env *env = alloc_zero(CTF_ENV_MAX + options->change_count, sizeof *env);
	struct utsname system = { 0 };
	struct text_buffer text = { 0 };
	int result = -ENOMEM;

	if (!names || !env)
		goto out;
	uname(&system);
	struct ctf_metadata metadata = {
		.wall_ns = writer->wall_ns,
		.env = env,
		.env_count = ctf_env_fill(options->layout != NULL, &system, env),
		.events = events,
		.event_count = event_count,
		.has_sensors = options->has_sensors,
		.lttng = options->layout != NULL,
	};

	add_changes(options, names, &metadata, env);
	memcpy(metadata.uuid, writer->uuid, sizeof metadata.uuid);
	ctf_metadata_write(&metadata, &text);
	if (writer->sensors.text.length)
		text_append(&text, writer->sensors.text.bytes);
	result = text.failure ? -ENOMEM : 0;
out:
	if (result)
		diag_no_memory(writer->diag);
	else
		result = ctf_files_metadata(writer->files, text.bytes, text.length);
	text_fini(&text);
	alloc_free(names);
	alloc_free(env);
	return result;
}

/* The types under the catalog's names. */
static int describe_types(struct ctf_writer *writer, const struct ctf_writer_options *options)
{
	struct ctf_event *events = alloc_zero(options->event_count + 2, sizeof *events);
	struct ctf_field(*fields)[EVENT_FIELDS_MAX] = alloc_zero(options->event_count, sizeof *fields);
	int result = -ENOMEM;

	if (!events || !fields)
		goto out;
	for (size_t i = 0; i < options->event_count; i++) {
		const struct ctf_writer_event *event = &options->events[i];

		events[i] = (struct ctf_event){
			.name = event->type->name,
			.fields = fields[i],
			.field_count = ctf_fields_of(event->type, event->recorded, fields[i]),
			.id = (uint32_t)(EVENT_PACKED_ID_FIRST + i),
		};
	}
	events[options->event_count] = ctf_late_event;
	events[options->event_count + 1] = ctf_match_event;
	result = write_metadata(writer, options, events, options->event_count + 2);
out:
	if (!events || !fields)
		diag_no_memory(writer->diag);
	alloc_free(events);
	alloc_free(fields);
	return result;
}

/* The layouts of the payloads, and the types as the metadata tells them. */
static int describe_all(struct ctf_writer *writer, const struct ctf_writer_options *options)
{
	const struct ctf_event *events;
	size_t count;

	writer->layouts[EVENT_PACKED_ID_CONTEXT].fixed_bytes = sizeof(struct event_packed_context);
	for (size_t i = 0; i < options->event_count; i++)
		event_packed_init(&writer->layouts[EVENT_PACKED_ID_FIRST + i], options->events[i].type,
				  options->events[i].recorded);
	writer->layout = options->layout;
	if (!options->layout)
		return describe_types(writer, options);
	events = ctf_layout_events(options->layout, &count);
	return write_metadata(writer, options, events, count);
}

static int open_trace_writer(struct ctf_writer *writer, const char *path, const struct ctf_writer_options *options)
{
	const struct ctf_files_options files = {
		.path = path,
		.stream_count = options->stream_count + options->has_sensors + 1,
		.has_sensors = options->has_sensors,
		.max_bytes = options->max_bytes,
		.mode = options->mode,
	};
	int result;

	if (options->event_count >= EVENT_PACKED_ID_LATE || options->stream_count >= CTF_STREAM_SENSORS)
		return diag_error(writer->diag, NULL, -EINVAL, "a trace cannot have that many event types or CPUs");
	writer->stream_count = options->stream_count + options->has_sensors;
	writer->wall_ns = options->wall_ns ? options->wall_ns : wall_ns();
	writer->layout_count = (uint32_t)options->event_count + 1;
	writer->layouts = alloc_zero(writer->layout_count, sizeof *writer->layouts);
	writer->ends = alloc_zero(writer->stream_count + 1, sizeof *writer->ends);
	if (!writer->layouts || !writer->ends || (options->has_sensors && ctf_sensors_init(&writer->sensors)))
		return diag_no_memory(writer->diag);
	if (getrandom(writer->uuid, sizeof writer->uuid, 0) != sizeof writer->uuid)
		return diag_error(writer->diag, NULL, -EIO, "cannot get random numbers for the UUID of the trace");
	writer->uuid[6] = (writer->uuid[6] & 0x0f) | 0x40; /* RFC 4122: random */
	writer->uuid[8] = (writer->uuid[8] & 0x3f) | 0x80;
	result = ctf_files_new(&files, writer->diag, &writer->files);
	return result ? result : describe_all(writer, options);
}

int ctf_writer_new(const char *path, const struct ctf_writer_options *options, struct asterism_diag *diag,
		   struct ctf_writer **made)
{
	struct ctf_writer *writer = alloc_zero(1, sizeof *writer);
	int result;

	if (!writer)
		return diag_no_memory(diag);
	writer->diag = diag;
	result = open_trace_writer(writer, path, options);
	if (result) {
		ctf_writer_close(writer);
		return result;
	}
	*made = writer;
	return 0;
}

int ctf_writer_declare(struct ctf_writer *writer, const struct ctf_writer_sensor *sensor, uint32_t *id)
{
	return ctf_sensors_declare(&writer->sensors, writer->files, sensor, writer->diag, id);
}

uint32_t ctf_writer_sensors(const struct ctf_writer *writer)
{
	return writer->stream_count - 1;
}

static bool is_sensors(const struct ctf_writer *writer, uint32_t stream)
{
	return writer->sensors.count && stream == writer->stream_count - 1;
}

int ctf_writer_describe(struct ctf_writer *writer, const struct ctf_writer_options *options)
{
	uint32_t count = (uint32_t)options->event_count + 1;
	struct event_packed *layouts;
	int result;

	if (options->event_count >= EVENT_PACKED_ID_LATE || count < writer->layout_count || writer->layout)
		return diag_error(writer->diag, NULL, -EINVAL, "the trace cannot hold these types");
	layouts = alloc_resize(writer->layouts, count, sizeof *layouts);
	if (!layouts)
		return diag_no_memory(writer->diag);
	writer->layouts = layouts;
	result = describe_types(writer, options);
	for (uint32_t i = writer->layout_count; i < count && !result; i++)
		event_packed_init(&layouts[i], options->events[i - EVENT_PACKED_ID_FIRST].type,
				  options->events[i - EVENT_PACKED_ID_FIRST].recorded);
	if (!result)
		writer->layout_count = count;
	return result;
}

static int refuse_record(struct ctf_writer *writer, uint32_t cpu, size_t offset, const char *text)
{
	if (is_sensors(writer, cpu))
		return diag_error(writer->diag, NULL, -EINVAL, "a packet of sensors is damaged at byte %zu: %s", offset,
				  text);
	return diag_error(writer->diag, NULL, -EINVAL, "a packet of CPU %u is damaged at byte %zu: %s", cpu, offset,
			  text);
}

static const struct event_packed late_layout = { .fixed_bytes = sizeof(struct event_packed_late) };

static void skip_to_here(struct walk *walk)
{
	walk->skip_ts = walk->ts;
	walk->skip_events = walk->events;
	walk->has_skipped = true;
}

static int walk_packet(struct ctf_writer *writer, uint32_t cpu, const char *bytes, size_t content_bytes,
		       struct walk *walk)
{
	const struct event_packed *layouts = is_sensors(writer, cpu) ? writer->sensors.layouts : writer->layouts;
	size_t at = sizeof(struct ring_packet),
	       layout_count = is_sensors(writer, cpu) ? writer->sensors.count : writer->layout_count;

	walk->end = at;
	walk->has_skipped = !walk->skip;
	while (at < content_bytes) {
		uint64_t word, ts;
		int64_t length;
		uint32_t id;

		if (at == walk->skip)
			skip_to_here(walk);
		if (content_bytes - at < sizeof word)
			return refuse_record(writer, cpu, at, "an event is cut off");
		memcpy(&word, bytes + at, sizeof word);
		id = event_packed_word_id(word);
		if (id >= layout_count && id != EVENT_PACKED_ID_LATE)
			return refuse_record(writer, cpu, at, "unknown event id");
		at += sizeof word;
		length = event_packed_bytes(id == EVENT_PACKED_ID_LATE ? &late_layout : &layouts[id], bytes + at,
					    content_bytes - at);
		if (length < 0)
			return refuse_record(writer, cpu, at - sizeof word, "an event is cut off");
		ts = event_packed_word_ts(word, walk->ts);
		if (ts - walk->ts >= UINT64_C(1) << (EVENT_PACKED_TIME_BITS - 1))
			return refuse_record(writer, cpu, at - sizeof word, "time goes back");
		walk->ts = ts;
		walk->events += id != EVENT_PACKED_ID_CONTEXT && id != EVENT_PACKED_ID_LATE;
		if (id == EVENT_PACKED_ID_CONTEXT && !walk->has_skipped)
			memcpy(&walk->context, bytes + at, sizeof walk->context);
		walk->end = at + (size_t)length;
		at = event_packed_round(walk->end);
	}
	return walk->has_skipped ? 0 : refuse_record(writer, cpu, walk->skip, "no event begins here");
}

static struct ring_packet header_of(const struct ctf_writer *writer, uint32_t cpu, const struct walk *walk)
{
	struct ring_packet header = {
		.magic = RING_PACKET_MAGIC,
		.stream_instance = (uint16_t)cpu,
		.timestamp_end = walk->ts,
		.content_bits = walk->end * 8,
		.packet_bits = event_packed_round(walk->end) * 8,
		.cpu_id = cpu,
	};

	memcpy(header.uuid, writer->uuid, sizeof header.uuid);
	return header;
}

/* Makes room for bytes at *place, of which there are *room. */
static int make_bytes_room(struct ctf_writer *writer, char **place, size_t *room, size_t bytes)
{
	char *larger;

	if (bytes <= *room)
		return 0;
	larger = alloc_resize(*place, bytes, 1);
	if (!larger)
		return diag_no_memory(writer->diag);
	*place = larger;
	*room = bytes;
	return 0;
}

/* The events of a packet as they are in the trace; walk then says where these end. */
static int arrange(struct ctf_writer *writer, struct walk *walk, const char **content)
{
	const struct ctf_events events = { *content, walk->end - sizeof(struct ring_packet) };

	if (!writer->layout)
		return 0;
	int result =
		make_bytes_room(writer, &writer->arranged, &writer->arranged_bytes, events.length * CTF_LAYOUT_GROWTH);

	if (result)
		return result;
	walk->end = sizeof(struct ring_packet) +
		    ctf_layout_apply(writer->layout, writer->layouts, &events, writer->arranged);
	*content = writer->arranged;
	return 0;
}

/* The events behind what is skipped, with the context that holds there before them; walk then says where these end. */
static int write_left_events(struct ctf_writer *writer, const char *bytes, struct walk *walk, const char **content)
{
	const uint64_t word = event_packed_word(EVENT_PACKED_ID_CONTEXT, walk->skip_ts);
	size_t length = walk->end - walk->skip, before = sizeof word + sizeof walk->context;
	int result = make_bytes_room(writer, &writer->rest, &writer->rest_bytes, before + length);

	if (result)
		return result;
	memcpy(writer->rest, &word, sizeof word);
	memcpy(writer->rest + sizeof word, &walk->context, sizeof walk->context);
	memcpy(writer->rest + before, bytes + walk->skip, length);
	walk->end = sizeof(struct ring_packet) + before + length;
	*content = writer->rest;
	return 0;
}

/* What stands in the ring's header as the trace has it. */
static struct ring_packet portion_header(const struct ctf_writer *writer, uint32_t cpu, const struct walk *walk,
					 const struct ring_packet *ring)
{
	struct ring_packet header = header_of(writer, cpu, walk);

	if (is_sensors(writer, cpu)) {
		header.stream_id = CTF_CLASS_SENSORS;
		header.stream_instance = CTF_STREAM_SENSORS;
		header.cpu_id = ring->cpu_id;
	}
	header.timestamp_begin = walk->skip ? walk->skip_ts : ring->timestamp_begin;
	header.packet_seq_num = ring->packet_seq_num + writer->ends[cpu].portions + (walk->skip != 0);
	header.events_before = ring->events_before + walk->skip_events;
	return header;
}

/* Whether the portion can follow what the stream has. */
static int check_portion(struct ctf_writer *writer, uint32_t cpu, const struct walk *walk,
			 const struct ctf_portion *portion)
{
	const struct stream_end *end = &writer->ends[cpu];
	struct ring_packet ring;

	memcpy(&ring, portion->bytes, sizeof ring);
	if ((walk->skip ? walk->skip_ts : ring.timestamp_begin) < end->timestamp_end || walk->ts > INT64_MAX)
		return refuse_record(writer, cpu, offsetof(struct ring_packet, timestamp_begin), "time goes back");
	if (portion->discarded < end->discarded)
		return refuse_record(writer, cpu, offsetof(struct ring_packet, events_discarded),
				     "the number of lost events has decreased");
	return 0;
}

int ctf_writer_portion(struct ctf_writer *writer, uint32_t cpu, const struct ctf_portion *portion)
{
	const char *content = (const char *)portion->bytes + sizeof(struct ring_packet);
	struct ring_packet ring, header;
	struct stream_end *end;
	struct ctf_packet packet;
	int result;

	if (cpu >= writer->stream_count)
		return diag_error(writer->diag, NULL, -EINVAL, "no stream for CPU %u", cpu);
	end = &writer->ends[cpu];
	if (portion->content_bytes < sizeof ring || portion->content_bytes % EVENT_PACKED_ALIGN)
		return refuse_record(writer, cpu, portion->content_bytes, "invalid size of a packet");
	memcpy(&ring, portion->bytes, sizeof ring);
	struct walk walk = { .ts = ring.timestamp_begin, .skip = portion->skip };
	result = walk_packet(writer, cpu, portion->bytes, portion->content_bytes, &walk);
	if (!result)
		result = check_portion(writer, cpu, &walk, portion);
	if (!result && walk.skip)
		result = write_left_events(writer, portion->bytes, &walk, &content);
	if (!result)
		result = arrange(writer, &walk, &content);
	if (result)
		return result;
	header = portion_header(writer, cpu, &walk, &ring);
	header.events_discarded = portion->discarded;
	packet = (struct ctf_packet){ &header, content, walk.end - sizeof ring };
	result = ctf_files_append(writer->files, cpu, &packet);
	if (result)
		return result;
	writer->events += walk.events - walk.skip_events;
	*end = (struct stream_end){ walk.ts, portion->discarded, end->portions + (walk.skip != 0) };
	return 0;
}

int ctf_writer_packet(struct ctf_writer *writer, uint32_t cpu, const void *bytes, size_t content_bytes,
		      uint64_t discarded)
{
	const struct ctf_portion whole = { bytes, content_bytes, 0, discarded };

	return ctf_writer_portion(writer, cpu, &whole);
}

int ctf_writer_begin(struct ctf_writer *writer, uint32_t cpu, uint64_t ts)
{
	const struct ring_packet packet = { .timestamp_begin = ts };
	int result = ctf_writer_packet(writer, cpu, &packet, sizeof packet, 0);

	if (!result)
		writer->ends[cpu].portions++; /* the ring counts its own from 0 */
	return result;
}

int ctf_writer_end(struct ctf_writer *writer, uint32_t cpu, const struct ring_packet *packet, uint64_t discarded)
{
	struct stream_end *end = &writer->ends[cpu];
	bool has_loss = discarded > end->discarded;
	int result;

	if (!has_loss && packet->timestamp_begin <= end->timestamp_end)
		return 0;
	result = ctf_writer_packet(writer, cpu, packet, sizeof *packet, has_loss ? discarded : end->discarded);
	if (!result || !has_loss)
		return result;
	result = ctf_files_discarded(writer->files, cpu, discarded);
	if (!result)
		end->discarded = discarded;
	return result;
}

/* The text with its NUL, cut to room bytes. */
static char *put_ctf_text(char *to, const char *text, size_t room)
{
	size_t length = strnlen(text, room - 1);

	memcpy(to, text, length);
	to[length] = 0;
	return to + length + 1;
}

/* An event for the stream of matches. */
struct aside {
	uint64_t ts;
	uint32_t cpu, id;
	struct event_packed_context context;
	const void *payload;
	size_t payload_bytes; /* at most ASIDE_BYTES_MAX less the words and the context */
};

static int put_aside(struct ctf_writer *writer, const struct aside *aside)
{
	char bytes[ASIDE_BYTES_MAX], *at = bytes;
	struct stream_end *end = &writer->ends[writer->stream_count];
	/* What was due at a deadline is told after what came later; within a stream time does not go back. */
	uint64_t ts = aside->ts > end->timestamp_end ? aside->ts : end->timestamp_end;
	uint64_t word = event_packed_word(EVENT_PACKED_ID_CONTEXT, ts);

	if (ts > INT64_MAX)
		return diag_error(writer->diag, NULL, -EINVAL, "no match can be annotated at a time beyond 2^63 ns");
	memcpy(at, &word, sizeof word);
	at += sizeof word;
	memcpy(at, &aside->context, sizeof aside->context);
	at += sizeof aside->context;
	word = event_packed_word(aside->id, ts);
	memcpy(at, &word, sizeof word);
	at += sizeof word;
	memcpy(at, aside->payload, aside->payload_bytes);
	at += aside->payload_bytes;

	struct walk walk = { .end = sizeof(struct ring_packet) + (size_t)(at - bytes), .ts = ts };
	struct ring_packet header = header_of(writer, aside->cpu, &walk);
	struct ctf_packet packet = { &header, bytes, (size_t)(at - bytes) };

	header.stream_instance = CTF_STREAM_MATCHES;
	header.timestamp_begin = ts;
	header.packet_seq_num = header.events_before = writer->aside_count;
	int result = ctf_files_append(writer->files, writer->stream_count, &packet);
	if (result)
		return result;
	writer->aside_count++;
	end->timestamp_end = ts;
	return 0;
}

int ctf_writer_match(struct ctf_writer *writer, const struct ctf_match *match)
{
	struct aside aside = {
		.ts = match->ts,
		.cpu = match->cpu,
		.id = CTF_ID_MATCH,
		.context = { .tid = match->tid, .pid = match->pid },
	};
	char payload[MATCH_BYTES_MAX], *at = payload;

	memcpy(aside.context.comm, match->comm, strnlen(match->comm, sizeof aside.context.comm - 1));
	*at++ = match->tainted;
	at = put_ctf_text(at, match->rule, ctf_match_fields[1].bytes);
	at = put_ctf_text(at, match->values, ctf_match_fields[2].bytes);
	aside.payload = payload;
	aside.payload_bytes = (size_t)(at - payload);
	return put_aside(writer, &aside);
}

int ctf_writer_state(struct ctf_writer *writer, uint64_t ts, uint32_t id, const struct ctf_process *process)
{
	struct aside aside = {
		.ts = ts,
		.id = id,
		.context = { .tid = (uint32_t)gettid(), .pid = (uint32_t)getpid(), .comm = "asterism" },
		.payload = process ? (const void *)process : "",
		.payload_bytes = process ? ctf_process_bytes(process) : 0,
	};

	return put_aside(writer, &aside);
}

void ctf_writer_totals(const struct ctf_writer *writer, struct ctf_writer_totals *totals)
{
	*totals = (struct ctf_writer_totals){
		.events = writer->events,
		.bytes = ctf_files_bytes(writer->files),
		.deleted_bytes = ctf_files_deleted_bytes(writer->files),
	};
	for (uint32_t i = 0; i < writer->stream_count; i++)
		totals->discarded += writer->ends[i].discarded;
}

int ctf_writer_close(struct ctf_writer *writer)
{
	int result;

	if (!writer)
		return 0;
	result = ctf_files_close(writer->files);
	alloc_free(writer->layouts);
	alloc_free(writer->arranged);
	alloc_free(writer->rest);
	alloc_free(writer->ends);
	ctf_sensors_fini(&writer->sensors);
	alloc_free(writer);
	return result;
}
