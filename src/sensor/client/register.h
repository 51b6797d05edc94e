/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SENSOR_CLIENT_REGISTER_H
#define SENSOR_CLIENT_REGISTER_H

/* How a process registers with a directory, and with the next one when that is gone. The lock is held throughout. */

#include "sensor/client/socket.h"
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
		    asterism_client_receive(client->socket.fd, wait_ms, &answer) != 1)
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

/* Maps so that what was at that address is replaced, if anything was. */
ASTERISM_CLIENT_FUNCTION void *asterism_client_map(void *old, size_t bytes, int protection, int fd)
{
	void *memory = mmap(old, bytes, protection, MAP_SHARED | MAP_POPULATE | (old ? MAP_FIXED : 0), fd, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

ASTERISM_CLIENT_FUNCTION struct asterism_client_writers *asterism_client_make_writers(void)
{
	void *memory = mmap(NULL, sizeof(struct asterism_client_writers), PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	if (memory == MAP_FAILED)
		return NULL;
	madvise(memory, sizeof(struct asterism_client_writers), MADV_WIPEONFORK);
	return (struct asterism_client_writers *)memory;
}

/* Whether it has so many bytes, and keeps them: what is mapped of it cannot go away. */
ASTERISM_CLIENT_FUNCTION int asterism_client_is_sealed(int fd, uint64_t bytes)
{
	int seals = fcntl(fd, F_GET_SEALS);
	struct stat status;

	return seals >= 0 && (seals & F_SEAL_SHRINK) && !fstat(fd, &status) && status.st_size >= 0 &&
	       (uint64_t)status.st_size == bytes;
}

/* A new area: mapped, and a writer for each of its rings. */
ASTERISM_CLIENT_FUNCTION int asterism_client_take_area(struct asterism_client *client,
						       const struct asterism_client_message *answer)
{
	const struct sensor_area_message *said = &answer->is.area;
	struct sensor_shape shape = { said->slots, said->sub_units, said->sub_count };
	struct asterism_client_writers *writers;

	if (!sensor_shape_is_valid(&shape) || said->clock >= RING_CLOCKS ||
	    fcntl(answer->fds[0], F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) ||
	    !asterism_client_is_sealed(answer->fds[0], sensor_area_bytes(&shape)))
		return -1;
	/* A parent's area, of which a child may hold an event that it will never commit. */
	void *old = client->area_bytes == sensor_area_bytes(&shape) ? client->area : NULL;
	void *area = asterism_client_map(old, sensor_area_bytes(&shape), PROT_READ | PROT_WRITE, answer->fds[0]);

	writers = area ? asterism_client_make_writers() : NULL;
	if (!writers)
		return -1;
	mlock(area, sensor_area_bytes(&shape)); /* if it may be */
	client->area = area;
	client->area_bytes = sensor_area_bytes(&shape);
	writers->area = (char *)area;
	writers->shape = shape;
	writers->clock = said->clock;
	writers->own = shape.slots - (shape.slots + ASTERISM_CLIENT_BORROWED - 1) / ASTERISM_CLIENT_BORROWED;
	writers->slots = (struct sensor_slot *)(void *)(writers->area + sensor_slots_offset());
	for (uint32_t i = 0; i < shape.slots; i++) {
		char *ring = writers->area + sensor_ring_offset(&shape, i);

		ring_exclusive_init(&writers->items[i].ring, (struct ring_control *)(void *)ring,
				    (uint64_t *)(void *)(ring + sensor_data_offset(&shape)), shape.sub_units,
				    shape.sub_count);
		writers->items[i].clock = said->clock;
	}
	__atomic_store_n(&client->writers, writers, __ATOMIC_RELEASE);
	return 0;
}

/* What the directory sends for our registration. has_area: it has been given ours, and sends none. */
ASTERISM_CLIENT_FUNCTION int asterism_client_take_answer(struct asterism_client *client,
							 struct asterism_client_message *answer, int has_area)
{
	uint32_t gates = has_area ? 0 : 1;
	void *page;

	if (answer->is.head.kind != SENSOR_AREA || answer->length != sizeof answer->is.area ||
	    answer->fd_count != gates + 1 || !asterism_client_is_sealed(answer->fds[gates], SENSOR_PAGE_BYTES))
		return -1;
	if (!has_area && asterism_client_take_area(client, answer))
		return -1;
	page = asterism_client_map(client->gates, SENSOR_PAGE_BYTES, PROT_READ, answer->fds[gates]);
	if (!page)
		return -1;
	client->gates = (uint32_t *)page;
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
	if (has_area) {
		request.slots = writers->shape.slots;
		request.sub_units = writers->shape.sub_units;
		request.sub_count = writers->shape.sub_count;
		request.types_before = client->type_count;
	}
	if (asterism_client_send(client->socket.fd, parts, has_area ? client->area_fd.fd : -1) ||
	    asterism_client_receive(client->socket.fd, wait_ms, &answer) != 1)
		return -1;
	int result = asterism_client_take_answer(client, &answer, has_area);

	asterism_client_close_all(&answer);
	return result;
}

/* The directory is gone. */
ASTERISM_CLIENT_FUNCTION void asterism_client_leave(struct asterism_client *client)
{
	asterism_client_connect_gates(client, 0);
	asterism_client_drop(&client->socket);
	client->told_count = 0;
}

/* Tells of everything that is not told yet, to a directory that has yet to be found, maybe. Returns 0 or -1. */
ASTERISM_CLIENT_FUNCTION int asterism_client_register(struct asterism_client *client, uint32_t wait_ms)
{
	char path[sizeof(((struct sockaddr_un *)0)->sun_path)];

	if (asterism_client_is_confined(client)) {
		asterism_client_leave(client);
		return -1;
	}
	for (int i = 0; client->socket.fd < 0 && asterism_client_path(i, path, sizeof path); i++) {
		int fd = asterism_client_connect(path);

		if (fd >= 0 && !asterism_client_given(SENSOR_SOCKET_VARIABLE) && !asterism_client_trusts(fd)) {
			close(fd);
			fd = -1;
		}
		if (fd < 0)
			continue;
		asterism_client_keep(&client->socket, fd);
		client->told_count = 0;
		if (asterism_client_introduce(client, wait_ms))
			asterism_client_drop(&client->socket);
	}
	if (client->socket.fd < 0 || asterism_client_tell(client, wait_ms)) {
		asterism_client_leave(client);
		return -1;
	}
	__atomic_fetch_add(&client->writers->slots[0].dropped,
			   __atomic_exchange_n(&client->missed, 0, __ATOMIC_RELAXED), __ATOMIC_RELAXED);
	__atomic_store_n(&client->writers->is_ready, 1, __ATOMIC_RELEASE);
	asterism_client_connect_gates(client, 1);
	return 0;
}

/* A sensor more, of a type that was told of. */
ASTERISM_CLIENT_FUNCTION void asterism_client_go_on(struct asterism_client *client)
{
	asterism_client_tell_presence(client);
	asterism_client_connect_gates(client, 1);
}

#endif
