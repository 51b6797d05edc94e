// SPDX-License-Identifier: BSD-2-Clause
/* The journal of what is undone: with processes of the test's own, and with an owner that is killed half-way. */

#include "react/undo.h"

#include "base/proc.h"
#include "child.h"
#include "react/priority.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched/types.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static struct undo *new_undo(void)
{
	struct undo *undo = NULL;

	assert_int_equal(undo_new(NULL, &undo), 0);
	assert_int_equal(undo_count(undo), 0);
	return undo;
}

static void wait_until_it_goes_on(pid_t pid)
{
	int status;

	assert_int_equal(waitpid(pid, &status, WCONTINUED), pid);
	assert_true(WIFCONTINUED(status));
}

static bool has_gone_on(pid_t pid)
{
	return waitpid(pid, NULL, WCONTINUED | WNOHANG) == pid;
}

static void stopped_goes_on(void **state)
{
	struct undo *undo = new_undo();
	pid_t pid = spawn();
	struct undo_change change = { .kind = UNDO_STOPPED, .id = pid };

	(void)state;
	assert_int_equal(undo_add(undo, &change), 1);
	assert_int_equal(undo_add(undo, &change), 0);
	assert_int_equal(undo_count(undo), 1);
	stop(pid);
	assert_int_equal(undo_all(undo), 0);
	wait_until_it_goes_on(pid);
	assert_int_equal(undo_count(undo), 0);
	assert_int_equal(undo_all(undo), 0);
	assert_false(has_gone_on(pid));
	end(pid);
	undo_free(undo);
}

static void dropped_stays(void **state)
{
	struct undo *undo = new_undo();
	pid_t pid = spawn();
	struct undo_change change = { .kind = UNDO_STOPPED, .id = pid };

	(void)state;
	stop(pid);
	assert_int_equal(undo_add(undo, &change), 1);
	undo_drop(undo, &change);
	assert_int_equal(undo_count(undo), 0);
	undo_all(undo);
	assert_false(has_gone_on(pid));
	assert_int_equal(undo_one(undo, &change), -ENOENT);
	end(pid);
	undo_free(undo);
}

static int nice_of(pid_t pid)
{
	struct sched_attr attr;

	assert_int_equal(priority_get(pid, &attr), 0);
	assert_int_equal(attr.sched_policy, 0);
	return attr.sched_nice;
}

static void first_priority_counts(void **state)
{
	struct undo *undo = new_undo();
	struct sched_attr before;
	pid_t pid = spawn();
	struct undo_change change = { .kind = UNDO_PRIORITY, .id = pid, .before = &before };
	int was = nice_of(pid);

	(void)state;
	assert_int_equal(priority_get(pid, &before), 0);
	assert_int_equal(undo_add(undo, &change), 1);
	assert_int_equal(priority_set(pid, 5), 0);
	assert_int_equal(nice_of(pid), 14);
	assert_int_equal(priority_get(pid, &before), 0);
	assert_int_equal(undo_add(undo, &change), 0);
	assert_int_equal(priority_set(pid, 3), 0);
	/* Anybody may make a thread less urgent; who is not root, not more urgent again. */
	if (geteuid() == 0) {
		assert_int_equal(undo_one(undo, &change), 0);
		assert_int_equal(nice_of(pid), was);
	} else {
		undo_drop(undo, &change);
	}
	assert_int_equal(undo_count(undo), 0);
	end(pid);
	undo_free(undo);
}

static void expect_file(const char *path, const char *text)
{
	char found[64];

	assert_true(proc_read(path, found, sizeof found) >= 0);
	assert_string_equal(found, text);
}

/* Plain files stand in for those of a cgroup: what is written where is what counts here. */
static void frozen_is_thawed(void **state)
{
	char folder[] = "/tmp/test-undo-XXXXXX", freeze[64], state_file[64];
	struct undo *undo = new_undo();

	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(freeze, sizeof freeze, "%s/cgroup.freeze", folder);
	snprintf(state_file, sizeof state_file, "%s/freezer.state", folder);
	close(open(freeze, O_CREAT | O_WRONLY, 0600));
	close(open(state_file, O_CREAT | O_WRONLY, 0600));
	assert_int_equal(undo_add(undo, &(struct undo_change){ .kind = UNDO_FROZEN, .path = freeze }), 1);
	assert_int_equal(undo_add(undo, &(struct undo_change){ .kind = UNDO_FROZEN, .path = freeze }), 0);
	assert_int_equal(undo_add(undo, &(struct undo_change){ .kind = UNDO_FROZEN, .path = state_file }), 1);
	assert_int_equal(undo_count(undo), 2);
	assert_int_equal(undo_all(undo), 0);
	expect_file(freeze, "0");
	expect_file(state_file, "THAWED");
	assert_int_equal(undo_add(undo, &(struct undo_change){ .kind = UNDO_FROZEN, .path = freeze }), 1);
	unlink(freeze);
	assert_int_equal(undo_all(undo), 0); /* the cgroup is gone: nothing is left frozen */
	unlink(state_file);
	rmdir(folder);
	undo_free(undo);
}

