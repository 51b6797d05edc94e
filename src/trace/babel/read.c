// SPDX-License-Identifier: BSD-2-Clause
/*
 * Reads traces by libbabeltrace2. A graph of one file-system source per trace, a muxer that orders by time and a sink
 * of ours; each run of the graph puts a handful of messages into our hands, from which events are given one at a time.
 * So it is read as it goes, in the thread of the reader, and memory does not grow with the trace.
 *
 * Time: libbabeltrace2 orders by ns since the epoch. What is given is this minus the offset of the clock met first,
 * which for one machine's traces is the clock itself: CLOCK_MONOTONIC for LTTng's.
 */

#include "trace/babel/babel-priv.h"
#include "trace/babel/class.h"
#include "trace/babel/reported.h"
#include "trace/babel/who.h"

#include "base/alloc.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { FIRST_PLACES = 64, ERROR_BYTES = 600 };

struct babel {
	struct event_source source; /* first */
	char *name;
	struct event_catalog *catalog;
	struct lttng_map *map;
	struct asterism_diag *diag;
	struct event_want want;
	const struct babel_class *studied; /* the one about whose type want is being asked */
	bt_graph *graph;
	bt_message_array_const messages; /* ours to release from next on */
	uint64_t message_count, next;
	const bt_message *again; /* ours; the event last given is one of its kind (class->any), too */
	bool ended, has_base;
	int64_t base_ns;
	uint64_t seq, ts;
	struct babel_who *who;
	struct babel_reported reported;
	struct babel_class *classes; /* by address; open addressing, at most half full */
	size_t place_count, class_count;
	const struct event_type **types; /* by number */
	size_t type_count, type_capacity;
	union {
		struct event_header header;
		char bytes[EVENT_RECORD_BYTES_MAX];
	} record;
};

static int complain_of_babel(struct babel *babel, int code, const char *text)
{
	struct diag_source source = { .file = babel->name };

	return diag_error(babel->diag, &(struct diag_location){ .source = &source }, code, "%s", text);
}

/* What failed, with the error that the library holds for this thread: its first cause, on one line. */
static int complain_library(struct babel *babel, const char *failed)
{
	const bt_error *error = bt_current_thread_take_error();
	char text[ERROR_BYTES];

	snprintf(text, sizeof text, "%s", failed);
	if (error && bt_error_get_cause_count(error))
		snprintf(text, sizeof text, "%s: libbabeltrace2 says: %s", failed,
			 bt_error_cause_get_message(bt_error_borrow_cause_by_index(error, 0)));
	if (error)
		bt_error_release(error);
	for (char *at = text; *at; at++) {
		if ((unsigned char)*at < ' ')
			*at = ' ';
	}
	return complain_of_babel(babel, -EINVAL, text);
}

static void release_messages(struct babel *babel)
{
	for (; babel->next < babel->message_count; babel->next++)
		bt_message_put_ref(babel->messages[babel->next]);
}

/* The sink: takes what the muxer has. */
static bt_graph_simple_sink_component_consume_func_status consume(bt_message_iterator *iterator, void *context)
{
	struct babel *babel = context;

	switch (bt_message_iterator_next(iterator, &babel->messages, &babel->message_count)) {
	case BT_MESSAGE_ITERATOR_NEXT_STATUS_OK:
		babel->next = 0;
		return BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_OK;
	case BT_MESSAGE_ITERATOR_NEXT_STATUS_END:
		return BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_END;
	case BT_MESSAGE_ITERATOR_NEXT_STATUS_AGAIN:
		return BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_AGAIN;
	case BT_MESSAGE_ITERATOR_NEXT_STATUS_MEMORY_ERROR:
		return BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_MEMORY_ERROR;
	default:
		return BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_ERROR;
	}
}

/* 1 with messages in hand, 0 at the end. */
static int run_graph(struct babel *babel)
{
	babel->message_count = babel->next = 0;
	switch (bt_graph_run_once(babel->graph)) {
	case BT_GRAPH_RUN_ONCE_STATUS_OK:
	case BT_GRAPH_RUN_ONCE_STATUS_AGAIN:
		return 1;
	case BT_GRAPH_RUN_ONCE_STATUS_END:
		babel->ended = true;
		return 0;
	case BT_GRAPH_RUN_ONCE_STATUS_MEMORY_ERROR:
		babel->ended = true;
		return diag_no_memory(babel->diag);
	default:
		babel->ended = true;
		return complain_library(babel, "the trace is broken");
	}
}

