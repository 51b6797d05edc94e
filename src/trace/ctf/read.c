// SPDX-License-Identifier: BSD-2-Clause
/*
 * Reads the events of a trace in order. Every stream that is not at its end is in the heap, with an event in hand or
 * with its damage, at the time of the last event before that. The first of the heap goes on only when the next event is
 * asked for: so a loss that its next packet tells of is told with the first event that may come after the gap.
 */

#include "trace/ctf/read-priv.h"

#include "base/heap.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* How far ahead the input is brought near. */
enum { AHEAD_BYTES = 2048 };

struct ctf {
	struct event_source source; /* first */
	const char *path;
	struct asterism_diag *diag;
	int folder;
	struct ctf_types types;
	struct ctf_part *parts;
	size_t part_count;
	struct ctf_stream *streams;
	size_t stream_count;
	struct ctf_stream **heap;
	size_t heap_count;
	uint64_t alone_until_ns; /* before this the first of the heap stays the first */
	bool is_given;           /* the event in hand of the first of the heap, or left out */
	bool drops;              /* events that are not wanted */
	uint32_t type_count;
	uint32_t event_bytes; /* of the event taken last */
	uint64_t seq;
	union {
		struct event_header header;
		char bytes[EVENT_RECORD_BYTES_MAX];
	} record;
};

static bool is_stream_before(const void *left, const void *right)
{
	const struct ctf_stream *a = *(struct ctf_stream *const *)left, *b = *(struct ctf_stream *const *)right;

	return a->ts != b->ts ? a->ts < b->ts : a->order < b->order;
}

static struct heap streams_heap(struct ctf *ctf)
{
	return (struct heap){
		.items = ctf->heap,
		.count = ctf->heap_count,
		.item_bytes = sizeof(struct ctf_stream *),
		.children = 2,
		.is_before = is_stream_before,
	};
}

static bool damage(struct ctf_stream *stream, size_t at, const char *text)
{
	stream->damage = (struct ctf_damage){ text, at };
	if (stream->is_cut)
		stream->damage.text = "the file ends in the middle of a packet";
	return true;
}

static void take_context(struct ctf_stream *stream)
{
	struct event_packed_context context;
	size_t length;

	memcpy(&context, stream->map + stream->at, sizeof context);
	context.comm[EVENT_COMM_BYTES - 1] = 0;
	length = strlen(context.comm);
	stream->header.pid = context.pid;
	stream->header.tid = context.tid;
	/* Records promise that nothing follows the NUL. */
	memset(stream->header.comm, 0, sizeof stream->header.comm);
	memcpy(stream->header.comm, context.comm, length);
	stream->at += sizeof context;
}

static void take_late(struct ctf_stream *stream)
{
	memcpy(&stream->late, stream->map + stream->at, sizeof stream->late);
	stream->has_late = true;
	stream->at += sizeof stream->late;
}

/* What tells of the events behind it: how it is taken, and how long it is. NULL: id is of an event. */
static void (*teller_of(uint32_t id, size_t *bytes))(struct ctf_stream *stream)
{
	*bytes = id == EVENT_PACKED_ID_CONTEXT ? sizeof(struct event_packed_context) : sizeof(struct event_packed_late);
	return id == EVENT_PACKED_ID_CONTEXT ? take_context : id == EVENT_PACKED_ID_LATE ? take_late : NULL;
}

