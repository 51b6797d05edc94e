// SPDX-License-Identifier: BSD-2-Clause
/* The directory and clients that mean it no good, or only are slow, greedy or somebody else. */

#include "talk.h"

#include "sensor/catalog.h"
#include "sensor/packet.h"
#include "sensor/place.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

static const char type_a[] = "EVENT a \"one\" { x: u32 UNIT \"\" \"\", s: string[16] UNIT \"\" \"\" }";

static void test_texts(void **state)
{
	static const char *const wrong[] = {
		"",
		"EVENT",
		"EVENT b",
		"EVENT b {",
		"EVENT b { x: u3 }",
		"EVENT b {} EVENT c {}",
		"EVENTS \"linux.events\"",
		"EVENT b {} FROM sched:sched_switch {}",
		"SYSCALL 1 b {}",
		"# comment\nEVENT b {}",
		"EVENT b { pid: u32 }",
		"EVENT b {} EVENTS \"/etc/passwd\"",
		"EVENT b { x: u32, x: u32 }",
		"\xff\xfe",
	};
	struct rig rig = { 0 };
	uint32_t next = 1;

	(void)state;
	rig_open(&rig, NULL);
	int fd = talk_join(&rig);

	assert_int_equal(talk_type(&rig, fd, next++, type_a), SENSOR_FINE);
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
		assert_int_equal(talk_type(&rig, fd, next++, wrong[i]), SENSOR_IS_WRONG);
	assert_int_equal(talk_type(&rig, fd, next++, "EVENT a {}"), SENSOR_IS_KNOWN);
	assert_int_equal(talk_type(&rig, fd, next++, "EVENT big { s: string[2048] }"), SENSOR_IS_TOO_LARGE);
	assert_int_equal(talk_type(&rig, fd, next++, "EVENT fine {}"), SENSOR_FINE);
	close(fd);
	rig_close(&rig);
}

static void say_presence(struct rig *rig, int fd, uint32_t id, bool is_absent)
{
	struct sensor_presence message = { { SENSOR_PRESENCE, SENSOR_PROTOCOL_VERSION }, id, is_absent };

	talk_send(fd, &message, sizeof message, NULL);
	rig_turn(rig);
}

/* A name is free while its type is absent, and a type cannot come back where another has its name. */
static void test_presence(void **state)
{
	static const uint32_t wrong[] = { 0, 4, UINT32_MAX };
	struct rig rig = { 0 };

	(void)state;
	rig_open(&rig, NULL);
	int fd = talk_join(&rig);

	assert_int_equal(talk_type(&rig, fd, 1, type_a), SENSOR_FINE);
	assert_int_equal(talk_type(&rig, fd, 2, "EVENT a {}"), SENSOR_IS_KNOWN);
	say_presence(&rig, fd, 1, true);
	assert_int_equal(talk_type(&rig, fd, 3, "EVENT a { b: u8 }"), SENSOR_FINE);
	say_presence(&rig, fd, 2, false);
	say_presence(&rig, fd, 1, false);
	say_presence(&rig, fd, 3, true);
	assert_int_equal(talk_type(&rig, fd, 4, "EVENT a {}"), SENSOR_FINE);
	close(fd);
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		fd = talk_join(&rig);
		assert_int_equal(talk_type(&rig, fd, 1, type_a), SENSOR_FINE);
		say_presence(&rig, fd, wrong[i], true);
		assert_int_equal(talk_hear(&rig, fd), -EPIPE);
		close(fd);
	}
	rig_close(&rig);
}

/* Who joins as itself or, is_always, as a flight recorder, and whose gates of then are mapped. */
static int join_with_gates(struct rig *rig, bool is_always, const uint32_t **gates)
{
	struct sensor_message always = { SENSOR_ALWAYS, SENSOR_PROTOCOL_VERSION };
	int fd = talk_meet(rig);

	assert_int_equal(talk_register(rig, fd, 0), SENSOR_AREA);
	assert_int_equal(talk_reply.fd_count, 2);
	*gates = mmap(NULL, SENSOR_PAGE_BYTES, PROT_READ, MAP_SHARED, talk_reply.fds[1], 0);
	assert_ptr_not_equal(*gates, MAP_FAILED);
	sensor_packet_close(&talk_reply);
	talk_mapped(fd);
	if (is_always)
		talk_send(fd, &always, sizeof always, NULL);
	assert_int_equal(talk_type(rig, fd, 1, type_a), SENSOR_FINE);
	return fd;
}

