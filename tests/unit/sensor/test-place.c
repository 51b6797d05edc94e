// SPDX-License-Identifier: BSD-2-Clause
/* Where a directory's socket is, and others were before, or come after it. */

#include "rig.h"

#include "sensor/place.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <signal.h>
#include <unistd.h>
#include <cmocka.h>

enum { USER = 65000 };

struct place {
	char folder[40], path[60];
};

static void make(struct place *place)
{
	strcpy(place->folder, "/tmp/asterism-place-XXXXXX");
	assert_non_null(mkdtemp(place->folder));
	snprintf(place->path, sizeof place->path, "%s/sensors", place->folder);
}

static void unmake(const struct place *place)
{
	unlink(place->path);
	rmdir(place->folder);
}

/* Returns what opening says, which words has. */
static int open_at(const char *path, const char *words)
{
	struct sensor_directory_options options = { .path = path };
	struct asterism_diag *diag = asterism_diag_new();
	struct sensor_directory *directory;
	int result = sensor_directory_open(&options, diag, &directory);

	if (!result)
		sensor_directory_close(directory);
	else
		assert_non_null(strstr(asterism_diag_get(diag, 0)->text, words));
	asterism_diag_free(diag);
	return result;
}

/* The folder is somebody else's, or anybody's. */
static void test_folder_of_others(void **state)
{
	struct place place;

	(void)state;
	if (geteuid())
		skip();
	make(&place);
	assert_int_equal(open_at(place.path, ""), 0);
	assert_int_equal(chmod(place.folder, 0777), 0);
	assert_int_equal(open_at(place.path, "other users"), -EPERM);
	assert_int_equal(chmod(place.folder, 01777), 0);
	assert_int_equal(open_at(place.path, ""), 0);
	assert_int_equal(chmod(place.folder, 0700) || chown(place.folder, USER, USER), 0);
	assert_int_equal(open_at(place.path, "other users"), -EPERM);
	unmake(&place);
}

/* A link or a file: it is left alone. */
static void test_not_a_socket(void **state)
{
	struct place place;
	struct stat status;

	(void)state;
	make(&place);
	assert_int_equal(symlink("/nonexistent/socket", place.path), 0);
	assert_int_equal(open_at(place.path, "not an asterism socket"), -EEXIST);
	assert_int_equal(lstat(place.path, &status), 0);
	unlink(place.path);
	close(open(place.path, O_CREAT | O_WRONLY, 0600));
	assert_int_equal(open_at(place.path, "not an asterism socket"), -EEXIST);
	unmake(&place);
}

/* It says so, and at its end leaves alone what is not its own. */
static void test_replaced(void **state)
{
	struct sensor_directory_stats stats;
	struct sensor_place_id before, after;
	struct rig rig = { 0 };

	(void)state;
	rig_open(&rig, NULL);
	unlink(rig.path);
	int other = sensor_place_listen(rig.path);

	assert_true(other >= 0);
	assert_true(sensor_place_identify(rig.path, &before));
	do {
		rig_until(&rig, NULL, 10);
		sensor_directory_stats(rig.directory, &stats);
	} while (!stats.is_replaced);
	rig_close(&rig);
	assert_true(sensor_place_identify(rig.path, &after));
	assert_true(before.inode == after.inode);
	close(other);
	unlink(rig.path);
}

/* Another user serves where nobody said that he should: who looks there is not his. */
static void test_squatter(void **state)
{
	struct place place;
	char folder[64], path[SENSOR_PLACE_BYTES];
	struct sensor_observer *observer;
	int ready[2];
	char byte;
	pid_t pid;

	(void)state;
	if (geteuid() || access(SENSOR_SOCKET_SYSTEM, F_OK) == 0)
		skip();
	make(&place);
	snprintf(folder, sizeof folder, "%s/asterism", place.folder);
	snprintf(path, sizeof path, "%s/" SENSOR_SOCKET_USER, place.folder);
	assert_int_equal(mkdir(folder, 0777) || chmod(place.folder, 0777) || chown(folder, USER, USER), 0);
	assert_int_equal(pipe(ready), 0);
	pid = fork();
	if (pid == 0) {
		if (setgid(USER) || setuid(USER) || prctl(PR_SET_PDEATHSIG, SIGKILL) || sensor_place_listen(path) < 0 ||
		    write(ready[1], "", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	close(ready[1]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	unsetenv(SENSOR_SOCKET_VARIABLE);
	setenv("XDG_RUNTIME_DIR", place.folder, 1);
	assert_int_equal(sensor_observer_open(NULL, NULL, NULL, &observer), -EPERM);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	close(ready[0]);
	unlink(path);
	rmdir(folder);
	unmake(&place);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_folder_of_others),
		cmocka_unit_test(test_not_a_socket),
		cmocka_unit_test(test_replaced),
		cmocka_unit_test(test_squatter),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