/* Takes the next event into the hand. Returns false at the end of the stream; damage counts as an event here. */
static bool advance_stream(struct ctf *ctf, struct ctf_stream *stream)
{
	stream->has_late = false;
	for (;;) {
		uint64_t word, ts;
		uint32_t id;

		if (stream->at >= stream->content_end) {
			struct ctf_loss loss;

			if (stream->timestamp_end > ctf->source.until_ns) /* of the packet that is read */
				ctf->source.until_ns = stream->timestamp_end;
			if (!ctf_stream_packet(stream, ctf->folder, &ctf->types, &loss))
				return stream->damage.text != NULL;
			ctf->source.lost += loss.count;
			if (loss.until_ns > ctf->source.lossy_until_ns)
				ctf->source.lossy_until_ns = loss.until_ns;
			continue;
		}
		size_t left = stream->content_end - stream->at, bytes;
		if (left < sizeof word)
			return damage(stream, stream->at, "an event extends beyond its packet");
		memcpy(&word, stream->map + stream->at, sizeof word);
		ts = event_packed_word_ts(word, stream->ts);
		if (ts > stream->timestamp_end)
			return damage(stream, stream->at, "an event is later than its packet");
		id = event_packed_word_id(word);
		void (*take)(struct ctf_stream * stream) = teller_of(id, &bytes);
		if (take) {
			if (left < sizeof word + bytes)
				return damage(stream, stream->at, "an event extends beyond its packet");
			stream->at += sizeof word;
			take(stream);
			continue;
		}
		if (id >= stream->classes->count || !stream->classes->items[id])
			return damage(stream, stream->at, "unknown event id");
		stream->ts = ts;
		stream->at += sizeof word;
		stream->event_class = stream->classes->items[id];
		return true;
	}
}

/* Puts the first of the heap, which may have become another or a later one, in its place. */
static void settle_first_stream(struct ctf *ctf)
{
	struct heap heap = streams_heap(ctf);
	struct ctf_stream *first = ctf->heap[0];

	ctf->alone_until_ns = UINT64_MAX;
	if (ctf->heap_count < 2)
		return;
	heap_down(&heap, 0, &first);
	ctf->alone_until_ns = ctf->heap[heap_child(&heap, 0)]->ts;
}

/* The first of the heap has an event no longer. Streams have many events in a row, so it often stays the first. */
static void replace_first_stream(struct ctf *ctf)
{
	struct ctf_stream *first = ctf->heap[0];

	if (!advance_stream(ctf, first)) {
		ctf->heap[0] = ctf->heap[--ctf->heap_count];
		settle_first_stream(ctf);
	} else if (first->ts >= ctf->alone_until_ns) {
		settle_first_stream(ctf);
	}
}

/* Puts the event in hand into the record, as far as it is wanted, and goes behind it. False: it does not end. */
static bool take_stream_event(struct ctf *ctf, struct ctf_stream *stream)
{
	const struct ctf_class *class = stream->event_class;
	const char *payload = stream->map + stream->at;
	size_t left = stream->content_end - stream->at;
	int64_t bytes;

	if (class->is_wanted && class->is_partial)
		memset(ctf->record.bytes, 0, class->type->record_bytes);
	if (class->is_wanted)
		bytes = event_packed_decode(&class->layout, payload, left, &ctf->record.header);
	else
		bytes = event_packed_bytes(&class->layout, payload, left);
	if (bytes < 0) {
		damage(stream, stream->at - EVENT_PACKED_WORD_BYTES, "an event extends beyond its packet");
		return false;
	}
	if (class->is_wanted && stream->has_late)
		event_packed_set_unread(&class->layout, stream->late.unread, &ctf->record.header);
	bytes = (int64_t)event_packed_round((size_t)bytes);
	stream->at += (size_t)bytes;
	ctf->event_bytes = (uint32_t)bytes + EVENT_PACKED_WORD_BYTES;
	stream->packet_events++;
	return true;
}

/*
 * The same for the event behind the one taken last of the first of the heap, straight from its packet: where it is the
 * next one whatever the other streams have, and where its class says how many bytes it takes. Most events are like
 * that. False: nothing has been done.
 */
static inline bool take_following(struct ctf *ctf)
{
	struct ctf_stream *stream = ctf->heap[0];
	int64_t left = (int64_t)stream->content_end - (int64_t)stream->at; /* padding may lie behind the end */
	struct ctf_class *class;
	uint64_t word, ts;
	uint32_t id;

	if (left < EVENT_PACKED_WORD_BYTES)
		return false;
	__builtin_prefetch(stream->map + stream->at + AHEAD_BYTES); /* the CPU itself stops at the end of a page */
	memcpy(&word, stream->map + stream->at, sizeof word);
	ts = event_packed_word_ts(word, stream->ts);
	id = event_packed_word_id(word);
	if (ts >= ctf->alone_until_ns || ts > stream->timestamp_end || id >= stream->classes->count)
		return false;
	class = stream->classes->items[id];
	if (!class || left < class->whole_bytes || class->is_partial)
		return false;
	if (class->is_wanted)
		event_packed_decode_numbers(&class->layout, stream->map + stream->at + sizeof word,
					    &ctf->record.header);
	stream->ts = ts;
	stream->has_late = false;
	stream->event_class = class;
	stream->at += (size_t) class->whole_bytes;
	stream->packet_events++;
	ctf->event_bytes = (uint32_t) class->whole_bytes;
	return true;
}