/* A directory that ends closes what it opened. What an application wants itself stays open until it notices. */
static void test_end(void **state)
{
	const struct sensor_directory_options options = { .always = true };
	const uint32_t *recorder, *other;
	struct rig rig = { 0 };

	(void)state;
	rig_open(&rig, &options);
	int recorders = join_with_gates(&rig, true, &recorder), others = join_with_gates(&rig, false, &other);

	assert_int_equal(recorder[1], SENSOR_GATE_ALWAYS);
	assert_int_equal(other[1], SENSOR_GATE_ALWAYS);
	rig_close(&rig);
	assert_int_equal(recorder[1], SENSOR_GATE_ALWAYS);
	assert_int_equal(other[1], 0);
	assert_int_equal(munmap((void *)(uintptr_t)recorder, SENSOR_PAGE_BYTES), 0);
	assert_int_equal(munmap((void *)(uintptr_t)other, SENSOR_PAGE_BYTES), 0);
	close(recorders);
	close(others);
}

/* Whether readers are told of an application. */
static bool is_listed(struct rig *rig)
{
	rig_observe(rig, "", SENSOR_ENDED_TOO | SENSOR_AREAS);
	return rig->process_count != 0;
}

/* An application that changes the size of its memory before that is sealed is no one that readers meet. */
static void test_resized(void **state)
{
	static const off_t sizes[] = { 0, 4096, 64 << 20 };

	(void)state;
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		struct rig rig = { 0 };
		struct sensor_directory_stats stats;

		rig_open(&rig, NULL);
		int fd = talk_meet(&rig);

		assert_int_equal(talk_register(&rig, fd, 0), SENSOR_AREA);
		assert_int_equal(ftruncate(talk_reply.fds[0], sizes[i]), 0);
		sensor_packet_close(&talk_reply);
		talk_mapped(fd);
		assert_int_equal(talk_hear(&rig, fd), -EPIPE);
		sensor_directory_stats(rig.directory, &stats);
		assert_int_equal(stats.malformed, 1);
		assert_false(is_listed(&rig));
		close(fd);
		rig_close(&rig);
	}
}

/* Sends nonsense. It is sent away; who behaves is not disturbed. */
static void test_nonsense(void **state)
{
	struct rig rig = { 0 };
	struct sensor_directory_stats stats;

	(void)state;
	rig_open(&rig, NULL);
	int good = talk_join(&rig);

	srand(7);
	for (int i = 0; i < 500; i++) {
		int fd = talk_meet(&rig);
		char bytes[512];
		size_t length = (size_t)rand() % sizeof bytes;

		for (size_t j = 0; j < length; j++)
			bytes[j] = (char)rand();
		if (i % 2) { /* something that looks like a message */
			struct sensor_message head = { (uint32_t)rand() % (SENSOR_KINDS + 1), SENSOR_PROTOCOL_VERSION };

			memcpy(bytes, &head, sizeof head);
			length = sizeof head + (size_t)rand() % 64;
		}
		if (i % 4 == 1) { /* behind a good beginning */
			talk_register(&rig, fd, 0);
			sensor_packet_close(&talk_reply);
		}
		send(fd, bytes, length, MSG_NOSIGNAL);
		rig_turn(&rig);
		rig_turn(&rig);
		close(fd);
	}
	rig_turn(&rig);
	assert_int_equal(talk_type(&rig, good, 1, type_a), SENSOR_FINE);
	sensor_directory_stats(rig.directory, &stats);
	assert_int_equal(stats.processes, 1);
	assert_true(stats.malformed > 100);
	close(good);
	rig_close(&rig);
}