static void long_paths_are_refused(void **state)
{
	struct undo *undo = new_undo();
	char path[UNDO_PATH_BYTES + 1];

	(void)state;
	memset(path, 'a', sizeof path);
	path[UNDO_PATH_BYTES] = 0;
	assert_int_equal(undo_add(undo, &(struct undo_change){ .kind = UNDO_FROZEN, .path = path }), -ENAMETOOLONG);
	path[UNDO_PATH_BYTES - 1] = 0;
	assert_int_equal(undo_add(undo, &(struct undo_change){ .kind = UNDO_FROZEN, .path = path }), 1);
	undo_free(undo);
}

/* A process that has ended makes no entry, and its entry never meets the next one of its number. */
static void ended_makes_no_entry(void **state)
{
	struct undo *undo = new_undo();
	pid_t pid = spawn();
	struct undo_change change = { .kind = UNDO_STOPPED, .id = pid };

	(void)state;
	assert_int_equal(undo_add(undo, &change), 1);
	end(pid);
	assert_int_equal(undo_add(undo, &change), -ESRCH);
	assert_int_equal(undo_all(undo), 0);
	undo_free(undo);
}

/* Full of the living: no more. One dies: its entry makes room. The paths are this folder's, told apart by slashes. */
static void full_makes_room_for_the_dead_only(void **state)
{
	struct undo *undo = new_undo();
	pid_t first = spawn(), second = spawn();
	char path[UNDO_PATH_BYTES] = { 0 };
	int added = 0;

	(void)state;
	assert_int_equal(undo_add(undo, &(struct undo_change){ .kind = UNDO_STOPPED, .id = first }), 1);
	for (int dots = 0; dots < 4 && added < UNDO_ENTRIES - 1; dots++)
		for (int slashes = 1; slashes < UNDO_PATH_BYTES - 8 && added < UNDO_ENTRIES - 1; slashes++, added++) {
			memset(path, '/', (size_t)slashes);
			strcpy(path + slashes, "./././" + 2 * (3 - dots));
			assert_int_equal(undo_add(undo, &(struct undo_change){ .kind = UNDO_FROZEN, .path = path }), 1);
		}
	assert_int_equal(undo_count(undo), UNDO_ENTRIES);
	assert_int_equal(undo_add(undo, &(struct undo_change){ .kind = UNDO_STOPPED, .id = second }), -ENOSPC);
	end(first);
	assert_int_equal(undo_add(undo, &(struct undo_change){ .kind = UNDO_STOPPED, .id = second }), 1);
	assert_int_equal(undo_count(undo), UNDO_ENTRIES);
	end(second);
	undo_free(undo);
}

/*
 * The owner adds, changes and drops without end, and is killed anywhere in that: this process, which only has the
 * memory, leaves nobody stopped.
 */
static void killed_owner_leaves_nobody_stopped(void **state)
{
	(void)state;
	for (int round = 0; round < 200; round++) {
		struct undo *undo = new_undo();
		pid_t pid = spawn(), owner = fork();
		struct undo_change change = { .kind = UNDO_STOPPED, .id = pid };
		char path[64], text[1024];

		assert_true(owner >= 0);
		while (owner == 0) {
			undo_add(undo, &change);
			kill(pid, SIGSTOP);
			kill(pid, SIGCONT);
			undo_drop(undo, &change);
		}
		/* Not a time that is waited for: how far the owner comes is what differs between the rounds. */
		for (volatile int i = 0; i < round * 2000;)
			i = i + 1;
		end(owner);
		assert_int_equal(undo_all(undo), 0);
		snprintf(path, sizeof path, "/proc/%d/stat", pid);
		assert_true(proc_read(path, text, sizeof text) > 0);
		assert_int_not_equal(strrchr(text, ')')[2], 'T');
		end(pid);
		undo_free(undo);
	}
}

/* Killed between the entry and the change, and between the change and everything else. */
static void killed_owner_at_known_points(void **state)
{
	(void)state;
	for (int point = 0; point < 2; point++) {
		struct undo *undo = new_undo();
		pid_t pid = spawn(), owner = fork();
		int status;

		assert_true(owner >= 0);
		if (owner == 0) {
			undo_add(undo, &(struct undo_change){ .kind = UNDO_STOPPED, .id = pid });
			if (point == 1)
				kill(pid, SIGSTOP);
			raise(SIGKILL);
		}
		assert_int_equal(waitpid(owner, &status, 0), owner);
		assert_int_equal(undo_count(undo), 1);
		if (point == 1)
			assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
		assert_int_equal(undo_all(undo), 0);
		if (point == 1)
			wait_until_it_goes_on(pid);
		else
			assert_false(has_gone_on(pid));
		end(pid);
		undo_free(undo);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stopped_goes_on),
		cmocka_unit_test(dropped_stays),
		cmocka_unit_test(first_priority_counts),
		cmocka_unit_test(frozen_is_thawed),
		cmocka_unit_test(long_paths_are_refused),
		cmocka_unit_test(ended_makes_no_entry),
		cmocka_unit_test(full_makes_room_for_the_dead_only),
		cmocka_unit_test(killed_owner_leaves_nobody_stopped),
		cmocka_unit_test(killed_owner_at_known_points),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
