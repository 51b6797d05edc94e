// SPDX-License-Identifier: BSD-2-Clause
/* Reads lines of JSON: each is an event, nothing, or a message that says what is wrong with it. */

#include "trace/jsonl/jsonl-priv.h"

#include "base/alloc.h"
#include "base/frame.h"
#include "base/text.h"
#include "trace/jsonl/declare.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { DECLARED_MAX = 65536 };

struct jsonl {
	struct event_source source; /* first */
	struct event_catalog *catalog;
	struct asterism_diag *diag;
	const char *name;
	struct jsonl_lines lines;
	struct jsonl_line line;
	struct jsonl_types types;
	struct json_members members;
	struct jsonl_complaint complaint;
	bool owns_fd, relaxed;
	bool has_end, is_to_end; /* the last that came was an end mark; one has to be */
	int failure;             /* -errno: reading a stream broke off */
	struct trace_jsonl_form form;
	struct jsonl_left_out left_out;
	char *framed;        /* what a frame held; NULL: lines are not framed */
	uint64_t next_frame; /* 0: none has come */
	uint64_t garbage;    /* lines that were no frame */
	uint32_t declared;
	uint64_t seq, ts;
	union {
		struct event_header header;
		char bytes[EVENT_RECORD_BYTES_MAX];
	} record;
};

/* Adds the message about the piece of the current line and returns code. */
static int report_at_piece(struct jsonl *jsonl, const struct json_piece *at, int code, const char *text,
			   const char *hint)
{
	size_t column = at->text ? (size_t)(at->text - jsonl->line.text) : 0;
	struct diag_source source = {
		.file = jsonl->name,
		.text = jsonl->line.text,
		.length = jsonl->line.length,
		.text_offset = jsonl->line.offset,
	};
	struct diag_location location = {
		.source = &source,
		.offset = jsonl->line.offset + column,
		.line = jsonl->lines.number < UINT32_MAX ? (uint32_t)jsonl->lines.number : UINT32_MAX,
		.column = (uint32_t)column + 1,
		.length = at->length,
	};

	diag_add(jsonl->diag, ASTERISM_ERROR, &location, hint, "%s", text);
	return code;
}

static int complain_of_json(struct jsonl *jsonl)
{
	struct jsonl_complaint *complaint = &jsonl->complaint;

	return report_at_piece(jsonl, &complaint->at, -EINVAL, complaint->text,
			       *complaint->hint ? complaint->hint : NULL);
}

/* The member called name, or SIZE_MAX. */
static size_t find_json_member(const struct jsonl *jsonl, const char *name)
{
	for (size_t i = 0; i < jsonl->members.count; i++) {
		const struct json_piece *key = &jsonl->members.items[i].key;

		if (key->length == strlen(name) && memcmp(key->text, name, key->length) == 0)
			return i;
	}
	return SIZE_MAX;
}

/* The member that names the event's type. */
static int find_event_member(struct jsonl *jsonl, size_t *found)
{
	*found = find_json_member(jsonl, "event");
	if (*found == SIZE_MAX)
		return report_at_piece(jsonl, &(struct json_piece){ .text = jsonl->line.text, .length = 1 }, -EINVAL,
				       "the object does not say which event it is",
				       "\"event\":\"NAME\" names its type");
	if (jsonl->members.items[*found].kind != JSON_STRING)
		return report_at_piece(jsonl, &jsonl->members.items[*found].value, -EINVAL,
				       "the event's name is not a string", NULL);
	return 0;
}

/* The member that says when a late event came, unless the type has a field of its name. */
static size_t find_completed(const struct jsonl *jsonl, const struct event_type *type)
{
	size_t found = find_json_member(jsonl, "completed");

	return found != SIZE_MAX && event_field_find(type, "completed") ? SIZE_MAX : found;
}

static int complain_type(struct jsonl *jsonl, const struct json_piece *name)
{
	struct jsonl_complaint *complaint = &jsonl->complaint;
	char text[128];
	const char *nearest;

	if (json_read_string(name, text, sizeof text) < 0)
		*text = 0;
	nearest = event_catalog_nearest(jsonl->catalog, text);
	complaint->at = *name;
	snprintf(complaint->text, sizeof complaint->text, "unknown event type '%s'", text);
	snprintf(complaint->hint, sizeof complaint->hint, nearest ? "did you mean '%s'?" : "%s",
		 nearest ? nearest : "");
	return complain_of_json(jsonl);
}

