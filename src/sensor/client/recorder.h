/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SENSOR_CLIENT_RECORDER_H
#define SENSOR_CLIENT_RECORDER_H

/*
 * A flight recorder where no directory is: an area as a directory would have made it, sealed in the same way, so that
 * the first one that comes takes it over as one of before. The lock is held throughout.
 */

#include "sensor/client/area.h"

#ifndef MFD_CLOEXEC
#define MFD_CLOEXEC       1
#define MFD_ALLOW_SEALING 2
#endif

#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 16
#endif

#ifndef F_SEAL_SEAL
#define F_SEAL_SEAL 1
#endif

ASTERISM_CLIENT_FUNCTION int asterism_client_file_has(const char *path, const char *word)
{
	char text[4096];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t length = fd < 0 ? -1 : read(fd, text, sizeof text - 1);

	if (fd >= 0)
		close(fd);
	if (length <= 0)
		return 0;
	text[length] = 0;
	return strstr(text, word) != NULL;
}

/* What a directory here would decide, too: rings keep their clock, and are handed to none that has another. */
ASTERISM_CLIENT_FUNCTION uint32_t asterism_client_clock(void)
{
#if defined(__x86_64__)
	return asterism_client_file_has("/proc/cpuinfo", " constant_tsc") &&
			       asterism_client_file_has("/proc/cpuinfo", " nonstop_tsc") &&
			       asterism_client_file_has(
				       "/sys/devices/system/clocksource/clocksource0/available_clocksource", "tsc")
		       ? RING_CLOCK_TSC
		       : RING_CLOCK_MONOTONIC;
#elif defined(__aarch64__)
	return RING_CLOCK_TSC;
#else
	return RING_CLOCK_MONOTONIC;
#endif
}

/* For who finds it without a directory, in a core: as sensor/memory.c does. */
ASTERISM_CLIENT_FUNCTION void asterism_client_label(const struct asterism_client_writers *writers)
{
	struct sensor_area *area = (struct sensor_area *)(void *)writers->area;
	const struct sensor_shape *shape = &writers->shape;

	area->version = SENSOR_LAYOUT_VERSION;
	area->clock = writers->clock;
	area->pid = (uint32_t)getpid();
	area->uid = (uint32_t)getuid();
	area->bytes = sensor_area_bytes(shape);
	area->slots = shape->slots;
	area->sub_units = shape->sub_units;
	area->sub_count = shape->sub_count;
	area->slots_offset = (uint32_t)sensor_slots_offset();
	area->rings_offset = (uint32_t)sensor_rings_offset(shape);
	area->ring_bytes = (uint32_t)sensor_ring_bytes(shape);
	area->made_ns = asterism_sensor_monotonic_ns();
	area->made_tsc = ring_counter(0);
	area->magic = SENSOR_AREA_MAGIC;
	for (uint32_t i = 0; i < shape->slots; i++)
		writers->items[i].ring.control->form = ring_form(writers->clock, shape->sub_units, shape->sub_count);
}

/* Where there is no memory, or the kernel lacks a seal, the program goes on as if no reader looked. */
ASTERISM_CLIENT_FUNCTION void asterism_client_record(struct asterism_client *client)
{
	const uint32_t wish = asterism_client_given_count();
	const struct sensor_shape shape = { SENSOR_SLOTS, SENSOR_SUB_UNITS, wish ? wish : (uint32_t)SENSOR_SUB_COUNT };
	struct asterism_client_message own;

	memset(&own, 0, sizeof own);
	own.is.area.slots = shape.slots;
	own.is.area.sub_units = shape.sub_units;
	own.is.area.sub_count = shape.sub_count;
	own.is.area.clock = asterism_client_clock();
	own.fds[0] = (int)syscall(SYS_memfd_create, "asterism-sensors", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (own.fds[0] < 0)
		return;
	if (ftruncate(own.fds[0], (off_t)sensor_area_bytes(&shape)) || asterism_client_take_area(client, &own)) {
		close(own.fds[0]);
		return;
	}
	asterism_client_keep(&client->area_fd, own.fds[0]);
	asterism_client_label(client->writers);
	if (!fcntl(client->area_fd.fd, F_ADD_SEALS, F_SEAL_FUTURE_WRITE | F_SEAL_SEAL)) {
		asterism_client_begin_to_write(client);
		return;
	}
	client->is_always = 0;
	asterism_client_drop(&client->area_fd);
	client->writers = NULL;
}

#endif
