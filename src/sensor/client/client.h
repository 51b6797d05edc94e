/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SENSOR_CLIENT_CLIENT_H
#define SENSOR_CLIENT_CLIENT_H

/* What stands behind asterism/sensor.h: part of the library, or of the one file that defines
 * ASTERISM_SENSOR_IMPLEMENTATION. */

#include "sensor/client/provide.h"
#include "sensor/client/thread.h"

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
	asterism_client_add(client, sensor);
	pthread_mutex_unlock(&client->lock);
}

void asterism_sensor_remove(struct asterism_sensor *sensor)
{
	struct asterism_client *client = &asterism_client;

	pthread_mutex_lock(&client->lock);
	asterism_client_remove(client, sensor);
	pthread_mutex_unlock(&client->lock);
}

void asterism_sensor_start(void)
{
	struct asterism_client *client = &asterism_client;

	pthread_mutex_lock(&client->lock);
	if (client->sensors && !client->is_off) {
		if (!client->has_helper || (client->socket.fd >= 0 && client->told_count < client->type_count))
			asterism_client_register(client, ASTERISM_CLIENT_START_MS);
		else
			asterism_client_go_on(client);
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

/* What was in a ring that was lent is somebody else's afterwards. Apart, as signal handlers may have little of a stack.
 */
static __attribute__((noinline)) void asterism_client_commit_and_call(const struct asterism_sensor *sensor,
								      void *payload, int is_ordered)
{
	uint64_t copy[SENSOR_PAYLOAD_UNITS_MAX];

	memcpy(copy, payload, asterism_sensor_bytes(sensor));
	asterism_client_commit(&asterism_client, (uint16_t)sensor->id, payload, is_ordered);
	asterism_sensor_call(sensor, copy);
}

void asterism_sensor_commit_slowly(const struct asterism_sensor *sensor, void *payload, int is_ordered)
{
	if (asterism_sensor_is_called(sensor))
		asterism_client_commit_and_call(sensor, payload, is_ordered);
	else
		asterism_client_commit(&asterism_client, (uint16_t)sensor->id, payload, is_ordered);
}

/* Refused by the kernel, as it is meant to be. */
void asterism_sensor_call(const struct asterism_sensor *sensor, const void *payload)
{
	int error = errno;

	syscall(SYS_prctl, (unsigned long)SENSOR_CALL, (unsigned long)sensor->key,
		(unsigned long)sensor->units * RING_UNIT_BYTES, 0ul, payload);
	errno = error;
}

struct asterism_sensor *asterism_sensor_register(const char *name, const char *documentation,
						 const struct asterism_sensor_field *fields, size_t count)
{
	const struct asterism_client_wish wish = { name, documentation, fields, count };
	struct asterism_client *client = &asterism_client;
	struct asterism_sensor *sensor = asterism_client_make(&wish);

	if (!sensor)
		return NULL;
	pthread_mutex_lock(&client->lock);
	int error = asterism_client_enter(client, sensor);
	pthread_mutex_unlock(&client->lock);

	if (!error) {
		asterism_sensor_start();
		error = asterism_client_judge(client, sensor);
	}
	if (!error) {
		asterism_client_announce(client, sensor, 0);
		return sensor;
	}
	free(sensor);
	errno = error;
	return NULL;
}

void asterism_sensor_unregister(struct asterism_sensor *sensor)
{
	if (!sensor)
		return;
	asterism_client_announce(&asterism_client, sensor, 1);
	asterism_sensor_remove(sensor);
	free(sensor);
}

int asterism_sensor_is_watched(const struct asterism_sensor *sensor)
{
	return asterism_sensor_is_open(sensor);
}

int asterism_sensor_log(const struct asterism_sensor *sensor, const void *data, size_t bytes)
{
	size_t room = asterism_sensor_bytes(sensor);

	if (bytes > room)
		return -1;
	if (!asterism_sensor_is_open(sensor))
		return 0;
	char *event = (char *)asterism_sensor_begin(sensor, sensor->units);

	if (bytes)
		memcpy(event, data, bytes);
	memset(event + bytes, 0, room - bytes);
	asterism_sensor_commit(sensor, event, 0);
	return 0;
}

size_t asterism_sensor_bytes(const struct asterism_sensor *sensor)
{
	return (size_t)sensor->units * RING_UNIT_BYTES;
}

#ifdef __cplusplus
}
#endif

#endif