static int report_damage(struct ctf *ctf, struct ctf_stream *stream)
{
	const char *name = stream->parts[stream->next_part ? stream->next_part - 1 : 0].name;
	char path[4096];
	struct diag_source source = { .file = path };
	struct diag_location location = { .source = &source, .offset = stream->damage.offset };

	snprintf(path, sizeof path, "%s/%s", ctf->path, name);
	ctf->heap[0] = ctf->heap[--ctf->heap_count];
	settle_first_stream(ctf);
	return diag_error(ctf->diag, &location, -EINVAL, "%s", stream->damage.text);
}

static inline int give_stream_event(struct ctf *ctf, const struct ctf_stream *stream, struct event *event)
{
	struct ctf_class *class = stream->event_class;
	struct event_header *header = &ctf->record.header;

	if (class->number == UINT32_MAX)
		class->number = ctf->type_count++;
	*header = stream->header;
	header->ts = stream->ts;
	header->seq = ctf->seq;
	header->type = class->number;
	*event = (struct event){ header, class->type, ctf->event_bytes, 0 };
	if (stream->has_late && stream->late.entered && stream->late.entered < stream->ts) {
		header->ts = stream->late.entered;
		event->completed_ns = stream->ts;
	}
	return 1;
}

/* Takes the event that comes next by way of the hands and the heap. Returns as next of a source. */
__attribute__((noinline)) static int take_first(struct ctf *ctf)
{
	if (ctf->is_given)
		replace_first_stream(ctf);
	ctf->is_given = false;
	while (ctf->heap_count && !ctf->is_given) {
		if (ctf->heap[0]->damage.text)
			return report_damage(ctf, ctf->heap[0]);
		ctf->is_given = take_stream_event(ctf, ctf->heap[0]);
	}
	return ctf->is_given;
}

static int ctf_next(struct event_source *source, struct event *event)
{
	struct ctf *ctf = (struct ctf *)source;

	for (;;) {
		if (!ctf->is_given || !take_following(ctf)) {
			int result = take_first(ctf);

			if (result <= 0)
				return result;
		}
		ctf->seq++;
		if (ctf->heap[0]->event_class->is_wanted || !ctf->drops)
			return give_stream_event(ctf, ctf->heap[0], event);
	}
}

static void drop_fields(struct ctf_class *class, const struct event_want *want)
{
	bool wanted[EVENT_FIELDS_MAX] = { false };
	uint32_t wanted_count = 0, kept;

	for (uint32_t i = 0; i < class->type->field_count; i++) {
		wanted[i] = want->wants_field(want->context, class->type, i);
		wanted_count += wanted[i];
	}
	event_packed_drop(&class->layout, wanted);
	kept = class->layout.number_count;
	for (uint32_t i = 0; i < class->layout.string_count; i++)
		kept += class->layout.strings[i].capacity != 0;
	class->is_partial = kept < wanted_count;
}

static void ctf_want(struct event_source *source, const struct event_want *want)
{
	struct ctf *ctf = (struct ctf *)source;

	ctf->drops = want->drops;
	for (size_t i = 0; i < ctf->types.count; i++) {
		struct ctf_class *class = &ctf->types.all[i];

		class->is_wanted = want->wants(want->context, class->type);
		if (class->is_wanted && want->wants_field)
			drop_fields(class, want);
	}
}

static bool layout_has_field(const struct event_packed *layout, uint32_t field)
{
	for (uint32_t i = 0; i < layout->number_count; i++) {
		if (layout->numbers[i].field == field)
			return true;
	}
	for (uint32_t i = 0; i < layout->string_count; i++) {
		if (layout->strings[i].field == field && layout->strings[i].capacity)
			return true;
	}
	return false;
}

