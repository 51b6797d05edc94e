// SPDX-License-Identifier: BSD-2-Clause
/*
 * The reading process: writes what it reads to the other process. It ends when there is nothing more to say, or when
 * its words go nowhere: then the other process has gone, or wants no more.
 */

#include "trace/babel/babel-priv.h"
#include "trace/babel/wire.h"

#include "base/alloc.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

enum { OUT_BYTES = 1 << 17 };

struct server {
	int fd;
	struct event_source *source;
	char *out;
	size_t used;
	char *answers; /* per type number */
	const struct event_type **types;
	size_t type_count, answer_capacity, type_capacity;
	struct wire_state state; /* as told */
	bool gone;               /* there is no listener */
};

static void flush_server(struct server *server)
{
	size_t done = 0;

	while (done < server->used && !server->gone) {
		ssize_t sent = send(server->fd, server->out + done, server->used - done, MSG_NOSIGNAL);

		if (sent < 0 && errno != EINTR)
			server->gone = true;
		done += sent > 0 ? (size_t)sent : 0;
	}
	server->used = 0;
}

/* bytes is at most WIRE_BYTES_MAX; padding is added. */
static void send_wire(struct server *server, enum wire_kind kind, const void *body, size_t bytes)
{
	struct wire_head head = { (uint32_t)kind, (uint32_t)((bytes + 7) / 8 * 8) };

	if (server->used + sizeof head + head.bytes > OUT_BYTES)
		flush_server(server);
	memcpy(server->out + server->used, &head, sizeof head);
	memset(server->out + server->used + sizeof head, 0, head.bytes);
	if (bytes)
		memcpy(server->out + server->used + sizeof head, body, bytes);
	server->used += sizeof head + head.bytes;
}

static void fail_serving(struct server *server, int code, struct asterism_diag *diag)
{
	const struct asterism_message *message = asterism_diag_get(diag, asterism_diag_count(diag, ASTERISM_NOTE) - 1);
	struct wire_failure failure = { .code = code };

	snprintf(failure.text, sizeof failure.text, "%s", message ? message->text : strerror(-code));
	send_wire(server, WIRE_FAILED, &failure, sizeof failure);
}

/* Names that are longer than any identifier should be were cut where the type was made. */
static size_t put_wire_name(char *to, const char *name)
{
	return (size_t)snprintf(to, WIRE_NAME_BYTES, "%.*s", WIRE_NAME_BYTES - 1, name) + 1;
}

static char say_type(struct server *server, const struct event_type *type)
{

	char *body = alloc_zero(WIRE_BYTES_MAX, 1), answer = 0;
	size_t at = sizeof(struct wire_type) + type->field_count * sizeof(struct wire_field);
	ssize_t got;

	if (!body)
		return 0;
	*(struct wire_type *)body = (struct wire_type){ type->record_bytes, type->field_count };
	at += put_wire_name(body + at, type->name);
	for (uint32_t i = 0; i < type->field_count; i++) {
		((struct wire_field *)(body + sizeof(struct wire_type)))[i] =
			(struct wire_field){ type->fields[i].value, type->fields[i].bytes,
					     !event_source_holds(server->source, type, i) };
		at += put_wire_name(body + at, type->fields[i].name);
	}
	send_wire(server, WIRE_TYPE, body, at);
	alloc_free(body);
	flush_server(server);
	do
		got = recv(server->fd, &answer, 1, 0);
	while (got < 0 && errno == EINTR);
	server->gone |= got != 1;
	return answer;
}

/* The source asks once per class of events, and several classes may be of one type. */
static char ask_source(struct server *server, const struct event_type *type)
{
	for (size_t i = 0; i < server->type_count; i++) {
		if (server->types[i] == type)
			return server->answers[i];
	}
	if (alloc_grow(&server->types, &server->type_capacity, server->type_count, sizeof(const struct event_type *)) ||
	    alloc_grow(&server->answers, &server->answer_capacity, server->type_count, 1)) {
		server->gone = true;
		return 0;
	}
	server->types[server->type_count] = type;
	server->answers[server->type_count] = say_type(server, type);
	return server->answers[server->type_count++];
}

static bool server_wants_type(void *context, const struct event_type *type)
{
	return ask_source(context, type) & WIRE_WANTED;
}

static bool names(void *context, const struct event_type *type)
{
	return ask_source(context, type) & WIRE_NAMED;
}

static void say_state(struct server *server, const struct event_source *source)
{
	struct wire_state state = { source->lost, source->lossy_until_ns, source->machine.wall_ns };

	memcpy(state.host, source->machine.host, EVENT_HOST_BYTES);

	if (memcmp(&state, &server->state, sizeof state) == 0)
		return;
	server->state = state;
	send_wire(server, WIRE_STATE, &state, sizeof state);
}

static void report_all(struct server *server, struct event_source *source, struct asterism_diag *diag)
{
	struct event event;
	int result = 1;

	server->source = source;
	event_source_want(source,
			  &(struct event_want){ .wants = server_wants_type, .names = names, .context = server });
	while (!server->gone && (result = event_source_next(source, &event)) > 0) {
		bool wanted =
			event.record->type < server->type_count && (server->answers[event.record->type] & WIRE_WANTED);

		say_state(server, source);
		send_wire(server, WIRE_EVENT, event.record, wanted ? event.type->record_bytes : sizeof *event.record);
	}
	say_state(server, source);
	if (result < 0)
		fail_serving(server, result, diag);
	else
		send_wire(server, WIRE_END, NULL, 0);
	flush_server(server);
}

/* The module stays loaded: glib does not like to be unloaded. */
static babel_open_fn *load_babel_module(struct asterism_diag *diag)
{
	void *module = dlopen(BABEL_MODULE, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
	void *symbol = module ? dlsym(module, BABEL_SYMBOL) : NULL;
	babel_open_fn *open_fn = NULL;

	if (symbol)
		memcpy(&open_fn, &symbol, sizeof open_fn);
	else
		diag_error(diag, NULL, -EOPNOTSUPP,
			   "traces of other tools need " BABEL_MODULE
			   ", which cannot be used (it is built if libbabeltrace2-dev is installed): %s",
			   dlerror());
	return open_fn;
}

void babel_serve(int fd, const struct babel_request *asked)
{
	struct server server = { .fd = fd, .out = alloc_zero(OUT_BYTES, 1) };
	struct babel_request request = *asked;
	struct event_source *source;
	babel_open_fn *open_fn;
	int result;

	request.diag = asterism_diag_new();
	if (!server.out || !request.diag)
		return;
	open_fn = load_babel_module(request.diag);
	result = open_fn ? lttng_map_read(request.diag, &request.map) : -EOPNOTSUPP;
	if (!result)
		result = open_fn(&request, &source);
	if (result) {
		fail_serving(&server, result, request.diag);
		flush_server(&server);
		return;
	}
	send_wire(&server, WIRE_OPENED, NULL, 0);
	flush_server(&server);
	report_all(&server, source, request.diag);
}
