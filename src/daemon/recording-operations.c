// SPDX-License-Identifier: BSD-2-Clause
/*
 * Carries out the operations of clients on recordings. A trace holds what all observed processes do, and is root's; so
 * who is not root may begin one only where the operator says so, and handles its own.
 */

#include "daemon/daemon.h"

#include "base/alloc.h"
#include "base/clock.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct recording_operation {
	struct daemon *daemon;
	struct client *client;
	const struct request *request;
	char *events;                       /* the body as a text; "": there is none */
	struct daemon_recording *recording; /* that is meant */
};

static bool is_root_operation(const struct recording_operation *operation)
{
	return operation->client->user == 0;
}

/* The one that is named, or the only one; without it the client has its reply. */
static bool find_recording(struct recording_operation *operation)
{
	struct recordings *recordings = &operation->daemon->recordings;
	const char *name = operation->request->unit;

	if (*name)
		operation->recording = recordings_find(recordings, name);
	else if (recordings_count(recordings, false, 0) == 1)
		for (size_t i = 0; i < RECORDINGS_MAX && !operation->recording; i++)
			operation->recording = recordings->items[i].engine ? &recordings->items[i] : NULL;
	if (operation->recording)
		return true;
	if (*name)
		client_refuse(operation->client, "no-recording", "there is no running recording '%s'", name);
	else
		client_refuse(operation->client, "no-recording",
			      recordings_count(recordings, false, 0) ? "several recordings are running: name one"
								     : "no recording is running");
	return false;
}

static bool find_own(struct recording_operation *operation)
{
	if (!find_recording(operation))
		return false;
	if (is_root_operation(operation) || operation->recording->owner == operation->client->user)
		return true;
	client_refuse(operation->client, "denied", "recording %s belongs to another user: only root may do this",
		      operation->recording->name);
	return false;
}

/* Whether one more may be begun; else the client has its reply. */
static bool may_start(struct recording_operation *operation)
{
	const struct daemon *daemon = operation->daemon;
	struct client *client = operation->client;

	if (!daemon->recordings.folder)
		client_refuse(client, "not-possible",
			      "asterismd cannot record: it was started without --recordings DIR");
	else if (!is_root_operation(operation) && !daemon->options->clients_record)
		client_refuse(client, "denied",
			      "only root may record; asterismd --clients-record allows the group, too");
	else if (!is_root_operation(operation) &&
		 recordings_count(&daemon->recordings, true, client->user) >= RECORDINGS_OF_USER_MAX)
		client_refuse(client, "refused", "a user other than root may have only %d recording at a time",
			      RECORDINGS_OF_USER_MAX);
	else if (*operation->request->unit && !recordings_is_name(operation->request->unit))
		client_refuse(client, "malformed", "invalid recording name: use 1 to 64 letters, digits, - and _");
	else
		return true;
	return false;
}

static const char *result_word(int result)
{
	switch (result) {
	case -EINVAL:
		return "wrong-events";
	case -EEXIST:
		return "exists";
	case -EDQUOT:
		return "refused";
	default:
		return "not-possible";
	}
}

static void end_recording_with_notes(struct recording_operation *operation)
{
	struct text_buffer notes = { 0 };

	unit_append_notes(operation->daemon->session, &notes);
	if (notes.length)
		text_printf(&operation->client->reply, ",\"notes\":[%s]", notes.bytes);
	text_append(&operation->client->reply, "}\n");
	text_fini(&notes);
}

static void begin_reply(struct recording_operation *operation)
{
	text_append(&operation->client->reply, "{\"ok\":true,\"recording\":");
	text_json(&operation->client->reply, operation->recording->name);
	text_append(&operation->client->reply, ",\"trace\":");
	text_printf(&operation->client->reply, "\"%s/%s\"", operation->daemon->recordings.folder,
		    operation->recording->name);
}

