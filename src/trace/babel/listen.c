// SPDX-License-Identifier: BSD-2-Clause
/*
 * Reads what the reading process says, without trusting it. It may have been led astray by the trace, so its words are
 * input like any other: every length is checked, and when it ends without having said so, the trace is told to be
 * damaged.
 */

#include "trace/babel/listen.h"

#include "base/alloc.h"
#include "base/text.h"
#include "trace/babel/wire.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { IN_BYTES = 1 << 18 };

struct listener {
	struct event_source source; /* first */
	char *name;
	struct event_catalog *catalog;
	struct asterism_diag *diag;
	int fd;
	pid_t pid;
	char *in;
	size_t start, end;
	struct event_want want;
	const struct event_type **types; /* by number */
	bool *wanted;
	size_t type_count, type_capacity, wanted_capacity;
	int ended; /* 1, or the failure that ended it */
	bool opened;
};

static int complain_of_event(struct listener *listener, int code, const char *text)
{
	struct diag_source source = { .file = listener->name };

	return diag_error(listener->diag, &(struct diag_location){ .source = &source }, code, "%s", text);
}

static int complain_end(struct listener *listener)
{
	return complain_of_event(listener, -EINVAL, "the trace is damaged: libbabeltrace2 cannot read further");
}

/* Makes sure that bytes are in hand. Returns 1, 0 at the end, -errno. */
static int fetch_bytes(struct listener *listener, size_t bytes)
{
	while (listener->end - listener->start < bytes) {
		if (listener->start + bytes > IN_BYTES) {
			memmove(listener->in, listener->in + listener->start, listener->end - listener->start);
			listener->end -= listener->start;
			listener->start = 0;
		}
		ssize_t got = recv(listener->fd, listener->in + listener->end, IN_BYTES - listener->end, 0);
		if (got < 0)
			return errno == ECONNRESET ? 0 : -errno;
		if (got == 0)
			return 0;
		listener->end += (size_t)got;
	}
	return 1;
}

/* The name at *at, which moves behind it, or NULL. */
static const char *take_wire_name(const char **at, const char *end)
{
	const char *name = *at, *nul = memchr(name, 0, (size_t)(end - name));

	if (!nul || nul == name || (size_t)(nul - name) >= WIRE_NAME_BYTES)
		return NULL;
	*at = nul + 1;
	return name;
}

static bool is_same_spec(const struct event_type *type, const struct event_type_spec *spec)
{
	bool same = type->field_count == spec->field_count;

	for (uint32_t i = 0; same && i < spec->field_count; i++)
		same = strcmp(type->fields[i].name, spec->fields[i].name) == 0 &&
		       type->fields[i].value == spec->fields[i].value && type->fields[i].bytes == spec->fields[i].bytes;
	return same;
}

/* The type as this process has it: one of the catalog, or a new one. */
static int resolve_spec(struct listener *listener, const struct event_type_spec *spec, uint32_t record_bytes,
			const struct event_type **type)
{
	int result = 0;

	*type = event_catalog_find(listener->catalog, spec->name);
	if (!*type)
		result = event_catalog_add(listener->catalog, spec, type);
	if (result == -ENOMEM)
		return diag_no_memory(listener->diag);
	return !result && is_same_spec(*type, spec) && (*type)->record_bytes == record_bytes ? 0
											     : complain_end(listener);
}

/* Tells which fields that somebody looks at the trace does not have. */
static int tell_absent_fields(struct listener *listener, const struct event_type *type, const bool *is_absent)
{
	const struct event_want *want = &listener->want;
	struct diag_source source = { .file = listener->name };
	struct text_buffer names = { 0 };
	char *text = NULL;

	for (uint32_t i = 0; i < type->field_count; i++) {
		if (is_absent[i] && (!want->wants_field || want->wants_field(want->context, type, i)))
			text_printf(&names, " %s", type->fields[i].name);
	}
	if (text_take(&names, &text))
		return diag_no_memory(listener->diag);
	if (*text)
		diag_add(listener->diag, ASTERISM_WARNING, &(struct diag_location){ .source = &source }, NULL,
			 "events of %s have no%s in this trace: the fields are 0 or empty", type->name, text);
	alloc_free(text);
	return 0;
}

