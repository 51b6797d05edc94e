// SPDX-License-Identifier: BSD-2-Clause
/* Who gets what where there is not enough for all, and that whoever gets nothing hears why. */

#include "talk.h"

#include "ring/order.h"
#include "sensor/place.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

enum { USER = 65000, USERS = 4, CROWD = 100, OBSERVERS = 8 };

static void become(uint32_t uid)
{
	if (setgid(uid) || setuid(uid) || prctl(PR_SET_PDEATHSIG, SIGKILL))
		_exit(99);
}

/* Waits for the child, whose exit status is returned, and looks after the directory meanwhile. */
static int wait_for(struct rig *rig, pid_t pid)
{
	int status;

	while (waitpid(pid, &status, WNOHANG) == 0)
		rig_until(rig, NULL, 1);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int connect_patiently(const char *path)
{
	int fd;

	while ((fd = sensor_place_connect(path)) == -EAGAIN)
		usleep(100);
	return fd;
}

static void ask(int fd)
{
	struct sensor_observe message = { .head = { SENSOR_OBSERVE, SENSOR_PROTOCOL_VERSION }, .flags = SENSOR_FOLLOW };

	talk_send(fd, &message, sizeof message, &(struct talk_more){ "", 1, 0 });
}

static void apply(int fd)
{
	struct sensor_register message = {
		.head = { SENSOR_REGISTER, SENSOR_PROTOCOL_VERSION }, .slots = 2, .sub_units = 256, .sub_count = 2
	};

	talk_send(fd, &message, sizeof message, NULL);
}

/* What is heard, the directory being another process. */
static int hear_apart(int fd)
{
	for (int i = 0; i < 50000; i++) {
		int result = sensor_packet_receive(fd, &talk_reply);

		if (result)
			return result == 1 ? (int)talk_reply.is.head.kind : result;
		usleep(200);
	}
	return 0;
}

/* Takes all that this user gets, and says so; and again, for ever. */
static _Noreturn void be_greedy(const char *path, int ready)
{
	static int fds[CROWD];

	for (int round = 0;; round++) {
		for (int i = 0; i < CROWD; i++) {
			if (round)
				close(fds[i]);
			fds[i] = connect_patiently(path);
			if (i < 2 * OBSERVERS)
				ask(fds[i]);
			else
				apply(fds[i]);
			hear_apart(fds[i]);
			sensor_packet_close(&talk_reply);
			talk_mapped(fds[i]);
		}
		if (!round && write(ready, "", 1) != 1)
			_exit(1);
		if (round)
			usleep(1000);
	}
}

/* Somebody else, who wants one thing of each kind. */
static _Noreturn void be_modest(const char *path)
{
	int reader = connect_patiently(path), application = connect_patiently(path);

	ask(reader);
	if (hear_apart(reader) != SENSOR_CLOCK)
		_exit(1);
	apply(application);
	if (hear_apart(application) != SENSOR_AREA)
		_exit(2);
	talk_mapped(application);
	/* What it has got it keeps, whoever comes. */
	usleep(300000);
	while (sensor_packet_receive(reader, &talk_reply) == 1)
		if (talk_reply.is.head.kind == SENSOR_REFUSED)
			_exit(3);
	_exit(sensor_packet_receive(application, &talk_reply) ? 4 : 0);
}

static void test_greedy_users(void **state)
{
	struct rig rig = { 0 };
	pid_t greedy[USERS];
	int ready[2], count = 0;
	char byte;

	(void)state;
	if (geteuid())
		skip();
	rig_open(&rig, NULL);
	assert_int_equal(pipe2(ready, O_NONBLOCK), 0);
	for (int i = 0; i < USERS; i++) {
		greedy[i] = fork();
		if (greedy[i] == 0) {
			become(USER + (uint32_t)i);
			be_greedy(rig.path, ready[1]);
		}
	}
	for (int i = 0; i < 60000 && count < USERS; i++) {
		rig_until(&rig, NULL, 1);
		count += read(ready[0], &byte, 1) == 1;
	}
	assert_int_equal(count, USERS);
	for (int i = 0; i < 3; i++) {
		pid_t pid = fork();

		if (pid == 0) {
			become(USER + 100 + (uint32_t)i);
			be_modest(rig.path);
		}
		assert_int_equal(wait_for(&rig, pid), 0);
	}
	for (int i = 0; i < USERS; i++) {
		kill(greedy[i], SIGKILL);
		waitpid(greedy[i], NULL, 0);
	}
	close(ready[0]);
	close(ready[1]);
	rig_close(&rig);
}

/* As uid: so many areas. Says whether it has all of them, and keeps them. */
static _Noreturn void take_areas(const char *path, uint32_t uid, int count, int ready)
{
	struct sensor_register message = { { SENSOR_REGISTER, SENSOR_PROTOCOL_VERSION }, 16, 0, 0, 0 };
	char has_all = 1;

	become(uid);
	while (count--) {
		int fd = connect_patiently(path);

		talk_send(fd, &message, sizeof message, NULL);
		has_all &= hear_apart(fd) == SENSOR_AREA;
		sensor_packet_close(&talk_reply);
		talk_mapped(fd);
	}
	if (write(ready, &has_all, 1) != 1)
		_exit(1);
	for (;;)
		pause();
}

static bool has_two(const struct rig *rig)
{
	struct sensor_directory_stats stats;

	sensor_directory_stats(rig->directory, &stats);
	return stats.processes == 2;
}

/* All bytes there are: who has most gives way. */
static void test_bytes(void **state)
{
	struct sensor_directory_options options = { .all_bytes_max = 5 << 20 };
	struct sensor_directory_stats stats;
	struct rig rig = { 0 };
	pid_t pids[2];
	int ready[2];

	(void)state;
	if (geteuid())
		skip();
	rig_open(&rig, &options);
	assert_int_equal(pipe2(ready, O_NONBLOCK), 0);
	for (uint32_t i = 0; i < 2; i++) {
		char has_all = 0;

		pids[i] = fork();
		if (pids[i] == 0)
			take_areas(rig.path, USER + i, i ? 1 : 2, ready[1]);
		for (int j = 0; j < 60000 && read(ready[0], &has_all, 1) != 1; j++)
			rig_until(&rig, NULL, 1);
		assert_true(has_all);
	}
	assert_true(rig_until(&rig, has_two, 60000));
	sensor_directory_stats(rig.directory, &stats);
	assert_int_equal(stats.displaced, 1);
	assert_in_range(stats.bytes, 1, 5 << 20);
	for (int i = 0; i < 2; i++) {
		kill(pids[i], SIGKILL);
		waitpid(pids[i], NULL, 0);
	}
	close(ready[0]);
	close(ready[1]);
	rig_close(&rig);
}

/* One reader more than a user may have hears why. */
static void test_refused_reader(void **state)
{
	struct rig rig = { 0 };
	pid_t pid;

	(void)state;
	if (geteuid())
		skip();
	rig_open(&rig, NULL);
	pid = fork();
	if (pid == 0) {
		struct sensor_observer *observer;
		struct sensor_notice notice;
		int result;

		become(USER);
		for (int i = 0; i < OBSERVERS; i++) {
			int fd = connect_patiently(rig.path);

			ask(fd);
			if (hear_apart(fd) != SENSOR_CLOCK)
				_exit(1);
		}
		if (sensor_observer_open(rig.path, NULL, NULL, &observer))
			_exit(2);
		result = sensor_observer_ask(observer, "", 0);
		if (!result)
			result = sensor_observer_next(observer, 5000, &notice);
		_exit(result == -EDQUOT && strstr(sensor_observer_reason(observer, result), "limit of sensor readers")
			      ? 0
			      : 3);
	}
	assert_int_equal(wait_for(&rig, pid), 0);
	rig_close(&rig);
}

/* Whoever has not mapped yet has not registered. */
static void test_registered(void **state)
{
	struct sensor_directory_stats stats;
	struct rig rig = { 0 };

	(void)state;
	rig_open(&rig, NULL);
	int fd = talk_meet(&rig);

	assert_int_equal(talk_register(&rig, fd, 0), SENSOR_AREA);
	sensor_directory_stats(rig.directory, &stats);
	assert_int_equal(stats.registered, 0);
	sensor_packet_close(&talk_reply);
	talk_mapped(fd);
	rig_turn(&rig);
	sensor_directory_stats(rig.directory, &stats);
	assert_int_equal(stats.registered, 1);
	close(fd);
	rig_close(&rig);
}

static void send_process(int fd, uint64_t number, int area)
{
	struct sensor_process process = { .head = { SENSOR_PROCESS, SENSOR_PROTOCOL_VERSION },
					  .number = number,
					  .pid = 1,
					  .slots = 2,
					  .sub_units = 256,
					  .sub_count = 2,
					  .comm = "x" };

	talk_send(fd, &process, sizeof process, &(struct talk_more){ NULL, 0, area });
}

/* A directory whose second process has memory of another size than it says. Returns the end of its socket. */
static int serve_badly(const char *path, int listening)
{
	struct sensor_shape shape = { 2, 256, 2 };
	struct sensor_ended end = { .head = { SENSOR_END, SENSOR_PROTOCOL_VERSION } };
	int fd = accept(listening, NULL, NULL);

	(void)path;
	for (uint64_t i = 1; i <= 3; i++) {
		int area = memfd_create("area", MFD_CLOEXEC | MFD_ALLOW_SEALING);

		assert_int_equal(ftruncate(area, i == 2 ? 4096 : (off_t)sensor_area_bytes(&shape)), 0);
		assert_int_equal(fcntl(area, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW), 0);
		send_process(fd, i, area);
		close(area);
	}
	talk_send(fd, &end, sizeof end, NULL);
	return fd;
}

/* What cannot be mapped is that process's misfortune alone. */
static void test_unmapped(void **state)
{
	char path[] = "/tmp/asterism-unmapped-XXXXXX";
	struct sensor_observer *observer;
	struct sensor_notice notice;

	(void)state;
	assert_true(close(mkstemp(path)) == 0 && unlink(path) == 0);
	int listening = sensor_place_listen(path);

	assert_true(listening >= 0);
	assert_int_equal(sensor_observer_open(path, NULL, NULL, &observer), 0);
	assert_int_equal(sensor_observer_ask(observer, "", SENSOR_AREAS), 0);
	int fd = serve_badly(path, listening);

	for (uint64_t i = 1; i <= 3; i++) {
		assert_int_equal(sensor_observer_next(observer, 0, &notice), 1);
		assert_int_equal(notice.number, i);
		assert_int_equal(notice.fault, i == 2 ? -EBADMSG : 0);
		assert_int_equal(notice.area != NULL, i != 2);
		sensor_mapping_free(notice.area);
	}
	assert_int_equal(sensor_observer_next(observer, 0, &notice), 1);
	assert_int_equal(notice.kind, SENSOR_END);
	sensor_observer_close(observer);
	close(fd);
	close(listening);
	unlink(path);
}

/* The same for want of descriptors. */
static void test_no_descriptors(void **state)
{
	char path[] = "/tmp/asterism-unmapped-XXXXXX";
	struct rlimit before, none;
	struct sensor_observer *observer;
	struct sensor_notice notice;

	(void)state;
	assert_true(close(mkstemp(path)) == 0 && unlink(path) == 0);
	int listening = sensor_place_listen(path);

	assert_true(listening >= 0);
	assert_int_equal(sensor_observer_open(path, NULL, NULL, &observer), 0);
	assert_int_equal(sensor_observer_ask(observer, "", SENSOR_AREAS), 0);
	int fd = serve_badly(path, listening);

	getrlimit(RLIMIT_NOFILE, &before);
	none = before;
	none.rlim_cur = 3;
	setrlimit(RLIMIT_NOFILE, &none);
	for (uint64_t i = 1; i <= 3; i++) {
		assert_int_equal(sensor_observer_next(observer, 0, &notice), 1);
		assert_int_equal(notice.number, i);
		assert_int_equal(notice.fault, -EMFILE);
		assert_null(notice.area);
	}
	assert_int_equal(sensor_observer_next(observer, 0, &notice), 1);
	setrlimit(RLIMIT_NOFILE, &before);
	assert_int_equal(notice.kind, SENSOR_END);
	sensor_observer_close(observer);
	close(fd);
	close(listening);
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_greedy_users),   cmocka_unit_test(test_bytes),
		cmocka_unit_test(test_refused_reader), cmocka_unit_test(test_registered),
		cmocka_unit_test(test_unmapped),       cmocka_unit_test(test_no_descriptors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
