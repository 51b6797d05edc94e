// SPDX-License-Identifier: BSD-2-Clause
/*
 * Carries out the operations of clients, where they may ask for them. A client that can open the socket may look, and
 * have rules that change nothing; what touches the system, or somebody else's units, is root's.
 */

#include "daemon/daemon.h"
#include "daemon/log.h"
#include "daemon/results.h"

#include "base/clock.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

/*
 * The units of one user other than root, and the rules of each: the rest is left to others, and loading, during which
 * the daemon does nothing else, takes no longer than a moment.
 */
enum { UNITS_OF_USER_MAX = 32, RULES_OF_USER_MAX = 64 };

struct operation {
	struct daemon *daemon;
	struct client *client;
	const struct request *request;
	const struct frame_message *body;
	struct unit *unit;        /* that was named; NULL: none was */
	struct text_buffer notes; /* for the client, as a list in JSON; text_fini */
};

static bool is_root(const struct operation *operation)
{
	return operation->client->user == 0;
}

static bool is_own_unit(const struct operation *operation)
{
	return is_root(operation) || (!operation->unit->is_file && operation->unit->owner == operation->client->user);
}

/* Finds the unit that must be named; without it the client has its reply. */
static bool find_named_unit(struct operation *operation)
{
	operation->unit = units_find(&operation->daemon->units, operation->request->unit);
	if (!operation->unit) {
		const struct unit *other = units_find_similar(&operation->daemon->units, operation->request->unit);

		client_refuse(operation->client, "no-unit",
			      other ? "unknown unit '%s': did you mean '%s'?" : "unknown unit '%s'",
			      operation->request->unit, other ? other->name : "");
	}
	return operation->unit != NULL;
}

static bool find_own_unit(struct operation *operation)
{
	if (!find_named_unit(operation))
		return false;
	if (!is_own_unit(operation))
		client_refuse(operation->client, "denied", "unit %s belongs to another user: only root may do this",
			      operation->unit->name);
	return is_own_unit(operation);
}

static void ping(struct operation *operation)
{
	text_append(&operation->client->reply, "{\"ok\":true,\"version\":\"" ASTERISM_VERSION "\"}\n");
}

static size_t units_of(const struct units *units, uid_t user)
{
	size_t count = 0;

	for (const struct unit *unit = units->first; unit; unit = unit->next)
		count += !unit->is_file && unit->owner == user;
	return count;
}

/* Whether one more may be loaded; else the client has its reply. */
static bool may_load(struct operation *operation)
{
	struct daemon *daemon = operation->daemon;
	struct client *client = operation->client;
	const char *name = operation->request->unit;
	uint64_t bytes;

	if (!request_is_unit_name(name))
		client_refuse(client, "malformed", "invalid unit name: use 1 to 64 letters, digits, - and _");
	else if (units_find(&daemon->units, name))
		client_refuse(client, "exists", "a unit named %s already exists", name);
	else if (daemon->units.count >= daemon->options->units_max)
		client_refuse(client, "refused", "the limit of %zu units is reached", daemon->units.count);
	else if (!is_root(operation) && units_of(&daemon->units, client->user) >= UNITS_OF_USER_MAX)
		client_refuse(client, "refused", "a user other than root may have at most %d units", UNITS_OF_USER_MAX);
	else if (!budget_has_room(&daemon->budget, 0, &bytes))
		client_refuse(client, "refused",
			      "the daemon already uses %" PRIu64
			      " KiB of memory: no more rules are loaded (--memory-max)",
			      bytes >> 10);
	else
		return true;
	return false;
}

/* A new unit for the client, or NULL and the client has its reply. */
static struct unit *make_unit(struct operation *operation)
{
	const struct unit_source source = { .name = operation->request->unit,
					    .bytes = operation->body->bytes,
					    .length = operation->body->length,
					    .owner = operation->client->user };
	struct unit *unit;
	const char *action;
	int result = unit_new(operation->daemon->session, &source, &unit);

	if (result) {
		client_refuse(operation->client, "wrong-rules", "%s",
			      result == -ENOMEM ? "out of memory" : asterism_session_error(operation->daemon->session));
		return NULL;
	}
	unit_append_notes(operation->daemon->session, &operation->notes);
	action = asterism_rules_action(unit->rules);
	if (action && !is_root(operation)) {
		client_refuse(operation->client, "denied",
			      "the rules call %s, which changes the system: only root may load such rules", action);
	} else if (!is_root(operation) && asterism_rules_count(unit->rules) > RULES_OF_USER_MAX) {
		client_refuse(operation->client, "refused",
			      "a unit of a user other than root may have at most %d rules", RULES_OF_USER_MAX);
	} else {
		return unit;
	}
	unit_free(unit);
	return NULL;
}

/* Ends a reply that has begun. */
static void end_with_notes(struct operation *operation)
{
	struct text_buffer *reply = &operation->client->reply;

	if (operation->notes.length)
		text_printf(reply, ",\"notes\":[%s]", operation->notes.bytes);
	text_append(reply, "}\n");
}

