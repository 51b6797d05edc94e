/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SENSOR_CLIENT_TYPES_H
#define SENSOR_CLIENT_TYPES_H

/*
 * Which types there are. A type is a text, which many sensors may have: one in each object of the program. Its id holds
 * as long as the process, as rings keep its events; without a sensor it is absent. The lock is held throughout.
 */

#include "sensor/client/state.h"

/* Length of the name in the paragraph "EVENT name ...". */
ASTERISM_CLIENT_FUNCTION size_t asterism_client_name(const char *text, const char **name)
{
	*name = text + strlen("EVENT ");
	return strcspn(*name, " ");
}

ASTERISM_CLIENT_FUNCTION int asterism_client_same_name(const char *a, const char *b)
{
	const char *name_a, *name_b;
	size_t length = asterism_client_name(a, &name_a);

	return asterism_client_name(b, &name_b) == length && !memcmp(name_a, name_b, length);
}

/* Whether a type that is there has that name, and another text. */
ASTERISM_CLIENT_FUNCTION int asterism_client_has_other(const struct asterism_client *client, const char *text)
{
	for (uint32_t i = 0; i < client->type_count; i++) {
		if (client->types[i].users && strcmp(client->types[i].text, text) &&
		    asterism_client_same_name(client->types[i].text, text))
			return 1;
	}
	return 0;
}

/* The id of a text; 0: there are too many, or there is no memory. */
ASTERISM_CLIENT_FUNCTION uint32_t asterism_client_type_id(struct asterism_client *client, const char *text)
{
	size_t bytes = strlen(text) + 1;
	char *copy;

	for (uint32_t i = 0; i < client->type_count; i++) {
		if (!strcmp(client->types[i].text, text))
			return i + 1;
	}
	copy = client->type_count < SENSOR_TYPES_MAX && bytes <= ASTERISM_CLIENT_TEXT_MAX ? (char *)malloc(bytes)
											  : NULL;
	if (!copy)
		return 0;
	memcpy(copy, text, bytes);
	client->types[client->type_count].text = copy;
	return ++client->type_count;
}

/* Whether a directory would take that type, as far as can be said without one: of a name the first that is there. */
ASTERISM_CLIENT_FUNCTION int asterism_client_would_be_taken(const struct asterism_client *client, uint32_t id)
{
	for (uint32_t i = 0; i + 1 < id; i++) {
		if (client->types[i].users &&
		    asterism_client_same_name(client->types[i].text, client->types[id - 1].text))
			return 0;
	}
	return !client->types[id - 1].fault;
}

static const uint32_t asterism_client_always = SENSOR_GATE_ALWAYS;

/* What tells whether a sensor's events are wanted: the directory, or without one what the application wants itself. */
ASTERISM_CLIENT_FUNCTION const uint32_t *asterism_client_gate(const struct asterism_client *client,
							      const struct asterism_sensor *sensor)
{
	int has_room = client->writers && client->writers->is_ready;

	if (!sensor->id)
		return &asterism_sensor_closed;
	if (client->socket.fd >= 0)
		return sensor->id <= client->told_count ? &client->gates[sensor->id] : &asterism_sensor_closed;
	/* Somebody looks at what the parent raises, and would at this: it is counted until the directory answers. */
	if (client->is_unanswered && !has_room && sensor->id <= client->inherited)
		return &client->gates[sensor->id];
	return client->is_always && has_room && asterism_client_would_be_taken(client, sensor->id)
		       ? &asterism_client_always
		       : &asterism_sensor_closed;
}

ASTERISM_CLIENT_FUNCTION void asterism_client_connect_gates(const struct asterism_client *client)
{
	for (struct asterism_sensor *sensor = client->sensors; sensor; sensor = sensor->next)
		__atomic_store_n(&sensor->gate, asterism_client_gate(client, sensor), __ATOMIC_RELEASE);
}

#endif
