// SPDX-License-Identifier: BSD-2-Clause
/* Messages whose descriptors do not all come: by whose fault. */

#include "sensor/packet.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cmocka.h>

static const struct sensor_message hello = { SENSOR_REGISTER, SENSOR_PROTOCOL_VERSION };

static void send_fds(int to, size_t count)
{
	struct iovec part = { (void *)&hello, sizeof hello };
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(3 * sizeof(int))];
	} control = { 0 };
	struct msghdr message = { .msg_iov = &part,
				  .msg_iovlen = 1,
				  .msg_control = &control,
				  .msg_controllen = CMSG_SPACE(count * sizeof(int)) };

	control.header.cmsg_level = SOL_SOCKET;
	control.header.cmsg_type = SCM_RIGHTS;
	control.header.cmsg_len = CMSG_LEN(count * sizeof(int));
	for (size_t i = 0; i < count; i++)
		memcpy(CMSG_DATA(&control.header) + i * sizeof(int), &to, sizeof(int));
	assert_int_equal(sendmsg(to, &message, 0), sizeof hello);
}

/* What the receiver says of so many descriptors, where it has room for so many more of its own. */
static int received(size_t count, int room)
{
	static struct sensor_packet packet;
	struct rlimit before, limit;
	int pair[2], result;

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair), 0);
	send_fds(pair[0], count);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	limit = before;
	limit.rlim_cur = (rlim_t)(pair[1] + 1 + room);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	result = sensor_packet_receive(pair[1], &packet);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_int_equal(packet.fd_count, result == 1 ? count : 0);
	sensor_packet_close(&packet);
	close(pair[0]);
	close(pair[1]);
	return result;
}

static void test_descriptors(void **state)
{
	(void)state;
	assert_int_equal(received(SENSOR_PACKET_FDS, SENSOR_PACKET_FDS), 1);
	assert_int_equal(received(SENSOR_PACKET_FDS, 0), -EMFILE);
	assert_int_equal(received(SENSOR_PACKET_FDS, 1), -EMFILE);
	assert_int_equal(received(SENSOR_PACKET_FDS + 1, SENSOR_PACKET_FDS + 1), -EBADMSG);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_descriptors) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