static struct babel_class *class_slot(struct babel_class *places, size_t count, const bt_event_class *class)
{
	size_t at = (size_t)((uintptr_t) class * UINT64_C(0x9e3779b97f4a7c15) >> 32);

	for (;; at++) {
		struct babel_class *place = &places[at & (count - 1)];

		if (!place->class || place->class == class)
			return place;
	}
}

static int make_places(struct babel *babel)
{
	size_t count = babel->place_count ? babel->place_count * 2 : FIRST_PLACES;
	struct babel_class *larger;

	if (2 * (babel->class_count + 1) <= babel->place_count)
		return 0;
	larger = alloc_zero(count, sizeof *larger);
	if (!larger)
		return diag_no_memory(babel->diag);
	for (size_t i = 0; i < babel->place_count; i++) {
		if (babel->classes[i].class)
			*class_slot(larger, count, babel->classes[i].class) = babel->classes[i];
	}
	alloc_free(babel->classes);
	babel->classes = larger;
	babel->place_count = count;
	return 0;
}

/* Several classes may be of one type; the type has one number. */
static int number_type(struct babel *babel, const struct event_type *type, uint32_t *number)
{
	size_t at = 0;

	while (at < babel->type_count && babel->types[at] != type)
		at++;
	if (at == babel->type_count) {
		if (alloc_grow(&babel->types, &babel->type_capacity, at, sizeof(const struct event_type *)))
			return diag_no_memory(babel->diag);
		babel->types[babel->type_count++] = type;
	}
	*number = (uint32_t)at;
	return 0;
}

static bool is_class_wanted(struct babel *babel, const struct babel_class *class)
{
	babel->studied = class;
	return !babel->want.wants || babel->want.wants(babel->want.context, class->type);
}

/* While somebody is asked about a type: what the event of which it was learnt brings along. */
static bool babel_holds(struct event_source *source, const struct event_type *type, uint32_t field)
{
	const struct babel_class *class = ((struct babel *)source)->studied;

	return field == EVENT_NO_FIELD || !class || class->type != type ||
	       babel_class_has(class, type->fields[field].offset);
}

/* What the event is as well, only where somebody wants that. */
static int learn_any(struct babel *babel, struct babel_class *class)
{
	int result = babel_class_init_any(class, babel->map, babel->catalog);

	if (result || !class->any)
		return result ? diag_no_memory(babel->diag) : 0;
	result = number_type(babel, class->any->type, &class->any->number);
	class->any->wanted = !result && is_class_wanted(babel, class->any) && babel->want.names &&
			     babel->want.names(babel->want.context, class->any->type);
	return result;
}

/* What the class is for us. */
static int study_class(struct babel *babel, struct babel_class *class)
{
	int result = babel_class_init(class, babel->map, babel->catalog);

	if (result == -ENOMEM)
		return diag_no_memory(babel->diag);
	if (result)
		return complain_of_babel(babel, result,
					 "an event's type cannot be distinguished from others of its name");
	result = number_type(babel, class->type, &class->number);
	if (result)
		return result;
	class->wanted = is_class_wanted(babel, class);
	result = learn_any(babel, class);
	babel->studied = NULL;
	return result;
}

static int learn_class(struct babel *babel, struct babel_class *place, const bt_event *event)
{
	struct babel_class class = { .class = bt_event_borrow_class_const(event) };
	int result = 0;

	class.is_reported = babel_reported_has(event);
	class.reports = class.is_reported && babel_reported_anything(event);
	if (!class.reports)
		result = study_class(babel, &class);
	if (result) {
		babel_class_fini(&class);
		return result;
	}
	if (class.any)
		class.any->is_reported = class.is_reported;
	bt_event_class_get_ref(class.class); /* its address is its name here */
	*place = class;
	babel->class_count++;
	return 0;
}

static int find_class(struct babel *babel, const bt_event *event, const struct babel_class **class)
{
	int result = make_places(babel);
	struct babel_class *place;

	if (result)
		return result;
	place = class_slot(babel->classes, babel->place_count, bt_event_borrow_class_const(event));
	if (!place->class)
		result = learn_class(babel, place, event);
	*class = place;
	return result;
}