static int leave_event_out(struct jsonl *jsonl, const struct json_piece *name)
{
	struct jsonl_left_out *left_out = &jsonl->left_out;

	if (!left_out->events++ && json_read_string(name, left_out->event, sizeof left_out->event) < 0)
		*left_out->event = 0;
	return 0;
}

/* A late event comes when it says, not before its own time. */
static int check_time(struct jsonl *jsonl, const struct jsonl_locations *places, uint64_t *completed_ns)
{
	struct jsonl_complaint *complaint = &jsonl->complaint;
	bool is_late = places->completed != SIZE_MAX;
	const char *name = places->time_field ? places->time_field : "ts";
	size_t given = is_late ? places->completed : find_json_member(jsonl, name);
	const struct json_member *member = &jsonl->members.items[given == SIZE_MAX ? 0 : given];
	uint64_t ts = jsonl->record.header.ts;

	complaint->at = given == SIZE_MAX ? member->key : member->value;
	*complaint->hint = 0;
	*completed_ns = 0;
	if (is_late && (!jsonl_read_time(member, completed_ns) || *completed_ns < ts)) {
		snprintf(complaint->text, sizeof complaint->text,
			 "'completed' is when a late event arrived: it must not be before ts");
		return complain_of_json(jsonl);
	}
	if (is_late)
		ts = *completed_ns;
	if (ts >= jsonl->ts) {
		jsonl->ts = ts;
		return 0;
	}
	snprintf(complaint->text, sizeof complaint->text, "time goes back: %s %" PRIu64 " after an event at %" PRIu64,
		 is_late ? "completed" : name, ts, jsonl->ts);
	return complain_of_json(jsonl);
}

static int make_event(struct jsonl *jsonl, struct event *event)
{
	struct jsonl_locations places;
	struct jsonl_type type;
	uint64_t completed_ns;
	int result = find_event_member(jsonl, &places.event);

	if (result)
		return result;
	const struct json_piece *name = &jsonl->members.items[places.event].value;
	result = jsonl_types_find(&jsonl->types, jsonl->catalog, name, &type);
	if (result == 0 && jsonl->framed) { /* the frame that said what it is was lost; it will be said again */
		jsonl->source.lost++;
		return 0;
	}
	if (result == 0 && jsonl->form.is_lenient)
		return leave_event_out(jsonl, name);
	if (result == 0)
		return complain_type(jsonl, name);
	if (result < 0)
		return diag_no_memory(jsonl->diag);
	*jsonl->complaint.hint = 0;
	places.completed = find_completed(jsonl, type.type);
	places.time_field = jsonl->form.time_field;
	places.left_out = jsonl->form.is_lenient ? &jsonl->left_out : NULL;
	result = jsonl_fill(type.type, &jsonl->members, &places, jsonl->record.bytes, &jsonl->complaint);
	if (result < 0 || (result > 0 && !jsonl->relaxed))
		return complain_of_json(jsonl);
	result = check_time(jsonl, &places, &completed_ns);
	if (result)
		return result;
	jsonl->record.header.seq = ++jsonl->seq;
	jsonl->record.header.type = type.index;
	*event = (struct event){ &jsonl->record.header, type.type, (uint32_t)jsonl->line.length + 1, completed_ns };
	return 1;
}

/* A stream says what its events are, how many it has lost, or that it is whole. 1: it was that; 0: it is an event. */
static int read_other(struct jsonl *jsonl)
{
	const struct json_member *first = jsonl->members.items;
	uint64_t lost;
	int result;

	if (find_json_member(jsonl, "event") != SIZE_MAX)
		return 0;
	if (find_json_member(jsonl, "lost") == 0 && jsonl_read_time(first, &lost)) {
		jsonl->source.lost += lost;
		return 1;
	}
	if (find_json_member(jsonl, "end") == 0) {
		jsonl->has_end = true;
		return 1;
	}
	if (find_json_member(jsonl, "declare") != 0)
		return 0;
	result = jsonl->declared++ < DECLARED_MAX ? jsonl_declare(jsonl->catalog, &jsonl->members) : -E2BIG;
	if (result == -ENOMEM)
		return diag_no_memory(jsonl->diag);
	if (!result)
		return 1;
	return report_at_piece(jsonl, &first->value, -EINVAL,
			       result == -EEXIST  ? "a catalog declares these events with different fields"
			       : result == -E2BIG ? "too many declarations or fields"
						  : "this declares no event: {\"declare\":\"NAME\",\"FIELD\":\"TYPE\"}",
			       NULL);
}

