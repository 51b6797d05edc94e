/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SENSOR_CLIENT_REGISTER_H
#define SENSOR_CLIENT_REGISTER_H

/* How a process registers with a directory, and with the next one when that is gone. The lock is held throughout. */

#include "sensor/client/recorder.h"
#include "sensor/client/types.h"

/* Which of the types that were told of have come or gone since. What finds no room is said the next time. */
ASTERISM_CLIENT_FUNCTION void asterism_client_tell_presence(struct asterism_client *client)
{
	for (uint32_t i = 0; i < client->told_count; i++) {
		struct asterism_client_type *type = &client->types[i];
		struct sensor_presence presence = { { SENSOR_PRESENCE, SENSOR_PROTOCOL_VERSION }, i + 1, !type->users };
		struct iovec parts[2] = { { &presence, sizeof presence }, { NULL, 0 } };

		if (type->told_absent != presence.is_absent && !asterism_client_send(client->socket.fd, parts, -1))
			type->told_absent = !type->told_absent;
	}
}

/* An answer. Returns 0 or -1. */
ASTERISM_CLIENT_FUNCTION int asterism_client_await(struct asterism_client *client, uint32_t wait_ms,
						   struct asterism_client_message *answer)
{
	int result = asterism_client_receive(client->socket.fd, wait_ms, answer);

	client->is_unanswered |= result == 0;
	return result == 1 ? 0 : -1;
}

ASTERISM_CLIENT_FUNCTION int asterism_client_tell(struct asterism_client *client, uint32_t wait_ms)
{
	static char texts[SENSOR_MESSAGE_BYTES_MAX - sizeof(struct sensor_types)];
	struct asterism_client_message answer;

	while (client->told_count < client->type_count) {
		struct sensor_types types = { { SENSOR_TYPES, SENSOR_PROTOCOL_VERSION }, client->told_count + 1, 0 };
		struct iovec parts[2];
		size_t bytes = 0;

		for (uint32_t i = client->told_count; i < client->type_count; i++) {
			size_t length = strlen(client->types[i].text) + 1;

			if (bytes + length > sizeof texts || types.count == ASTERISM_CLIENT_TYPES)
				break;
			memcpy(texts + bytes, client->types[i].text, length);
			bytes += length;
			types.count++;
		}
		parts[0].iov_base = &types;
		parts[0].iov_len = sizeof types;
		parts[1].iov_base = texts;
		parts[1].iov_len = bytes;
		if (asterism_client_send(client->socket.fd, parts, -1) ||
		    asterism_client_await(client, wait_ms, &answer))
			return -1;
		asterism_client_close_all(&answer);
		if (answer.is.head.kind != SENSOR_TAKEN || answer.length != sizeof answer.is.taken + types.count)
			return -1;
		for (uint32_t i = 0; i < types.count; i++) {
			struct asterism_client_type *type = &client->types[client->told_count++];

			type->fault = (uint8_t)answer.is.bytes[sizeof answer.is.taken + i];
			type->told_absent = 0;
		}
	}
	asterism_client_tell_presence(client);
	return 0;
}

/* What the directory sends for our registration. has_area: it has been given ours, and sends none. */
ASTERISM_CLIENT_FUNCTION int asterism_client_take_answer(struct asterism_client *client,
							 struct asterism_client_message *answer, int has_area)
{
	uint32_t gates = has_area ? 0 : 1;
	void *page;

	if (answer->is.head.kind != SENSOR_AREA || answer->length != sizeof answer->is.area ||
	    answer->fd_count != gates + 1 || (has_area && answer->is.area.clock != client->writers->clock) ||
	    !asterism_client_is_sealed(answer->fds[gates], SENSOR_PAGE_BYTES))
		return -1;
	if (!has_area && asterism_client_take_area(client, answer))
		return -1;
	page = asterism_client_map(client->next_gates, SENSOR_PAGE_BYTES, PROT_READ, answer->fds[gates]);
	if (!page)
		return -1;
	client->next_gates = (uint32_t *)page;
	if (has_area)
		return 0;
	struct sensor_message mapped = { SENSOR_MAPPED, SENSOR_PROTOCOL_VERSION };
	struct iovec parts[2] = { { &mapped, sizeof mapped }, { NULL, 0 } };

	asterism_client_keep(&client->area_fd, answer->fds[0]);
	answer->fds[0] = answer->fds[1];
	answer->fd_count = 1;
	return asterism_client_send(client->socket.fd, parts, -1);
}