static void start_recording(struct recording_operation *operation)
{
	const struct request *request = operation->request;
	const struct recordings_order order = {
		.name = request->unit,
		.events = operation->events,
		.owner = operation->client->user,
		.flight = request->flight,
		.max_bytes = request->max_bytes,
		.ring_bytes = request->ring_bytes,
		.last_ns = request->last_ns,
	};
	struct asterism_recording_stats stats = { .size = sizeof stats };
	char why[RECORDINGS_WHY_BYTES];
	int result;

	if (!may_start(operation))
		return;
	result = recordings_start(operation->daemon, &order, &operation->recording, why);
	if (result) {
		client_refuse(operation->client, result_word(result), "%s", why);
		return;
	}
	asterism_recording_stats(operation->recording->engine, &stats);
	begin_reply(operation);
	text_printf(&operation->client->reply, ",\"flight\":%s,\"types\":%" PRIu64 ",\"max_bytes\":%" PRIu64,
		    operation->recording->flight ? "true" : "false", stats.types, operation->recording->max_bytes);
	end_recording_with_notes(operation);
}

static void put_stats(const struct asterism_recording_stats *stats, struct text_buffer *reply)
{
	text_printf(reply,
		    ",\"events\":%" PRIu64 ",\"bytes\":%" PRIu64 ",\"deleted_bytes\":%" PRIu64 ",\"lost\":%" PRIu64
		    ",\"overwritten\":%" PRIu64 ",\"unwritten\":%" PRIu64 ",\"dropped\":%" PRIu64 ",\"unread\":%" PRIu64
		    ",\"missed\":%" PRIu64 ",\"calls_32bit\":%" PRIu64 ",\"io_uring\":%" PRIu64
		    ",\"snapshots\":%" PRIu64 ",\"snapshots_cut\":%" PRIu64 ",\"masked\":%" PRIu64,
		    stats->events, stats->bytes, stats->deleted_bytes, recordings_lost(stats), stats->overwritten,
		    stats->unwritten, stats->dropped, stats->unread, stats->missed, stats->calls_32bit, stats->io_uring,
		    stats->snapshots, stats->snapshots_cut, stats->masked);
}

static void stop(struct recording_operation *operation)
{
	struct asterism_recording_stats stats;

	if (!find_own(operation))
		return;
	begin_reply(operation);
	recordings_stop(&operation->daemon->recordings, operation->recording, &stats);
	text_printf(&operation->client->reply, ",\"flight\":%s", operation->recording->flight ? "true" : "false");
	put_stats(&stats, &operation->client->reply);
	end_recording_with_notes(operation);
}

static void mask(struct recording_operation *operation)
{
	struct asterism_recording_stats stats = { .size = sizeof stats };
	int result;

	if (!find_own(operation))
		return;
	result = asterism_recording_mask(operation->recording->engine, operation->events);
	if (result) {
		client_refuse(operation->client, result_word(result), "%s",
			      asterism_session_error(operation->daemon->session));
		return;
	}
	asterism_recording_stats(operation->recording->engine, &stats);
	begin_reply(operation);
	text_printf(&operation->client->reply, ",\"types\":%" PRIu64, stats.types);
	end_recording_with_notes(operation);
}

static void flush_recording(struct recording_operation *operation)
{
	if (!find_own(operation))
		return;
	if (operation->recording->flight)
		client_refuse(operation->client, "not-possible",
			      "recording %s keeps its events in memory: take a snapshot to write them",
			      operation->recording->name);
	else if (asterism_recording_flush(operation->recording->engine))
		client_refuse(operation->client, "not-possible", "%s",
			      asterism_session_error(operation->daemon->session));
	else {
		begin_reply(operation);
		text_append(&operation->client->reply, "}\n");
	}
}

