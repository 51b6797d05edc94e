// SPDX-License-Identifier: BSD-2-Clause
/*
 * Some clients that send a directory of sensors anything, some of it with descriptors, and come and go. The directory
 * goes on, and when all are gone it has nothing of theirs left but what it keeps of those that have ended.
 *
 * The input is records: client, flags, length (2 bytes), what is sent. Flags: 1 a memfd goes along, 2 it is sealed and
 * of the usual size, 4 the client goes afterwards, 8 it registers first, 16 the head is made right.
 */

#include "sensor/directory.h"
#include "sensor/packet.h"
#include "sensor/place.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { CLIENTS = 4, STEPS_MAX = 64, HEAD = 4 };
enum { WITH_FD = 1, SEALED = 2, GOES = 4, REGISTERS = 8, RIGHT_HEAD = 16 };

static struct sensor_directory *directory;
static char path[64];
static int clients[CLIENTS];

static void promise(bool kept)
{
	if (!kept)
		abort();
}

static void turn(void)
{
	struct sensor_packet packet;

	promise(sensor_directory_dispatch(directory) == 0);
	for (int i = 0; i < CLIENTS; i++) {
		while (clients[i] >= 0 && sensor_packet_receive(clients[i], &packet) == 1)
			sensor_packet_close(&packet);
	}
}

static int make_fd(bool is_sealed)
{
	struct sensor_shape shape = { 2, 256, 2 };
	int fd = memfd_create("fuzz", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (is_sealed && !ftruncate(fd, (off_t)sensor_area_bytes(&shape)))
		fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE | F_SEAL_SEAL);
	return fd;
}

static void register_first(int fd)
{
	struct sensor_register message = { { SENSOR_REGISTER, SENSOR_PROTOCOL_VERSION }, 2, 256, 2, 0 };
	struct sensor_message mapped = { SENSOR_MAPPED, SENSOR_PROTOCOL_VERSION };

	sensor_packet_send(fd, &(struct sensor_sending){ .message = &message, .bytes = sizeof message });
	turn();
	sensor_packet_send(fd, &(struct sensor_sending){ .message = &mapped, .bytes = sizeof mapped });
	turn();
}

static void send_record(const uint8_t *record, size_t length)
{
	static uint8_t bytes[1 << 16];
	uint8_t flags = record[1];
	int *fd = &clients[record[0] % CLIENTS];
	struct sensor_sending sending = { .message = bytes, .bytes = length };

	if (*fd < 0)
		*fd = sensor_place_connect(path);
	if (flags & REGISTERS)
		register_first(*fd);
	memcpy(bytes, record + HEAD, length);
	if (flags & RIGHT_HEAD && length >= sizeof(struct sensor_message))
		memcpy(bytes, &(struct sensor_message){ bytes[0] % SENSOR_KINDS, SENSOR_PROTOCOL_VERSION },
		       sizeof(struct sensor_message));
	if (flags & WITH_FD)
		sending.fds[sending.fd_count++] = make_fd(flags & SEALED);
	sensor_packet_send(*fd, &sending);
	if (flags & WITH_FD)
		close(sending.fds[0]);
	turn();
	if (!(flags & GOES))
		return;
	close(*fd);
	*fd = -1;
	turn();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct sensor_directory_options options = { .path = path };
	struct sensor_directory_stats stats;

	if (!directory) {
		snprintf(path, sizeof path, "/tmp/asterism-fuzz-%d", (int)getpid());
		promise(sensor_directory_open(&options, NULL, &directory) == 0);
	}
	memset(clients, 0xff, sizeof clients); /* -1 */
	for (int i = 0; i < STEPS_MAX && size > HEAD; i++) {
		size_t length = (size_t)(data[2] | data[3] << 8);

		length = length < size - HEAD ? length : size - HEAD;
		send_record(data, length);
		data += HEAD + length;
		size -= HEAD + length;
	}
	for (int i = 0; i < CLIENTS; i++) {
		if (clients[i] >= 0)
			close(clients[i]);
		clients[i] = -1;
	}
	for (int i = 0; i < 4; i++)
		turn();
	sensor_directory_stats(directory, &stats);
	promise(stats.observers == 0 && stats.processes == 0);
	return 0;
}

static __attribute__((destructor)) void end(void)
{
	sensor_directory_close(directory);
}