static int read_sent_type(struct listener *listener, const char *body, size_t bytes, const struct event_type **type,
			  bool *is_absent)
{
	struct wire_type head;
	struct event_field_spec fields[EVENT_FIELDS_MAX];
	struct event_type_spec spec = { .fields = fields, .origin = EVENT_DECLARED };
	const char *end = body + bytes, *at;

	if (bytes < sizeof head)
		return complain_end(listener);
	memcpy(&head, body, sizeof head);
	if (head.field_count > EVENT_FIELDS_MAX || bytes < sizeof head + head.field_count * sizeof(struct wire_field))
		return complain_end(listener);
	at = body + sizeof head + head.field_count * sizeof(struct wire_field);
	spec.name = take_wire_name(&at, end);
	spec.field_count = head.field_count;
	for (uint32_t i = 0; i < head.field_count && spec.name; i++) {
		struct wire_field field;

		memcpy(&field, body + sizeof head + i * sizeof field, sizeof field);
		fields[i] = (struct event_field_spec){ .name = take_wire_name(&at, end), .value = field.value };
		fields[i].bytes = field.bytes;
		is_absent[i] = field.is_absent;
		if (!fields[i].name || field.value < EVENT_U8 || field.value > EVENT_STRING ||
		    field.bytes > EVENT_RECORD_BYTES_MAX)
			return complain_end(listener);
	}
	return spec.name ? resolve_spec(listener, &spec, head.record_bytes, type) : complain_end(listener);
}

static int take_sent_type(struct listener *listener, const char *body, size_t bytes)
{
	const struct event_type *type;
	bool is_absent[EVENT_FIELDS_MAX] = { false };
	int result = read_sent_type(listener, body, bytes, &type, is_absent);
	size_t count = listener->type_count;
	char answer;

	if (result)
		return result;
	if (alloc_grow(&listener->types, &listener->type_capacity, count, sizeof(const struct event_type *)) ||
	    alloc_grow(&listener->wanted, &listener->wanted_capacity, count, sizeof *listener->wanted))
		return diag_no_memory(listener->diag);
	listener->types[count] = type;
	listener->wanted[count] = !listener->want.wants || listener->want.wants(listener->want.context, type);
	listener->type_count++;
	answer = listener->wanted[count] ? WIRE_WANTED : 0;
	if (listener->wanted[count] && tell_absent_fields(listener, type, is_absent))
		return -ENOMEM;
	if (listener->want.names && listener->want.names(listener->want.context, type))
		answer |= WIRE_NAMED;
	/* When it has gone, the next read says so. One byte always has room. */
	if (send(listener->fd, &answer, 1, MSG_NOSIGNAL) < 0)
		return 0;
	return 0;
}

static int take_sent_event(struct listener *listener, char *body, size_t bytes, struct event *event)
{
	struct event_header *header = (struct event_header *)body;

	if (bytes < sizeof *header || header->type >= listener->type_count ||
	    bytes < (listener->wanted[header->type] ? listener->types[header->type]->record_bytes : sizeof *header))
		return complain_end(listener);
	*event = (struct event){ header, listener->types[header->type] };
	return 1;
}

static int take_failure(struct listener *listener, const char *body, size_t bytes)
{
	struct wire_failure failure;

	if (bytes < sizeof failure)
		return complain_end(listener);
	memcpy(&failure, body, sizeof failure);
	failure.text[sizeof failure.text - 1] = 0;
	return complain_of_event(listener, failure.code < 0 ? failure.code : -EINVAL, failure.text);
}

static int take_sent_state(struct listener *listener, const char *body, size_t bytes)
{
	struct wire_state state;

	if (bytes < sizeof state)
		return complain_end(listener);
	memcpy(&state, body, sizeof state);
	listener->source.lost = state.lost;
	listener->source.lossy_until_ns = state.until_ns;
	listener->source.machine.wall_ns = state.wall_ns;
	snprintf(listener->source.machine.host, EVENT_HOST_BYTES, "%.*s", EVENT_HOST_BYTES - 1, state.host);
	return 0;
}