static void load_operation(struct operation *operation)
{
	struct daemon *daemon = operation->daemon;
	char error[UNIT_ERROR_BYTES];
	struct unit *unit;

	if (!may_load(operation))
		return;
	unit = make_unit(operation);
	if (!unit)
		return;
	if (operation->request->activate && daemon_activate(daemon, unit, error)) {
		client_refuse(operation->client, "not-possible", "%s", error);
		unit_free(unit);
		return;
	}
	units_add(&daemon->units, unit);
	daemon->loads++;
	log_line(LOG_LEVEL_INFO, "%s: loaded by user %u", unit->name, (unsigned)unit->owner);
	if (operation->request->activate)
		unit_append_notes(daemon->session, &operation->notes);
	text_printf(&operation->client->reply, "{\"ok\":true,\"unit\":\"%s\",\"rules\":%zu", unit->name,
		    asterism_rules_count(unit->rules));
	end_with_notes(operation);
}

static void unload(struct operation *operation)
{
	if (!find_own_unit(operation))
		return;
	log_line(LOG_LEVEL_INFO, "%s: unloaded by user %u", operation->unit->name, (unsigned)operation->client->user);
	units_remove(&operation->daemon->units, operation->unit);
	client_agree(operation->client);
}

static void query(struct operation *operation)
{
	struct client *client = operation->client;

	if (!operation->request->unit[0] || find_named_unit(operation))
		daemon_report_units(operation->daemon, operation->unit, client);
}

static void activate(struct operation *operation)
{
	char error[UNIT_ERROR_BYTES];

	if (!find_own_unit(operation))
		return;
	if (!operation->unit->rules) {
		client_refuse(operation->client, "not-possible", "the file has an error: %s", operation->unit->error);
	} else if (daemon_activate(operation->daemon, operation->unit, error)) {
		client_refuse(operation->client, "not-possible", "%s", error);
	} else {
		unit_append_notes(operation->daemon->session, &operation->notes);
		text_append(&operation->client->reply, "{\"ok\":true");
		end_with_notes(operation);
	}
}

static void deactivate(struct operation *operation)
{
	if (!find_own_unit(operation))
		return;
	if (!unit_is_active(operation->unit)) {
		client_refuse(operation->client, "not-possible", "%s is not active", operation->unit->name);
		return;
	}
	asterism_rules_finish(operation->unit->rules);
	client_agree(operation->client);
}

/* The reply comes when there is a result (clients_poll); what is there already is handed out by that, too. */
static void next_result(struct operation *operation)
{
	struct client *client = operation->client;

	if (operation->request->unit[0] && !find_named_unit(operation))
		return;
	results_want(client, operation->request->unit);
	client->awaits_result = true;
	client->deadline_ns = clock_now_ns() + (uint64_t)operation->request->timeout_ms * 1000000;
}

static void answer_operation(struct operation *operation, enum asterism_verdict verdict)
{
	int result;

	if (!is_root(operation)) {
		client_refuse(operation->client, "denied", "only root may answer verdict requests");
		return;
	}
	result = asterism_ask_answer(operation->daemon->session, operation->request->ticket, verdict);
	if (result == -ENOENT)
		client_refuse(operation->client, "no-question",
			      "no verdict request has ticket %" PRIu64 ": it was answered already, or never existed",
			      operation->request->ticket);
	else
		client_agree(operation->client);
}

static void let_continue(struct operation *operation)
{
	answer_operation(operation, ASTERISM_CONTINUE);
}

static void let_abort(struct operation *operation)
{
	answer_operation(operation, ASTERISM_ABORT);
}

static void reload(struct operation *operation)
{
	size_t wrong = 0;
	int result;

	if (!is_root(operation)) {
		client_refuse(operation->client, "denied", "only root may reload the rules directory");
		return;
	}
	result = daemon_read_directory(operation->daemon, &wrong);
	operation->daemon->reloads++;
	if (result) {
		client_refuse(operation->client, "not-possible",
			      "cannot use the rules directory; all units stay as they are, see the daemon's log");
		return;
	}
	text_printf(&operation->client->reply, "{\"ok\":true,\"units\":%zu,\"wrong\":%zu}\n",
		    operation->daemon->units.count, wrong);
}

void daemon_serve(void *context, struct client *client, const struct request *request, const struct frame_message *body)
{
	static void (*const functions[REQUEST_OPS])(struct operation *) = {
		[REQUEST_PING] = ping,        [REQUEST_LOAD] = load_operation,   [REQUEST_UNLOAD] = unload,
		[REQUEST_QUERY] = query,      [REQUEST_ACTIVATE] = activate,     [REQUEST_DEACTIVATE] = deactivate,
		[REQUEST_NEXT] = next_result, [REQUEST_CONTINUE] = let_continue, [REQUEST_ABORT] = let_abort,
		[REQUEST_RELOAD] = reload,
	};
	struct operation operation = { .daemon = context, .client = client, .request = request, .body = body };

	if (daemon_serve_recording(context, client, request, body))
		return;
	functions[request->op](&operation);
	text_fini(&operation.notes);
}
