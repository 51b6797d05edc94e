// SPDX-License-Identifier: BSD-2-Clause
/* An application whose directory is none: it goes on as if no reader looked. */

#include "rig.h"

#include "sensor/packet.h"
#include "sensor/place.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

static int make(off_t bytes)
{
	int fd = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	assert_int_equal(ftruncate(fd, bytes), 0);
	return fd;
}

/* Answers a registration with memory of these sizes, pulls the area away, and says that types are taken. */
static void mislead(int fd, off_t area_bytes, off_t gates_bytes)
{
	struct sensor_area_message area = { .head = { SENSOR_AREA, SENSOR_PROTOCOL_VERSION },
					    .slots = 16,
					    .sub_units = 1024,
					    .sub_count = 16,
					    .clock = 1 };
	struct sensor_taken taken = { .head = { SENSOR_TAKEN, SENSOR_PROTOCOL_VERSION }, .first = 1 };
	struct sensor_sending sending = { .message = &area, .bytes = sizeof area, .fd_count = 2 };
	uint32_t open_gates[16];
	const char fine[SENSOR_TYPES_MAX] = { 0 };
	static struct sensor_packet packet;

	memset(open_gates, 1, sizeof open_gates);
	sending.fds[0] = make(area_bytes);
	sending.fds[1] = make(gates_bytes);
	if (gates_bytes)
		assert_int_equal(pwrite(sending.fds[1], open_gates, sizeof open_gates, 0), sizeof open_gates);
	sensor_packet_send(fd, &sending);
	for (int i = 0; i < 200 && sensor_packet_receive(fd, &packet) >= 0 && packet.is.head.kind != SENSOR_TYPES; i++)
		usleep(1000);
	if (ftruncate(sending.fds[0], 0) == 0)
		packet.fd_count = 0;
	taken.count = packet.is.types.count;
	sensor_packet_send(fd,
			   &(struct sensor_sending){
				   .message = &taken, .bytes = sizeof taken, .text = fine, .text_bytes = taken.count });
	close(sending.fds[0]);
	close(sending.fds[1]);
}

static void expect_calm(off_t area_bytes, off_t gates_bytes)
{
	const char *const arguments[] = { "count", "100", NULL };
	struct rig rig = { 0 };
	struct rig_app app;
	int listening, fd, status;

	snprintf(rig.path, sizeof rig.path, "/tmp/asterism-sensors-%d", (int)getpid());
	setenv(SENSOR_SOCKET_VARIABLE, rig.path, 1);
	listening = sensor_place_listen(rig.path);
	assert_true(listening >= 0);
	rig_start(&app, arguments);
	while ((fd = accept4(listening, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) < 0)
		usleep(1000);
	mislead(fd, area_bytes, gates_bytes);
	usleep(100000);
	close(app.input);
	assert_int_equal(waitpid(app.pid, &status, 0), app.pid);
	assert_int_equal(status, 0);
	fclose(app.output);
	close(fd);
	close(listening);
	unlink(rig.path);
}

static void test_memory(void **state)
{
	struct sensor_shape shape = { 16, 1024, 16 };
	off_t bytes = (off_t)sensor_area_bytes(&shape);

	(void)state;
	expect_calm(bytes, 0);
	expect_calm(bytes, SENSOR_PAGE_BYTES);
	expect_calm(0, SENSOR_PAGE_BYTES);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_memory) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