static void test_shapes(void **state)
{
	static const uint32_t wrong[] = { 1, 257, UINT32_MAX };
	struct rig rig = { 0 };

	(void)state;
	rig_open(&rig, NULL);
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		int fd = talk_meet(&rig);

		assert_int_equal(talk_register(&rig, fd, wrong[i]), SENSOR_REFUSED);
		assert_int_equal(talk_hear(&rig, fd), -EPIPE);
		close(fd);
	}
	rig_close(&rig);
}

static void test_quota(void **state)
{
	struct sensor_directory_options options = { .user_bytes_max = 5 << 20 };
	struct rig rig = { 0 };
	int fds[3];

	(void)state;
	rig_open(&rig, &options);
	rig_observe(&rig, "a", SENSOR_FOLLOW);
	for (int i = 0; i < 3; i++) {
		fds[i] = talk_meet(&rig);
		assert_int_equal(talk_register(&rig, fds[i], 0), i < 2 ? SENSOR_AREA : SENSOR_REFUSED);
		if (i == 2)
			assert_int_equal(talk_reply.is.refused.error, -EDQUOT);
		sensor_packet_close(&talk_reply);
		talk_mapped(fds[i]);
		rig_turn(&rig);
	}
	assert_int_equal(rig.left_out, 1); /* its types, which nobody knows, might have been meant */
	close(fds[2]);
	fds[2] = talk_meet(&rig); /* it comes again and again, and that is told once */
	assert_int_equal(talk_register(&rig, fds[2], 0), SENSOR_REFUSED);
	rig_turn(&rig);
	assert_int_equal(rig.left_out, 1);
	close(fds[2]);
	close(fds[0]); /* what has ended gives way */
	rig_turn(&rig);
	fds[0] = talk_meet(&rig);
	assert_int_equal(talk_register(&rig, fds[0], 0), SENSOR_AREA);
	sensor_packet_close(&talk_reply);
	close(fds[0]);
	close(fds[1]);
	rig_close(&rig);
}

/* What is handed over must be an area, sealed. */
static void test_handed_over(void **state)
{
	struct sensor_register message = { .head = { SENSOR_REGISTER, SENSOR_PROTOCOL_VERSION }, .slots = 16 };
	struct sensor_shape shape = { 16, 1024, 16 };
	struct rig rig = { 0 };

	(void)state;
	rig_open(&rig, NULL);
	for (int i = 0; i < 3; i++) {
		int fd = talk_meet(&rig), area = memfd_create("area", MFD_ALLOW_SEALING);

		assert_int_equal(ftruncate(area, i == 1 ? 4096 : (off_t)sensor_area_bytes(&shape)), 0);
		if (i) /* the first one is not sealed, the second one too small */
			assert_int_equal(fcntl(area, F_ADD_SEALS, 0xf | 0x10), 0);
		talk_send(fd, &message, sizeof message, &(struct talk_more){ NULL, 0, area });
		assert_int_equal(talk_hear(&rig, fd), 1);
		assert_int_equal(talk_reply.is.head.kind, i == 2 ? SENSOR_AREA : SENSOR_REFUSED);
		sensor_packet_close(&talk_reply);
		close(area);
		close(fd);
	}
	rig_close(&rig);
}

/* Opening a file for reading waits for who holds a lease on it: 45 s. */
static void test_leased(void **state)
{
	struct sensor_shape shape = { .slots = 16, .sub_units = 1024, .sub_count = 16 };
	struct sensor_register message = { { SENSOR_REGISTER, SENSOR_PROTOCOL_VERSION }, 16, 1024, 16, 0 };
	int made = memfd_create("leased", MFD_CLOEXEC | MFD_ALLOW_SEALING), area;
	struct rig rig = { 0 };
	char path[32];

	(void)state;
	assert_int_equal(ftruncate(made, (off_t)sensor_area_bytes(&shape)), 0);
	assert_int_equal(fcntl(made, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE | F_SEAL_SEAL), 0);
	snprintf(path, sizeof path, "/proc/self/fd/%d", made);
	area = open(path, O_RDWR | O_CLOEXEC); /* as a file that is open once */
	close(made);
	signal(SIGIO, SIG_IGN);
	if (area < 0 || fcntl(area, F_SETLEASE, F_WRLCK))
		skip();
	rig_open(&rig, NULL);
	int fd = talk_meet(&rig);
	time_t start = time(NULL);

	talk_send(fd, &message, sizeof message, &(struct talk_more){ .fd = area });
	assert_int_equal(talk_hear(&rig, fd), 1);
	assert_int_equal(talk_reply.is.head.kind, SENSOR_REFUSED);
	assert_in_range(time(NULL) - start, 0, 10);
	close(area);
	close(fd);
	rig_close(&rig);
}