ASTERISM_CLIENT_FUNCTION int asterism_client_introduce(struct asterism_client *client, uint32_t wait_ms)
{
	struct asterism_client_writers *writers = client->writers;
	int has_area = writers && asterism_client_is_ours(&client->area_fd);
	struct sensor_register request = { { SENSOR_REGISTER, SENSOR_PROTOCOL_VERSION }, 0, 0, 0, 0 };
	struct iovec parts[2] = { { &request, sizeof request }, { NULL, 0 } };
	struct asterism_client_message answer;

	if (writers && !has_area) /* threads write there, and it is nobody's any more */
		return -1;
	if (!has_area && !client->wishes_nothing)
		request.sub_count = asterism_client_given_count();
	if (request.sub_count)
		request.sub_units = SENSOR_SUB_UNITS;
	if (has_area) {
		request.slots = writers->shape.slots;
		request.sub_units = writers->shape.sub_units;
		request.sub_count = writers->shape.sub_count;
		request.types_before = client->type_count;
	}
	if (asterism_client_send(client->socket.fd, parts, has_area ? client->area_fd.fd : -1) ||
	    asterism_client_await(client, wait_ms, &answer))
		return -1;
	int result = asterism_client_take_answer(client, &answer, has_area);

	client->wishes_nothing |= !has_area && request.sub_count && answer.is.head.kind == SENSOR_REFUSED;
	asterism_client_close_all(&answer);
	if (!result && client->is_always) {
		struct sensor_message always = { SENSOR_ALWAYS, SENSOR_PROTOCOL_VERSION };

		parts[0].iov_base = &always;
		parts[0].iov_len = sizeof always;
		result = asterism_client_send(client->socket.fd, parts, -1);
	}
	return result;
}

/*
 * They open as the directory hears of the types. Until then those of before decide: a child's parent's, of whose events
 * none may be missed. They keep their address, as other threads look at them.
 */
ASTERISM_CLIENT_FUNCTION void asterism_client_take_gates(struct asterism_client *client)
{
	uint32_t *next = client->next_gates;

	client->next_gates = NULL;
	if (next && (!client->gates || syscall(SYS_mremap, next, (size_t)SENSOR_PAGE_BYTES, (size_t)SENSOR_PAGE_BYTES,
					       MREMAP_MAYMOVE | MREMAP_FIXED, client->gates) < 0))
		client->gates = next;
}

/* The directory is gone, or there is none. */
ASTERISM_CLIENT_FUNCTION void asterism_client_leave(struct asterism_client *client)
{
	asterism_client_drop(&client->socket);
	client->told_count = 0;
	if (client->is_always && !client->writers && !asterism_client_is_confined(client))
		asterism_client_record(client);
	asterism_client_connect_gates(client);
}

/* Has the socket of a directory there, if one takes the process. */
ASTERISM_CLIENT_FUNCTION void asterism_client_ask(struct asterism_client *client, const char *path, uint32_t wait_ms)
{
	int fd = asterism_client_connect(path);

	client->is_unanswered |= fd < 0 && errno == EAGAIN; /* too many wait there already */
	if (fd >= 0 && !asterism_client_given_path() && !asterism_client_trusts(fd)) {
		close(fd);
		fd = -1;
	}
	if (fd < 0)
		return;
	asterism_client_keep(&client->socket, fd);
	client->told_count = 0;
	if (asterism_client_introduce(client, wait_ms))
		asterism_client_drop(&client->socket);
}

/* Tells of everything that is not told yet, to a directory that has yet to be found, maybe. Returns 0 or -1. */
ASTERISM_CLIENT_FUNCTION int asterism_client_register(struct asterism_client *client, uint32_t wait_ms)
{
	char path[sizeof(((struct sockaddr_un *)0)->sun_path)];

	client->is_unanswered = 0;
	if (asterism_client_is_confined(client)) {
		asterism_client_leave(client);
		return -1;
	}
	for (int i = 0; client->socket.fd < 0 && asterism_client_path(i, path, sizeof path); i++) {
		int had_wishes = !client->wishes_nothing;

		asterism_client_ask(client, path, wait_ms);
		if (client->socket.fd < 0 && had_wishes && client->wishes_nothing)
			asterism_client_ask(client, path, wait_ms);
	}
	if (client->socket.fd < 0 || asterism_client_tell(client, wait_ms)) {
		asterism_client_leave(client);
		return -1;
	}
	asterism_client_begin_to_write(client);
	asterism_client_take_gates(client);
	asterism_client_connect_gates(client);
	return 0;
}

/* A sensor more, of a type that was told of. */
ASTERISM_CLIENT_FUNCTION void asterism_client_go_on(struct asterism_client *client)
{
	asterism_client_tell_presence(client);
	asterism_client_connect_gates(client);
}

#endif