/* Puts what a frame held in the place of the line. False: it is none, and counted; what follows may be one. */
static bool unframe(struct jsonl *jsonl)
{
	uint64_t number;
	int64_t length =
		jsonl->line.length ? frame_read(jsonl->line.text, jsonl->line.length, &number, jsonl->framed) : -1;

	if (length < 0) {
		jsonl->garbage += jsonl->line.length > 1;
		return false;
	}
	if (jsonl->next_frame && number > jsonl->next_frame)
		jsonl->source.lost += number - jsonl->next_frame;
	jsonl->next_frame = number + 1;
	jsonl->line.text = jsonl->framed;
	jsonl->line.length = (size_t)length;
	return true;
}

/* 1 with an event, 0 for an empty line. */
static int read_event_line(struct jsonl *jsonl, struct event *event)
{
	struct json_error error;
	int result;

	if (jsonl->framed && !unframe(jsonl))
		return 0;
	if (jsonl->relaxed && jsonl->line.length && jsonl->line.text[0] == '#')
		return 0;
	result = json_read_object(jsonl->line.text, jsonl->line.length, &jsonl->members, &error);

	if (result == -ENOMEM)
		return diag_no_memory(jsonl->diag);
	if (result == -EINVAL && jsonl->is_to_end && jsonl->line.is_open)
		return 0;
	if (result == -EINVAL) {
		char text[160];

		snprintf(text, sizeof text, "not JSON: %s", error.text);
		return report_at_piece(jsonl, &(struct json_piece){ .text = error.at, .length = 1 }, result, text,
				       NULL);
	}
	if (!result)
		return 0;
	jsonl->has_end = false;
	result = jsonl->members.count ? read_other(jsonl) : 0;
	return result ? (result < 0 ? result : 0) : make_event(jsonl, event);
}

static void tell_left_out(struct jsonl *jsonl)
{
	const struct jsonl_left_out *left_out = &jsonl->left_out;
	struct text_buffer text;
	char shown[400];

	if (!left_out->fields && !left_out->events)
		return;
	text_init_fixed(&text, shown, sizeof shown);
	if (left_out->fields)
		text_printf(&text, "%" PRIu64 " field%s that no type has, such as '%s'", left_out->fields,
			    left_out->fields == 1 ? "" : "s", left_out->field);
	if (left_out->events)
		text_printf(&text, "%s%" PRIu64 " event%s of unknown types, such as '%s'",
			    left_out->fields ? ", and " : "", left_out->events, left_out->events == 1 ? "" : "s",
			    left_out->event);
	diag_add(jsonl->diag, ASTERISM_WARNING, NULL,
		 "EVENT name { field: type } in a rule, or --catalog, declares them", "%s: left out %s", jsonl->name,
		 shown);
	jsonl->left_out = (struct jsonl_left_out){ 0 };
}

/* A stream without an end mark: how much is missing no one knows. */
static void tell_cut(struct jsonl *jsonl)
{
	if (!jsonl->is_to_end || jsonl->has_end)
		return;
	jsonl->has_end = true;
	jsonl->source.lost++;
	diag_add(jsonl->diag, ASTERISM_WARNING, NULL, NULL,
		 "%s broke off after %" PRIu64 " event%s, without its end mark%s%s: the rest is lost; find out what "
		 "ended the sender or the connection, and send it again",
		 jsonl->name, jsonl->seq, jsonl->seq == 1 ? "" : "s", jsonl->failure ? ": " : "",
		 jsonl->failure ? strerror(-jsonl->failure) : "");
	if (jsonl->form.on_cut)
		jsonl->form.on_cut(jsonl->form.context, jsonl->name, jsonl->seq);
}