/* What the library adds to a clock's own time to get ns since the epoch; wraps where the trace is nonsense. */
static int64_t clock_offset(const bt_clock_class *class)
{
	uint64_t frequency = bt_clock_class_get_frequency(class), cycles;
	int64_t seconds;

	bt_clock_class_get_offset(class, &seconds, &cycles);
	if (frequency != 1000000000)
		cycles = frequency ? (uint64_t)((double)cycles / (double)frequency * 1e9) : 0;
	return (int64_t)((uint64_t)seconds * 1000000000 + cycles);
}

/* The time of the snapshot, or of the event before where it cannot be told. */
static uint64_t snapshot_time(struct babel *babel, const bt_clock_snapshot *snapshot)
{
	const bt_clock_class *class = bt_clock_snapshot_borrow_clock_class_const(snapshot);
	int64_t ns;

	if (!babel->has_base) {
		babel->base_ns = clock_offset(class);
		babel->source.machine.wall_ns = (uint64_t)babel->base_ns;
		babel->has_base = true;
	}
	if (bt_clock_snapshot_get_ns_from_origin(snapshot, &ns) != BT_CLOCK_SNAPSHOT_GET_NS_FROM_ORIGIN_STATUS_OK) {
		bt_current_thread_clear_error();
		return babel->ts;
	}
	return ns < babel->base_ns ? 0 : (uint64_t)ns - (uint64_t)babel->base_ns;
}

static bool has_clock(const bt_stream *stream)
{
	return bt_stream_class_borrow_default_clock_class_const(bt_stream_borrow_class_const(stream)) != NULL;
}

static int give_babel_event(struct babel *babel, const struct babel_class *class, const bt_event *event,
			    struct event *given)
{
	if (class->wanted) {
		memset(babel->record.bytes, 0, class->type->record_bytes);
		babel_class_decode(class, event, babel->record.bytes);
		babel_who_apply(babel->who, class, event, &babel->record.header);
	}
	if (class->is_reported)
		babel_reported_fill(&babel->reported, event, class->wanted ? class->type : NULL, &babel->record.header);
	babel->record.header.ts = babel->ts;
	babel->record.header.seq = ++babel->seq;
	babel->record.header.type = class->number;
	*given = (struct event){ &babel->record.header, class->type };
	return 1;
}

/* A call that is wanted as itself and as any call is two events; otherwise it is one. */
/* The host of the trace met first, as its clock. */
static void take_trace_host(struct babel *babel, const bt_stream *stream)
{
	const bt_value *host =
		bt_trace_borrow_environment_entry_value_by_name_const(bt_stream_borrow_trace_const(stream), "hostname");

	if (host && bt_value_is_string(host))
		snprintf(babel->source.machine.host, EVENT_HOST_BYTES, "%s", bt_value_string_get(host));
}

static int take_babel_event(struct babel *babel, const bt_message *message, struct event *given)
{
	const bt_event *event = bt_message_event_borrow_event_const(message);
	bool is_first = !babel->has_base;
	const struct babel_class *class;
	int result = find_class(babel, event, &class);

	if (result)
		return result;
	if (class->reports)
		return babel_reported_learn(&babel->reported, event) ? diag_no_memory(babel->diag) : 0;
	if (has_clock(bt_event_borrow_stream_const(event)))
		babel->ts = snapshot_time(babel, bt_message_event_borrow_default_clock_snapshot_const(message));
	if (is_first && babel->has_base)
		take_trace_host(babel, bt_event_borrow_stream_const(event));
	if (class->any && class->any->wanted && !class->wanted)
		return give_babel_event(babel, class->any, event, given);
	if (class->any && class->any->wanted) {
		bt_message_get_ref(message);
		babel->again = message;
	}
	give_babel_event(babel, class, event, given);
	babel_who_learn(babel->who, class, event);
	return 1;
}

static int take_again(struct babel *babel, struct event *given)
{
	const bt_message *message = babel->again;
	const bt_event *event = bt_message_event_borrow_event_const(message);
	const struct babel_class *class;
	int result = find_class(babel, event, &class);

	babel->again = NULL;
	if (!result)
		result = give_babel_event(babel, class->any, event, given);
	bt_message_put_ref(message);
	return result;
}

