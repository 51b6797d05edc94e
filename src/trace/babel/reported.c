// SPDX-License-Identifier: BSD-2-Clause
/* Finds who raised an event where the trace says it by events. */

#include "trace/babel/reported.h"

#include "base/alloc.h"
#include "trace/ctf/layout.h"

#include <errno.h>
#include <string.h>

enum { TID, PID, COMM, MEMBERS };
enum { ENTERED, UNREAD, LATE_MEMBERS };

void babel_reported_fini(struct babel_reported *reported)
{
	for (size_t i = 0; i < reported->count; i++)
		bt_stream_put_ref(reported->streams[i].stream);
	alloc_free(reported->streams);
}

bool babel_reported_has(const bt_event *event)
{
	const bt_trace *trace = bt_stream_borrow_trace_const(bt_event_borrow_stream_const(event));

	return bt_trace_borrow_environment_entry_value_by_name_const(trace, CTF_ENV_RECORDER) != NULL;
}

static bool is_late(const bt_event_class *class)
{
	const bt_field_class *payload = bt_event_class_borrow_payload_field_class_const(class);

	if (bt_event_class_get_id(class) != EVENT_PACKED_ID_LATE || !payload ||
	    bt_field_class_structure_get_member_count(payload) != LATE_MEMBERS)
		return false;
	return bt_field_class_type_is(bt_field_class_get_type(bt_field_class_structure_member_borrow_field_class_const(
					      bt_field_class_structure_borrow_member_by_index_const(payload, UNREAD))),
				      BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER);
}

bool babel_reported_anything(const bt_event *event)
{
	const bt_event_class *class = bt_event_borrow_class_const(event);
	const bt_field_class *payload = bt_event_class_borrow_payload_field_class_const(class);
	const char *name = bt_event_class_get_name(class);
	static const bt_field_class_type kinds[MEMBERS] = {
		[TID] = BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER,
		[PID] = BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER,
		[COMM] = BT_FIELD_CLASS_TYPE_STRING,
	};

	if (is_late(class))
		return true;
	if (!name || strcmp(name, "context") != 0 || bt_event_class_get_id(class) != EVENT_PACKED_ID_CONTEXT ||
	    !payload || bt_field_class_structure_get_member_count(payload) != MEMBERS)
		return false;
	for (uint64_t i = 0; i < MEMBERS; i++) {
		const bt_field_class *member = bt_field_class_structure_member_borrow_field_class_const(
			bt_field_class_structure_borrow_member_by_index_const(payload, i));

		if (!bt_field_class_type_is(bt_field_class_get_type(member), kinds[i]))
			return false;
	}
	return true;
}

/* The row of the event's stream, or NULL. */
static struct babel_reported_stream *find_reported_stream(struct babel_reported *reported, const bt_event *event)
{
	const bt_stream *stream = bt_event_borrow_stream_const(event);

	/* Where one event comes from, so mostly does the next. */
	for (size_t i = 0; i < reported->count; i++, reported->last++) {
		if (reported->last >= reported->count)
			reported->last = 0;
		if (reported->streams[reported->last].stream == stream)
			return &reported->streams[reported->last];
	}
	return NULL;
}

int babel_reported_learn(struct babel_reported *reported, const bt_event *event)
{
	const bt_field *payload = bt_event_borrow_payload_field_const(event);
	struct babel_reported_stream *row = find_reported_stream(reported, event);

	if (!row) {
		if (alloc_grow(&reported->streams, &reported->capacity, reported->count, sizeof *reported->streams))
			return -ENOMEM;
		row = &reported->streams[reported->count++];
		row->stream = bt_event_borrow_stream_const(event);
		bt_stream_get_ref(row->stream);
	}
	if (is_late(bt_event_borrow_class_const(event))) {
		row->unread = bt_field_integer_unsigned_get_value(
			bt_field_structure_borrow_member_field_by_index_const(payload, UNREAD));
		return 0;
	}
	const bt_field *comm = bt_field_structure_borrow_member_field_by_index_const(payload, COMM);

	row->context = (struct event_packed_context){
		.tid = (uint32_t)bt_field_integer_unsigned_get_value(
			bt_field_structure_borrow_member_field_by_index_const(payload, TID)),
		.pid = (uint32_t)bt_field_integer_unsigned_get_value(
			bt_field_structure_borrow_member_field_by_index_const(payload, PID)),
	};
	strncpy(row->context.comm, bt_field_string_get_value(comm), sizeof row->context.comm - 1);
	return 0;
}

void babel_reported_fill(struct babel_reported *reported, const bt_event *event, const struct event_type *type,
			 struct event_header *record)
{
	struct babel_reported_stream *row = find_reported_stream(reported, event);

	for (uint32_t i = 0; row && row->unread && type && i < type->field_count; i++)
		if (type->fields[i].value == EVENT_STRING)
			event_string_set_unread(record, type->fields[i].offset, type->fields[i].bytes);
	if (row)
		row->unread = false;
	if (!row || !type)
		return;
	record->tid = row->context.tid;
	record->pid = row->context.pid;
	memcpy(record->comm, row->context.comm, sizeof record->comm);
}
