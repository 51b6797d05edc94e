// SPDX-License-Identifier: BSD-2-Clause
/* Keeps results for the clients that want them. */

#include "daemon/results.h"

#include "base/alloc.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct result *result_new(const char *unit, const char *text, size_t length)
{
	struct result *result = length < CLIENT_RESULTS_BYTES_MAX ? alloc_zero(1, sizeof *result + length + 1) : NULL;

	if (!result)
		return NULL;
	result->holders = 1;
	snprintf(result->unit, sizeof result->unit, "%s", unit);
	memcpy(result->text, text, length);
	result->length = length;
	return result;
}

void result_drop(struct result *result)
{
	if (--result->holders == 0)
		alloc_free(result);
}

static void drop_first(struct client *client)
{
	struct result *result = client->results[client->first];

	client->result_bytes -= result->length;
	client->first = (client->first + 1) % CLIENT_RESULTS_MAX;
	client->count--;
	result_drop(result);
}

void results_clear(struct client *client)
{
	while (client->count)
		drop_first(client);
	client->dropped = 0;
}

void results_want(struct client *client, const char *unit)
{
	if (client->wants_results && strcmp(client->wanted_unit, unit) == 0)
		return;
	results_clear(client);
	client->wants_results = true;
	snprintf(client->wanted_unit, sizeof client->wanted_unit, "%s", unit);
}

bool results_reply(struct client *client)
{
	struct text_buffer *reply = &client->reply;
	const struct result *result;

	if (!client->count)
		return false;
	result = client->results[client->first];
	text_append(reply, "{\"ok\":true,\"unit\":");
	text_json(reply, result->unit);
	text_printf(reply, ",\"dropped\":%" PRIu64, client->dropped);
	if (result->ticket)
		text_printf(reply, ",\"ticket\":%" PRIu64 ",\"deadline\":%" PRIu64, result->ticket,
			    result->deadline_ns);
	text_append(reply, ",\"result\":");
	text_append_bytes(reply, result->text, result->length);
	text_append(reply, "}\n");
	client->dropped = 0;
	client->awaits_result = false;
	drop_first(client);
	return true;
}

static bool wants_unit(const struct client *client, const char *unit)
{
	return client->fd >= 0 && client->wants_results &&
	       (!client->wanted_unit[0] || strcmp(client->wanted_unit, unit) == 0);
}

bool clients_want(const struct clients *clients, const char *unit, bool only_root)
{
	for (size_t i = 0; i < CLIENTS_MAX; i++) {
		const struct client *client = &clients->items[i];

		if (wants_unit(client, unit) && (!only_root || client->user == 0))
			return true;
	}
	return false;
}

size_t clients_give(struct clients *clients, struct result *result)
{
	size_t judges = 0;

	for (size_t i = 0; i < CLIENTS_MAX; i++) {
		struct client *client = &clients->items[i];

		if (!wants_unit(client, result->unit))
			continue;
		if (client->count == CLIENT_RESULTS_MAX ||
		    client->result_bytes + result->length > CLIENT_RESULTS_BYTES_MAX) {
			client->dropped++;
			clients->dropped++;
			continue;
		}
		client->results[(client->first + client->count++) % CLIENT_RESULTS_MAX] = result;
		client->result_bytes += result->length;
		result->holders++;
		judges += client->user == 0;
	}
	return judges;
}
