/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SENSOR_CLIENT_AREA_H
#define SENSOR_CLIENT_AREA_H

/* The memory that a process raises events in, and what its threads write with. The lock is held throughout. */

#include "sensor/client/socket.h"

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

/* What was raised before there was a ring counts as dropped. */
ASTERISM_CLIENT_FUNCTION void asterism_client_begin_to_write(struct asterism_client *client)
{
	__atomic_fetch_add(&client->writers->slots[0].dropped,
			   __atomic_exchange_n(&client->missed, 0, __ATOMIC_RELAXED), __ATOMIC_RELAXED);
	__atomic_store_n(&client->writers->is_ready, 1, __ATOMIC_RELEASE);
}

/* An event that finds no ring, as this child has none yet: its parent's, in whose area it would be the first one's. */
ASTERISM_CLIENT_FUNCTION void asterism_client_miss(struct asterism_client *client)
{
	char *area = client->inherited ? (char *)__atomic_load_n(&client->area, __ATOMIC_ACQUIRE) : NULL;
	struct sensor_slot *slots = (struct sensor_slot *)(void *)(area ? area + sensor_slots_offset() : NULL);

	__atomic_fetch_add(slots ? &slots->dropped : &client->missed, 1, __ATOMIC_RELAXED);
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
	if (!writers) {
		if (area && !old)
			munmap(area, sensor_area_bytes(&shape));
		if (!area && old) /* what was there may be gone */
			__atomic_store_n(&client->area, (void *)NULL, __ATOMIC_RELEASE);
		return -1;
	}
	mlock(area, sensor_area_bytes(&shape)); /* if it may be */
	__atomic_store_n(&client->area, area, __ATOMIC_RELEASE);
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

#endif