/* Memory that was mapped to write stays so; nothing else can be made of it. */
static void test_seals(void **state)
{
	struct sensor_shape shape = { 16, 1024, 16 };
	uint64_t bytes = sensor_area_bytes(&shape);
	struct rig rig = { 0 };

	(void)state;
	rig_open(&rig, NULL);
	int fd = talk_meet(&rig);

	assert_int_equal(talk_register(&rig, fd, 0), SENSOR_AREA);
	assert_int_equal(talk_reply.fd_count, 2);
	char *area = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, talk_reply.fds[0], 0);

	assert_ptr_not_equal(area, MAP_FAILED);
	talk_mapped(fd);
	rig_turn(&rig);
	area[bytes - 1] = 1;
	assert_int_equal(ftruncate(talk_reply.fds[0], 0), -1);
	assert_int_equal(write(talk_reply.fds[0], "x", 1), -1);
	assert_ptr_equal(mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, talk_reply.fds[0], 0), MAP_FAILED);
	assert_ptr_equal(mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, talk_reply.fds[1], 0), MAP_FAILED);
	munmap(area, bytes);
	sensor_packet_close(&talk_reply);
	close(fd);
	rig_close(&rig);
}

/* Who maps and does not say so, or connects and says nothing, is sent away after a while; who waits for nothing is not.
 */
static void test_slow(void **state)
{
	struct sensor_directory_stats stats;
	struct rig rig = { 0 };

	(void)state;
	rig_open(&rig, NULL);
	int idle = talk_meet(&rig), half = talk_meet(&rig), good = talk_join(&rig);

	assert_int_equal(talk_register(&rig, half, 0), SENSOR_AREA);
	sensor_packet_close(&talk_reply);
	rig_until(&rig, NULL, 7500);
	sensor_directory_stats(rig.directory, &stats);
	assert_int_equal(stats.slow, 2);
	assert_int_equal(stats.processes, 1);
	assert_int_equal(talk_type(&rig, good, 1, type_a), SENSOR_FINE);
	close(idle);
	close(half);
	close(good);
	rig_close(&rig);
}

/* Users see their own processes, root all. */
static void test_rights(void **state)
{
	struct rig rig = { 0 };
	pid_t pid;
	int status;

	(void)state;
	if (geteuid())
		skip();
	rig_open(&rig, NULL);
	int fd = talk_join(&rig);

	assert_int_equal(talk_type(&rig, fd, 1, type_a), SENSOR_FINE);
	rig_observe(&rig, "a", SENSOR_AREAS);
	assert_int_equal(rig.process_count, 1);
	pid = fork();
	if (pid == 0) {
		struct sensor_observer *observer;
		struct sensor_notice notice;

		if (setgid(65534) || setuid(65534) || sensor_observer_open(rig.path, NULL, NULL, &observer) ||
		    sensor_observer_ask(observer, "*", SENSOR_AREAS | SENSOR_OPEN))
			_exit(2);
		_exit(sensor_observer_next(observer, 5000, &notice) == 1 && notice.kind == SENSOR_END ? 0 : 1);
	}
	while (waitpid(pid, &status, WNOHANG) == 0)
		rig_until(&rig, NULL, 1);
	assert_int_equal(status, 0);
	close(fd);
	rig_close(&rig);
}

