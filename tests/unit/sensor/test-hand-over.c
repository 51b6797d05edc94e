// SPDX-License-Identifier: BSD-2-Clause
/* A client that hands over a file of a file system that it serves itself, and never answers when that is closed. */

#include "rig.h"

#include "base/clock.h"
#include "sensor/packet.h"
#include "sensor/place.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

enum { LIFE_S = 5, CALM_MS = 2000, NOT_POSSIBLE = 77 };

static void answer(int fuse, uint64_t unique, const void *body, size_t bytes)
{
	char message[512];
	struct fuse_out_header head = { .len = (uint32_t)(sizeof head + bytes),
					.error = body ? 0 : -ENOSYS,
					.unique = unique };

	memcpy(message, &head, sizeof head);
	if (body)
		memcpy(message + sizeof head, body, bytes);
	if (write(fuse, message, head.len) < 0)
		_exit(1);
}

/* A folder with one file. */
static void serve_request(int fuse, const struct fuse_in_header *asked)
{
	struct fuse_attr folder = { .ino = 1, .mode = S_IFDIR | 0777, .nlink = 1 },
			 file = { .ino = 2, .mode = S_IFREG | 0777, .nlink = 1 };
	struct fuse_init_out init = { .major = FUSE_KERNEL_VERSION, .minor = 31, .max_write = 4096 };
	struct fuse_attr_out attributes = { .attr = asked->nodeid == 1 ? folder : file };
	struct fuse_entry_out entry = { .nodeid = 2, .attr = file };
	struct fuse_open_out opened = { .fh = 1 };

	if (asked->opcode == FUSE_INIT)
		answer(fuse, asked->unique, &init, sizeof init);
	else if (asked->opcode == FUSE_GETATTR)
		answer(fuse, asked->unique, &attributes, sizeof attributes);
	else if (asked->opcode == FUSE_LOOKUP)
		answer(fuse, asked->unique, &entry, sizeof entry);
	else if (asked->opcode == FUSE_OPEN)
		answer(fuse, asked->unique, &opened, sizeof opened);
	else if (asked->opcode != FUSE_FLUSH && asked->opcode != FUSE_FORGET)
		answer(fuse, asked->unique, NULL, 0);
}

static _Noreturn void hand_over(const char *path, const char *folder)
{
	struct sensor_register message = { { SENSOR_REGISTER, SENSOR_PROTOCOL_VERSION }, 0, 0, 0, 0 };
	struct sensor_sending sending = { .message = &message, .bytes = sizeof message, .fd_count = 1 };
	char file[128];
	int fd;

	snprintf(file, sizeof file, "%s/file", folder);
	sending.fds[0] = open(file, O_RDWR);
	fd = sensor_place_connect(path);
	if (sending.fds[0] < 0 || sensor_packet_send(fd, &sending))
		_exit(1);
	for (;;)
		pause();
}

/* Serves for a while, and sends; the mount is in a name space of its own. */
static _Noreturn void be_hostile(const char *path, const char *folder)
{
	char options[128];
	static char request[1 << 18];
	int fuse = open("/dev/fuse", O_RDWR);

	alarm(LIFE_S);
	snprintf(options, sizeof options, "fd=%d,rootmode=40000,user_id=0,group_id=0", fuse);
	if (fuse < 0 || unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("test", folder, "fuse", MS_NOSUID | MS_NODEV, options))
		_exit(NOT_POSSIBLE);
	if (fork() == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(fuse);
		hand_over(path, folder);
	}
	while (read(fuse, request, sizeof request) > 0)
		serve_request(fuse, (const struct fuse_in_header *)(const void *)request);
	_exit(1);
}

static bool was_sent_away(const struct rig *rig)
{
	struct sensor_directory_stats stats;

	sensor_directory_stats(rig->directory, &stats);
	return stats.malformed != 0;
}

static void test_served_file(void **state)
{
	char folder[] = "/tmp/asterism-hand-over-XXXXXX";
	struct rig rig = { 0 };
	uint64_t start;
	int status = 0;
	pid_t pid;

	(void)state;
	rig_open(&rig, NULL);
	assert_non_null(mkdtemp(folder));
	start = clock_now_ns();
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0)
		be_hostile(rig.path, folder);
	while (!was_sent_away(&rig) && waitpid(pid, &status, WNOHANG) == 0)
		rig_until(&rig, was_sent_away, 1);
	rmdir(folder);
	if (!was_sent_away(&rig) && WIFEXITED(status) && WEXITSTATUS(status) == NOT_POSSIBLE) {
		rig_close(&rig);
		skip();
	}
	assert_true(was_sent_away(&rig));
	assert_in_range(clock_now_ns() - start, 0, CALM_MS * UINT64_C(1000000));
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	rig_close(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_served_file) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
