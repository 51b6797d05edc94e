/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SENSOR_CLIENT_CLIENT_H
#define SENSOR_CLIENT_CLIENT_H

/* What stands behind asterism/sensor.h: part of the library, or of the one file that defines
 * ASTERISM_SENSOR_IMPLEMENTATION. */

#include "sensor/client/thread.h"

/* The id of a text, which many sensors may have: one in each object of the program. 0: there are too many. */
ASTERISM_CLIENT_FUNCTION uint32_t asterism_client_type_id(struct asterism_client *client, const char *text,
							  uint32_t units)
{
	size_t bytes = strlen(text) + 1;
	char *copy;

	for (uint32_t i = 0; i < client->type_count; i++) {
		if (!strcmp(client->types[i].text, text))
			return i + 1;
	}
	copy = client->type_count < SENSOR_TYPES_MAX && bytes <= SENSOR_MESSAGE_BYTES_MAX / 2 ? (char *)malloc(bytes)
											      : NULL;
	if (!copy)
		return 0;
	memcpy(copy, text, bytes);
	client->types[client->type_count].text = copy;
	client->types[client->type_count].units = units;
	return ++client->type_count;
}

#ifdef __cplusplus
extern "C" {
#endif

uint64_t asterism_sensor_monotonic_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

void asterism_sensor_add(struct asterism_sensor *sensor)
{
	struct asterism_client *client = &asterism_client;

	pthread_mutex_lock(&client->lock);
	if (!client->pid) {
		const char *given = secure_getenv(SENSOR_SOCKET_VARIABLE);

		client->pid = getpid();
		client->socket.fd = client->area_fd.fd = -1;
		client->is_off = given && !strcmp(given, "off");
		client->has_key = !pthread_key_create(&client->key, asterism_client_give_back);
		pthread_atfork(NULL, NULL, asterism_client_child);
	}
	if (!sensor->uses++) {
		sensor->id = asterism_client_type_id(client, sensor->text, sensor->units);
		sensor->next = client->sensors;
		__atomic_store_n(&client->sensors, sensor, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&client->lock);
}

void asterism_sensor_remove(struct asterism_sensor *sensor)
{
	struct asterism_client *client = &asterism_client;
	struct asterism_sensor **link;

	pthread_mutex_lock(&client->lock);
	for (link = &client->sensors; *link && *link != sensor; link = &(*link)->next)
		;
	if (*link && !--sensor->uses) {
		*link = sensor->next;
		__atomic_store_n(&sensor->gate, &asterism_sensor_closed, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&client->lock);
}

void asterism_sensor_start(void)
{
	struct asterism_client *client = &asterism_client;

	pthread_mutex_lock(&client->lock);
	if (client->sensors && !client->is_off) {
		if (!client->has_helper || (client->socket.fd >= 0 && client->told_count < client->type_count))
			asterism_client_register(client, ASTERISM_CLIENT_START_MS);
		else if (client->socket.fd >= 0)
			asterism_client_connect_gates(client, 1);
		asterism_client_start_helper(client, ASTERISM_CLIENT_PAUSE_MS);
	}
	pthread_mutex_unlock(&client->lock);
}

void *asterism_sensor_begin_slowly(const struct asterism_sensor *sensor)
{
	int error = errno;
	void *payload = asterism_client_begin(&asterism_client, sensor->units);

	errno = error;
	return payload;
}

void asterism_sensor_commit_slowly(const struct asterism_sensor *sensor, void *payload, int is_ordered)
{
	asterism_client_commit(&asterism_client, (uint16_t)sensor->id, payload, is_ordered);
}

struct asterism_sensor *asterism_sensor_new(const char *text, uint32_t payload_bytes)
{
	struct asterism_sensor *sensor;
	size_t bytes = strlen(text) + 1;

	if ((payload_bytes + 7) / 8 > SENSOR_PAYLOAD_UNITS_MAX)
		return NULL;
	sensor = (struct asterism_sensor *)calloc(1, sizeof *sensor + bytes);
	if (!sensor)
		return NULL;
	memcpy(sensor + 1, text, bytes);
	sensor->text = (const char *)(sensor + 1);
	sensor->gate = &asterism_sensor_closed;
	sensor->units = (payload_bytes + RING_UNIT_BYTES - 1) / RING_UNIT_BYTES;
	asterism_sensor_add(sensor);
	asterism_sensor_start();
	return sensor;
}

int asterism_sensor_is_watched(const struct asterism_sensor *sensor)
{
	return asterism_sensor_is_open(sensor);
}

void asterism_sensor_write(const struct asterism_sensor *sensor, const void *payload, uint32_t payload_bytes)
{
	void *event;

	if (!asterism_sensor_is_open(sensor) || payload_bytes > sensor->units * RING_UNIT_BYTES)
		return;
	event = asterism_sensor_begin(sensor, sensor->units);
	memcpy(event, payload, payload_bytes);
	memset((char *)event + payload_bytes, 0, sensor->units * RING_UNIT_BYTES - payload_bytes);
	asterism_sensor_commit(sensor, event, 0);
}

#ifdef __cplusplus
}
#endif

#endif