static void take_snapshot(struct recording_operation *operation)
{
	char why[RECORDINGS_WHY_BYTES];
	int number;

	if (!find_own(operation))
		return;
	if (operation->recording->flight &&
	    !recordings_has_room(&operation->daemon->recordings, operation->recording, why)) {
		client_refuse(operation->client, "refused", "%s", why);
		return;
	}
	number = asterism_recording_snapshot(operation->recording->engine, "snapshot");
	if (number < 0) {
		client_refuse(operation->client, "not-possible", "%s",
			      asterism_session_error(operation->daemon->session));
		return;
	}
	begin_reply(operation);
	text_printf(&operation->client->reply, ",\"snapshot\":\"snapshot-%d\"}\n", number);
}

static void put_recording(const struct daemon_recording *recording, struct text_buffer *reply)
{
	struct asterism_recording_stats stats = { .size = sizeof stats };
	const char *type;

	asterism_recording_stats(recording->engine, &stats);
	text_append(reply, "{\"recording\":");
	text_json(reply, recording->name);
	text_printf(reply, ",\"owner\":%u,\"flight\":%s,\"age_ns\":%" PRIu64 ",\"max_bytes\":%" PRIu64 ",\"error\":",
		    (unsigned)recording->owner, recording->flight ? "true" : "false",
		    clock_now_ns() - recording->started_ns, recording->max_bytes);
	if (*recording->error)
		text_json(reply, recording->error);
	else
		text_append(reply, "null");
	put_stats(&stats, reply);
	text_append(reply, ",\"types\":[");
	for (size_t i = 0; (type = asterism_recording_type(recording->engine, i)); i++) {
		text_append(reply, i ? "," : "");
		text_json(reply, type);
	}
	text_append(reply, "]}");
}

static void status(struct recording_operation *operation)
{
	const struct recordings *recordings = &operation->daemon->recordings;
	struct text_buffer *reply = &operation->client->reply;
	bool is_first = true;
	uint64_t bytes;
	size_t traces;

	if (*operation->request->unit && !find_recording(operation))
		return;
	recordings_usage(recordings, &bytes, &traces);
	text_append(reply, "{\"ok\":true,\"recordings\":[");
	for (size_t i = 0; i < RECORDINGS_MAX; i++) {
		const struct daemon_recording *recording = &recordings->items[i];

		if (!recording->engine || (operation->recording && operation->recording != recording))
			continue;
		text_append(reply, is_first ? "" : ",");
		is_first = false;
		put_recording(recording, reply);
	}
	text_append(reply, "],\"folder\":");
	if (recordings->folder)
		text_json(reply, recordings->folder);
	else
		text_append(reply, "null");
	text_printf(reply, ",\"traces\":%zu,\"bytes\":%" PRIu64 ",\"bytes_max\":%" PRIu64 "}\n", traces, bytes,
		    recordings->bytes_max);
}

bool daemon_serve_recording(struct daemon *daemon, struct client *client, const struct request *request,
			    const struct frame_message *body)
{
	static void (*const functions[REQUEST_OPS])(struct recording_operation *) = {
		[REQUEST_RECORD_START] = start_recording,
		[REQUEST_RECORD_STOP] = stop,
		[REQUEST_RECORD_MASK] = mask,
		[REQUEST_RECORD_FLUSH] = flush_recording,
		[REQUEST_RECORD_SNAPSHOT] = take_snapshot,
		[REQUEST_RECORD_STATUS] = status,
	};
	struct recording_operation operation = { .daemon = daemon, .client = client, .request = request };
	size_t length = body ? body->length : 0;

	if (!functions[request->op])
		return false;
	operation.events = alloc_zero(length + 1, 1);
	if (operation.events && length)
		memcpy(operation.events, body->bytes, length);
	if (!operation.events)
		client_refuse(client, "not-possible", "out of memory");
	else if (strlen(operation.events) != length)
		client_refuse(client, "malformed", "event names must not contain NUL");
	else
		functions[request->op](&operation);
	alloc_free(operation.events);
	return true;
}