/* Without a time the loss is taken to have happened before the next event. */
static void lose_babel_events(struct babel *babel, uint64_t count, const bt_clock_snapshot *end)
{
	uint64_t until = end ? snapshot_time(babel, end) : babel->ts;

	babel->source.lost += count ? count : 1;
	if (until > babel->source.lossy_until_ns)
		babel->source.lossy_until_ns = until;
	if (babel->source.lossy_until_ns == 0)
		babel->source.lossy_until_ns = 1;
}

static void take_discarded_events(struct babel *babel, const bt_message *message)
{
	const bt_stream *stream = bt_message_discarded_events_borrow_stream_const(message);
	bool timed =
		bt_stream_class_discarded_events_have_default_clock_snapshots(bt_stream_borrow_class_const(stream));
	uint64_t count = 1;

	if (bt_message_discarded_events_get_count(message, &count) != BT_PROPERTY_AVAILABILITY_AVAILABLE)
		count = 1;
	lose_babel_events(babel, count,
			  timed ? bt_message_discarded_events_borrow_end_default_clock_snapshot_const(message) : NULL);
}

static void take_discarded_packets(struct babel *babel, const bt_message *message)
{
	const bt_stream *stream = bt_message_discarded_packets_borrow_stream_const(message);
	bool timed =
		bt_stream_class_discarded_packets_have_default_clock_snapshots(bt_stream_borrow_class_const(stream));
	uint64_t count = 1;

	if (bt_message_discarded_packets_get_count(message, &count) != BT_PROPERTY_AVAILABILITY_AVAILABLE)
		count = 1;
	lose_babel_events(babel, count,
			  timed ? bt_message_discarded_packets_borrow_end_default_clock_snapshot_const(message) : NULL);
}

/* 1 with an event, 0 with none. */
static int take_message(struct babel *babel, const bt_message *message, struct event *event)
{
	switch (bt_message_get_type(message)) {
	case BT_MESSAGE_TYPE_EVENT:
		return take_babel_event(babel, message, event);
	case BT_MESSAGE_TYPE_DISCARDED_EVENTS:
		take_discarded_events(babel, message);
		return 0;
	case BT_MESSAGE_TYPE_DISCARDED_PACKETS:
		take_discarded_packets(babel, message);
		return 0;
	default:
		return 0;
	}
}

static int babel_next(struct event_source *source, struct event *event)
{
	struct babel *babel = (struct babel *)source;
	int result = 0;

	if (babel->again)
		return take_again(babel, event);
	while (result == 0) {
		if (babel->next == babel->message_count) {
			result = babel->ended ? 0 : run_graph(babel);
			if (result <= 0)
				return result;
			result = 0;
			continue;
		}
		const bt_message *message = babel->messages[babel->next++];

		result = take_message(babel, message, event);
		bt_message_put_ref(message);
	}
	return result;
}

/* The library does not say how far it has come. */
static uint64_t babel_position(const struct event_source *source)
{
	(void)source;
	return 0;
}

static void babel_want(struct event_source *source, const struct event_want *want)
{
	((struct babel *)source)->want = *want;
}

static void babel_free(struct event_source *source)
{
	struct babel *babel = (struct babel *)source;

	release_messages(babel);
	bt_message_put_ref(babel->again);
	for (size_t i = 0; i < babel->place_count; i++) {
		if (!babel->classes[i].class)
			continue;
		babel_class_fini(&babel->classes[i]);
		bt_event_class_put_ref(babel->classes[i].class);
	}
	alloc_free(babel->classes);
	alloc_free(babel->types);
	bt_graph_put_ref(babel->graph);
	babel_who_free(babel->who);
	babel_reported_fini(&babel->reported);
	lttng_map_free(babel->map);
	alloc_free(babel->name);
	alloc_free(babel);
}

static const struct event_source_kind kind = {
	.name = "CTF",
	.next = babel_next,
	.free = babel_free,
	.position = babel_position,
	.want = babel_want,
	.holds = babel_holds,
};

/* The graph while it is made. */
struct making {
	bt_graph *graph;
	const bt_component_class_source *files;
	const bt_component_filter *muxer;
	uint64_t muxer_ports; /* connected so far */
};