/* 1 with an event; 0: something else was said, see ended; negative: failed. */
static int take_message(struct listener *listener, const struct wire_head *head, char *body, struct event *event)
{
	switch (head->kind) {
	case WIRE_OPENED:
		listener->opened = true;
		return 0;
	case WIRE_TYPE:
		return take_sent_type(listener, body, head->bytes);
	case WIRE_EVENT:
		return take_sent_event(listener, body, head->bytes, event);
	case WIRE_STATE:
		return take_sent_state(listener, body, head->bytes);
	case WIRE_FAILED:
		return take_failure(listener, body, head->bytes);
	case WIRE_END:
		listener->ended = 1;
		return 0;
	default:
		return complain_end(listener);
	}
}

/* The next message: results as take_message. After a failure there is no more. */
static int listen_once(struct listener *listener, struct event *event)
{
	struct wire_head head;
	int result = fetch_bytes(listener, sizeof head);

	if (result > 0) {
		memcpy(&head, listener->in + listener->start, sizeof head);
		if (head.bytes % 8 || head.bytes > WIRE_BYTES_MAX)
			result = complain_end(listener);
		else
			result = fetch_bytes(listener, sizeof head + head.bytes);
	}
	if (result == -EINTR)
		return result;
	if (result == 0)
		result = complain_end(listener);
	if (result > 0) {
		char *body = listener->in + listener->start + sizeof head;

		listener->start += sizeof head + head.bytes;
		result = take_message(listener, &head, body, event);
	}
	if (result < 0)
		listener->ended = result;
	return result;
}

static int listener_next(struct event_source *source, struct event *event)
{
	struct listener *listener = (struct listener *)source;
	int result = 0;

	while (result == 0 && !listener->ended)
		result = listen_once(listener, event);
	return result;
}

/* The library does not say how far it has come. */
static uint64_t listener_position(const struct event_source *source)
{
	(void)source;
	return 0;
}

static void listener_want(struct event_source *source, const struct event_want *want)
{
	((struct listener *)source)->want = *want;
}

static void listener_free(struct event_source *source)
{
	struct listener *listener = (struct listener *)source;

	close(listener->fd);
	kill(listener->pid, SIGKILL);
	while (waitpid(listener->pid, NULL, 0) < 0 && errno == EINTR) {
	}
	alloc_free(listener->in);
	alloc_free(listener->types);
	alloc_free(listener->wanted);
	alloc_free(listener->name);
	alloc_free(listener);
}

static const struct event_source_kind kind = {
	.name = "CTF",
	.next = listener_next,
	.free = listener_free,
	.position = listener_position,
	.want = listener_want,
};

static void end_process(const struct babel_listen_options *options)
{
	close(options->fd);
	kill(options->pid, SIGKILL);
	while (waitpid(options->pid, NULL, 0) < 0 && errno == EINTR) {
	}
}

int babel_listen(const struct babel_listen_options *options, struct event_source **made)
{
	struct listener *listener = alloc_zero(1, sizeof *listener);
	struct event event;
	int result = 0;

	if (!listener) {
		end_process(options);
		return diag_no_memory(options->diag);
	}
	listener->source.kind = &kind;
	listener->fd = options->fd;
	listener->pid = options->pid;
	listener->catalog = options->catalog;
	listener->diag = options->diag;
	listener->name = alloc_text(options->name);
	listener->in = alloc_zero(IN_BYTES, 1);
	if (!listener->name || !listener->in)
		result = diag_no_memory(options->diag);
	while (!listener->opened && (!result || result == -EINTR))
		result = listen_once(listener, &event);
	if (result > 0 || (!result && listener->ended))
		result = complain_end(listener); /* it has to say that first */
	if (result)
		listener_free(&listener->source);
	else
		*made = &listener->source;
	return result;
}