/* What was no frame, what was left out, and that the end is missing, is told once. */
static int end_jsonl(struct jsonl *jsonl)
{
	tell_left_out(jsonl);
	if (jsonl->garbage)
		diag_add(jsonl->diag, ASTERISM_WARNING, NULL, "frames that were lost with them count as lost events",
			 "%" PRIu64 " line%s of %s %s no frame%s, or damaged in transit", jsonl->garbage,
			 jsonl->garbage == 1 ? "" : "s", jsonl->name, jsonl->garbage == 1 ? "was" : "were",
			 jsonl->garbage == 1 ? "" : "s");
	jsonl->garbage = 0;
	tell_cut(jsonl);
	return 0;
}

static int complain_line(struct jsonl *jsonl, int result)
{
	char text[160];

	if (result == -EINTR)
		return result;
	if (result == -ENOMEM)
		return diag_no_memory(jsonl->diag);
	if (result == -E2BIG) {
		jsonl->line.text = NULL; /* too long to be shown */
		return report_at_piece(jsonl, &(struct json_piece){ 0 }, -EINVAL, "the line is longer than 1 MiB",
				       NULL);
	}
	if (jsonl->is_to_end) {
		jsonl->failure = result;
		return end_jsonl(jsonl);
	}
	jsonl->line = (struct jsonl_line){ .offset = jsonl->lines.offset };
	snprintf(text, sizeof text, "reading stopped: %s", strerror(-result));
	return report_at_piece(jsonl, &(struct json_piece){ 0 }, result, text, NULL);
}

static int jsonl_next(struct event_source *source, struct event *event)
{
	struct jsonl *jsonl = (struct jsonl *)source;
	int result;

	do {
		result = jsonl_lines_next(&jsonl->lines, &jsonl->line);
		if (result == 0)
			return end_jsonl(jsonl);
		if (result < 0)
			return complain_line(jsonl, result);
		result = read_event_line(jsonl, event);
	} while (result == 0);
	return result;
}

static uint64_t jsonl_position(const struct event_source *source)
{
	return ((const struct jsonl *)source)->lines.offset;
}

static void jsonl_free(struct event_source *source)
{
	struct jsonl *jsonl = (struct jsonl *)source;

	if (jsonl->owns_fd)
		close(jsonl->lines.fd);
	jsonl_lines_fini(&jsonl->lines);
	jsonl_types_fini(&jsonl->types);
	alloc_free(jsonl->members.items);
	alloc_free(jsonl->framed);
	alloc_free(jsonl);
}

static const struct event_source_kind kind = {
	.name = "JSON lines",
	.next = jsonl_next,
	.free = jsonl_free,
	.position = jsonl_position,
};

void trace_jsonl_relax(struct event_source *source)
{
	if (source->kind == &kind)
		((struct jsonl *)source)->relaxed = true;
}

void trace_jsonl_read_as(struct event_source *source, const struct trace_jsonl_form *form)
{
	struct jsonl *jsonl = (struct jsonl *)source;

	if (source->kind != &kind)
		return;
	jsonl->form = *form;
	jsonl->relaxed |= form->is_lenient;
}

int trace_jsonl_unframe(struct event_source *source)
{
	struct jsonl *jsonl = (struct jsonl *)source;

	jsonl->framed = alloc_resize(NULL, TRACE_JSONL_LINE_BYTES_MAX, 1);
	return jsonl->framed ? 0 : -ENOMEM;
}

void trace_jsonl_expect_end(struct event_source *source)
{
	((struct jsonl *)source)->is_to_end = true;
}

void trace_jsonl_own(struct event_source *source)
{
	((struct jsonl *)source)->owns_fd = true;
}

int trace_jsonl_new(int fd, const char *name, struct event_catalog *catalog, struct asterism_diag *diag,
		    struct event_source **made)
{
	struct jsonl *jsonl = alloc_zero(1, sizeof *jsonl);

	if (!jsonl)
		return diag_no_memory(diag);
	jsonl->source.kind = &kind;
	jsonl->catalog = catalog;
	jsonl->diag = diag;
	jsonl->name = name;
	if (jsonl_lines_init(&jsonl->lines, fd)) {
		jsonl_free(&jsonl->source);
		return diag_no_memory(diag);
	}
	*made = &jsonl->source;
	return 0;
}