static bool add_files(struct making *making, const char *folder, size_t number)
{
	bt_value *params = bt_value_map_create(), *inputs = NULL;
	const bt_component_source *source = NULL;
	char name[32];
	bool fine = params && bt_value_map_insert_empty_array_entry(params, "inputs", &inputs) == 0 &&
		    bt_value_array_append_string_element(inputs, folder) == 0;

	snprintf(name, sizeof name, "trace-%zu", number);
	fine = fine && bt_graph_add_source_component(making->graph, making->files, name, params, BT_LOGGING_LEVEL_NONE,
						     &source) == 0;
	uint64_t count = fine ? bt_component_source_get_output_port_count(source) : 0;
	for (uint64_t i = 0; i < count && fine; i++) {
		/* The muxer has a free port after its last connected one, always. */
		const bt_port_output *from = bt_component_source_borrow_output_port_by_index_const(source, i);
		const bt_port_input *to =
			bt_component_filter_borrow_input_port_by_index_const(making->muxer, making->muxer_ports++);

		fine = bt_graph_connect_ports(making->graph, from, to, NULL) == 0;
	}
	bt_value_put_ref(params);
	return fine;
}

static bool add_sink(struct making *making, struct babel *babel)
{
	const bt_component_sink *sink;

	return bt_graph_add_simple_sink_component(making->graph, "asterism", NULL, consume, NULL, babel, &sink) == 0 &&
	       bt_graph_connect_ports(making->graph,
				      bt_component_filter_borrow_output_port_by_index_const(making->muxer, 0),
				      bt_component_sink_borrow_input_port_by_index_const(sink, 0), NULL) == 0;
}

static const bt_plugin *find_plugin(const char *name)
{
	const bt_plugin *plugin = NULL;

	return bt_plugin_find(name, BT_TRUE, BT_TRUE, BT_TRUE, BT_TRUE, BT_FALSE, &plugin) == 0 ? plugin : NULL;
}

static int make_graph(struct babel *babel, const struct babel_request *request)
{
	const bt_plugin *ctf = find_plugin("ctf"), *utils = find_plugin("utils");
	const bt_component_class_filter *muxer =
		utils ? bt_plugin_borrow_filter_component_class_by_name_const(utils, "muxer") : NULL;
	struct making making = {
		.graph = babel->graph,
		.files = ctf ? bt_plugin_borrow_source_component_class_by_name_const(ctf, "fs") : NULL,
	};
	int result = 0;

	if (!making.files || !muxer)
		result = complain_of_babel(babel, -EOPNOTSUPP,
					   "cannot find the plug-ins of libbabeltrace2 (ctf, utils)");
	else if (bt_graph_add_filter_component(babel->graph, muxer, "muxer", NULL, BT_LOGGING_LEVEL_NONE,
					       &making.muxer) != 0)
		result = complain_library(babel, "cannot merge its streams");
	for (size_t i = 0; i < request->folder_count && !result; i++) {
		if (!add_files(&making, request->folders[i], i))
			result = complain_library(babel, "cannot open the trace");
	}
	/* A trace may have no streams at all. */
	if (!result && making.muxer_ports == 0)
		babel->ended = true;
	else if (!result && !add_sink(&making, babel))
		result = complain_library(babel, "cannot read the trace");
	bt_plugin_put_ref(ctf);
	bt_plugin_put_ref(utils);
	return result;
}

__attribute__((visibility("default"))) int trace_babel_module_open(const struct babel_request *request,
								   struct event_source **made)
{
	struct babel *babel = alloc_zero(1, sizeof *babel);
	int result = 0;

	if (!babel)
		return diag_no_memory(request->diag);
	babel->source.kind = &kind;
	babel->name = alloc_text(request->name);
	babel->catalog = request->catalog;
	babel->diag = request->diag;
	babel->graph = bt_graph_create(0);
	babel->who = babel_who_new();
	if (!babel->name || !babel->graph || !babel->who)
		result = diag_no_memory(request->diag);
	if (!result)
		result = make_graph(babel, request);
	if (result) {
		babel_free(&babel->source);
		return result;
	}
	babel->map = request->map;
	*made = &babel->source;
	return 0;
}