static bool ctf_holds(struct event_source *source, const struct event_type *type, uint32_t field)
{
	const struct ctf *ctf = (const struct ctf *)source;

	for (size_t i = 0; i < ctf->types.count; i++) {
		const struct ctf_class *class = &ctf->types.all[i];

		if (class->type == type && (field == EVENT_NO_FIELD || layout_has_field(&class->layout, field)))
			return true;
	}
	return false;
}

static uint64_t ctf_position(const struct event_source *source)
{
	const struct ctf *ctf = (const struct ctf *)source;
	uint64_t position = 0;

	for (size_t i = 0; i < ctf->stream_count; i++)
		position += ctf->streams[i].bytes_before + ctf->streams[i].at;
	return position;
}

static void ctf_free(struct event_source *source)
{
	struct ctf *ctf = (struct ctf *)source;

	for (size_t i = 0; i < ctf->stream_count; i++)
		ctf_stream_fini(&ctf->streams[i]);
	ctf_parts_free(ctf->parts, ctf->part_count);
	ctf_types_fini(&ctf->types);
	if (ctf->folder >= 0)
		close(ctf->folder);
	alloc_free(ctf->streams);
	alloc_free(ctf->heap);
	alloc_free(ctf);
}

static const struct event_source_kind kind = {
	.name = "trace",
	.next = ctf_next,
	.free = ctf_free,
	.position = ctf_position,
	.want = ctf_want,
	.holds = ctf_holds,
};

static void add_stream(struct ctf *ctf, const struct ctf_part *parts, size_t count)
{
	struct ctf_stream *stream = &ctf->streams[ctf->stream_count];

	*stream = (struct ctf_stream){ .parts = parts, .part_count = count, .fd = -1 };
	stream->order = (uint32_t)ctf->stream_count++;
	if (advance_stream(ctf, stream)) {
		size_t at = ctf->heap_count++;
		struct heap heap = streams_heap(ctf);

		heap_up(&heap, at, &stream);
	}
}

static int open_streams(struct ctf *ctf)
{
	size_t next;
	int result = ctf_parts_list(ctf->folder, &ctf->parts, &ctf->part_count);

	if (result)
		return result;
	ctf->streams = alloc_zero(ctf->part_count, sizeof *ctf->streams);
	ctf->heap = alloc_zero(ctf->part_count, sizeof(struct ctf_stream *));
	if (!ctf->streams || !ctf->heap)
		return -ENOMEM;
	for (size_t i = 0; i < ctf->part_count; i = next) {
		for (next = i + 1; next < ctf->part_count && !ctf->parts[i].is_wrong &&
				   ctf->parts[next].instance == ctf->parts[i].instance;)
			next++;
		add_stream(ctf, &ctf->parts[i], next - i);
	}
	for (size_t i = 0; i < ctf->part_count; i++)
		ctf->source.bytes_total += ctf->parts[i].bytes;
	return 0;
}

static int open_stream_folder(struct ctf *ctf, struct event_catalog *catalog)
{
	struct diag_source location = { .file = ctf->path };
	int result = ctf_types_read(&ctf->types, ctf->path, catalog, ctf->diag);

	if (result)
		return result;
	ctf->source.machine = ctf->types.machine;
	ctf->folder = open(ctf->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	result = ctf->folder < 0 ? -errno : open_streams(ctf);
	if (result == -ENOMEM)
		return diag_no_memory(ctf->diag);
	if (result)
		return diag_error(ctf->diag, &(struct diag_location){ .source = &location }, result,
				  "cannot read the trace: %s", strerror(-result));
	return 0;
}

int trace_ctf_new(const char *path, struct event_catalog *catalog, struct asterism_diag *diag,
		  struct event_source **made)
{
	struct ctf *ctf = alloc_zero(1, sizeof *ctf);
	int result;

	if (!ctf)
		return diag_no_memory(diag);
	ctf->source.kind = &kind;
	ctf->path = path;
	ctf->diag = diag;
	ctf->folder = -1;
	result = open_stream_folder(ctf, catalog);
	if (result) {
		ctf_free(&ctf->source);
		return result;
	}
	*made = &ctf->source;
	return 0;
}