/* As somebody else: connects, and asks with as many as it gets. Returns how many are observers. */
static int crowd(const char *path)
{
	static int fds[400];
	int asking = 0;

	for (size_t i = 0; i < sizeof fds / sizeof *fds; i++) {
		struct sensor_observe message = { .head = { SENSOR_OBSERVE, SENSOR_PROTOCOL_VERSION },
						  .flags = SENSOR_FOLLOW };

		while ((fds[i] = sensor_place_connect(path)) == -EAGAIN)
			usleep(100);
		talk_send(fds[i], &message, sizeof message, &(struct talk_more){ "", 1, 0 });
	}
	usleep(300000);
	for (size_t i = 0; i < sizeof fds / sizeof *fds; i++)
		asking += sensor_packet_receive(fds[i], &talk_reply) == 1 && talk_reply.is.head.kind != SENSOR_REFUSED;
	return asking;
}

/* However many clients a user has, there is room for root. */
static void test_crowd(void **state)
{
	struct rig rig = { 0 };
	int pipes[2], asking = 0;
	pid_t pid;

	(void)state;
	if (geteuid())
		skip();
	rig_open(&rig, NULL);
	assert_int_equal(pipe2(pipes, O_NONBLOCK), 0);
	pid = fork();
	if (pid == 0) {
		if (setgid(65534) || setuid(65534))
			_exit(2);
		asking = crowd(rig.path);
		if (write(pipes[1], &asking, sizeof asking) < 0)
			_exit(2);
		for (;;)
			pause();
	}
	for (int i = 0; i < 2000 && read(pipes[0], &asking, sizeof asking) < 0; i++)
		rig_until(&rig, NULL, 1);
	assert_int_equal(asking, 8);
	int fd = talk_join(&rig);

	rig_observe(&rig, "", 0);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	close(pipes[0]);
	close(pipes[1]);
	close(fd);
	rig_close(&rig);
}

static void test_one_at_a_time(void **state)
{
	struct sensor_directory_options options = { 0 };
	struct sensor_directory *second;
	struct rig rig = { 0 };

	(void)state;
	rig_open(&rig, NULL);
	options.path = rig.path;
	assert_int_equal(sensor_directory_open(&options, NULL, &second), -EADDRINUSE);
	rig_close(&rig);
}

static int count_note(void *context, const char *text)
{
	(void)text;
	++*(int *)context;
	return 0;
}

static int count_paragraph(void *context, const char *text)
{
	assert_true(sensor_catalog_is_paragraph(text));
	++*(int *)context;
	return 0;
}

/* Notes of a program's file, and of files with every byte of that section wrong. */
static void test_notes(void **state)
{
	const char *program = getenv("SENSOR_APP");
	char path[] = "/tmp/asterism-sensor-note-XXXXXX";
	int count = 0, copy = mkstemp(path);
	FILE *file = fopen(program, "r");

	(void)state;
	assert_int_equal(sensor_catalog_each(program, count_paragraph, &count), 3);
	assert_int_equal(count, 3);
	assert_int_equal(sensor_catalog_each("/dev/null", count_paragraph, &count), -ENOEXEC);
	assert_int_equal(sensor_catalog_each("/nonexistent", count_paragraph, &count), -ENOENT);
	assert_non_null(file);

	static char bytes[1 << 20];
	size_t length = fread(bytes, 1, sizeof bytes, file);
	char *note = memmem(bytes, length, "asterism\0\0\0\0EVENT", 17);

	assert_non_null(note);
	for (int i = -12; i < 60; i++) {
		note[i] ^= 0x55;
		assert_int_equal(pwrite(copy, bytes, length, 0), length);
		int result = sensor_catalog_each(path, count_note, &count);

		assert_true(result == -ENOEXEC || (result >= 1 && result <= 3));
		note[i] ^= 0x55;
		if (i == 20)
			i = 50;
	}
	unlink(path);
	close(copy);
	fclose(file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_texts), cmocka_unit_test(test_nonsense),    cmocka_unit_test(test_shapes),
		cmocka_unit_test(test_quota), cmocka_unit_test(test_handed_over), cmocka_unit_test(test_seals),
		cmocka_unit_test(test_slow),  cmocka_unit_test(test_rights),      cmocka_unit_test(test_one_at_a_time),
		cmocka_unit_test(test_notes), cmocka_unit_test(test_resized),     cmocka_unit_test(test_leased),
		cmocka_unit_test(test_crowd), cmocka_unit_test(test_presence),    cmocka_unit_test(test_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
