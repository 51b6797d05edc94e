/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SENSOR_CLIENT_THREAD_H
#define SENSOR_CLIENT_THREAD_H

/*
 * A thread that looks for a directory while there is none, and notices its end. It has all signals blocked, takes none
 * of the program's time, and is made anew in a child of fork.
 */

#include "sensor/client/writers.h"

#include <dlfcn.h>
#include <signal.h>

#ifdef __cplusplus
extern "C" {
#endif
extern void __tsan_init(void) __attribute__((weak));
#ifdef __cplusplus
}
#endif

/* From here on the library that this is in is not unloaded, as its thread needs the code. */
ASTERISM_CLIENT_FUNCTION void asterism_client_stay(void)
{
#if defined(__PIC__) && !defined(__PIE__)
#pragma weak dladdr
#pragma weak dlopen
	Dl_info info;

	if (dladdr && dlopen && dladdr(&asterism_client, &info))
		dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
#endif
}

/* What the directory says unasked is nothing; so this is its end, or the end of our descriptor. */
ASTERISM_CLIENT_FUNCTION void asterism_client_listen(struct asterism_client *client)
{
	struct asterism_client_message message;

	if (client->socket.fd < 0)
		return;
	if (!asterism_client_is_ours(&client->socket)) {
		asterism_client_leave(client);
		return;
	}
	int result = asterism_client_receive(client->socket.fd, 0, &message);

	if (result > 0)
		asterism_client_close_all(&message);
	if (result)
		asterism_client_leave(client);
}

ASTERISM_CLIENT_FUNCTION void *asterism_client_help(void *context)
{
	struct asterism_client *client = (struct asterism_client *)context;

	prctl(PR_SET_NAME, "asterism-sensor");
	asterism_client_pause(client->first_pause_ms);
	for (;;) {
		struct pollfd ready = { -1, POLLIN, 0 };

		pthread_mutex_lock(&client->lock);
		asterism_client_listen(client);
		if (client->socket.fd < 0)
			asterism_client_register(client, ASTERISM_CLIENT_HELPER_MS);
		ready.fd = client->socket.fd;
		int pause_ms = ready.fd < 0 && !asterism_client_is_confined(client) ? ASTERISM_CLIENT_PAUSE_MS : -1;

		pthread_mutex_unlock(&client->lock);
		poll(&ready, 1, pause_ms);
	}
	return NULL;
}

ASTERISM_CLIENT_FUNCTION void asterism_client_start_helper(struct asterism_client *client, uint32_t pause_ms)
{
	sigset_t all, before;
	pthread_attr_t attributes;
	pthread_t thread;

	if (client->has_helper || asterism_client_is_confined(client) || pthread_attr_init(&attributes))
		return;
	asterism_client_stay();
	client->first_pause_ms = pause_ms;
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attributes, 256 << 10);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	client->has_helper = !pthread_create(&thread, &attributes, asterism_client_help, client);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attributes);
}

ASTERISM_CLIENT_FUNCTION void asterism_client_child(void)
{
	struct asterism_client *client = &asterism_client;

	if (client->is_off || !client->sensors)
		return;
	client->pid = getpid();
	asterism_client_forget(client);
	if (__tsan_init) /* ends children that have threads: this one registers with its first event, as those of clone
			  */
		return;
	asterism_client_start_helper(client, ASTERISM_CLIENT_CHILD_MS);
}

/* The lock is held, here and below. */
ASTERISM_CLIENT_FUNCTION void asterism_client_begin_all(struct asterism_client *client)
{
	const char *given = asterism_client_given(SENSOR_SOCKET_VARIABLE);

	client->pid = getpid();
	client->socket.fd = client->area_fd.fd = -1;
	client->is_off = given && !strcmp(given, "off");
	client->is_always = sensor_socket_is_always(given);
	client->filters = prctl(PR_GET_SECCOMP, 0, 0, 0, 0);
	client->has_key = !pthread_key_create(&client->key, asterism_client_give_back);
	pthread_atfork(NULL, NULL, asterism_client_child);
}

ASTERISM_CLIENT_FUNCTION void asterism_client_add(struct asterism_client *client, struct asterism_sensor *sensor)
{
	if (!client->pid)
		asterism_client_begin_all(client);
	if (sensor->uses++)
		return;
	sensor->key = sensor_key(sensor->text);
	sensor->id = asterism_client_type_id(client, sensor->text);
	sensor->next = client->sensors;
	__atomic_store_n(&client->sensors, sensor, __ATOMIC_RELEASE);
	if (sensor->id)
		client->types[sensor->id - 1].users++;
}

ASTERISM_CLIENT_FUNCTION void asterism_client_remove(struct asterism_client *client, struct asterism_sensor *sensor)
{
	struct asterism_sensor **link;

	for (link = &client->sensors; *link && *link != sensor; link = &(*link)->next)
		;
	if (!*link || --sensor->uses)
		return;
	*link = sensor->next;
	__atomic_store_n(&sensor->gate, &asterism_sensor_closed, __ATOMIC_RELEASE);
	if (!sensor->id)
		return;
	client->types[sensor->id - 1].users--;
	if (asterism_client_is_ours(&client->socket))
		asterism_client_tell_presence(client);
}

#endif
