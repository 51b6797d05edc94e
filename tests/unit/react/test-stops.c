// SPDX-License-Identifier: BSD-2-Clause
/* Notes of stops, and the watchdog: with processes of the test's own, and with an owner that is killed. */

#include "child.h"
#include "react/watchdog.h"

#include "base/clock.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static struct react_stop_table *new_table(void)
{
	void *table =
		mmap(NULL, sizeof(struct react_stop_table), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	assert_true(table != MAP_FAILED);
	return table;
}

/* As a program does it. */
static void note(struct react_stop_table *table, uint32_t slot, pid_t pid, uint64_t what, uint32_t count)
{
	table->slots[slot % REACT_STOP_SLOTS].word = (uint64_t)count << 32 | what | (uint32_t)pid;
	table->slots[slot % REACT_STOP_SLOTS].ts = clock_now_ns();
}

static pid_t spawn_stopped(void)
{
	pid_t pid = spawn();

	stop(pid);
	return pid;
}

static void notes_are_found(void **state)
{
	struct react_stop_table *table = new_table();
	struct react_stop_notes notes;

	(void)state;
	note(table, 1000, 1000, 0, 2);
	note(table, 1003, 1000, (uint64_t)SIGKILL << REACT_STOP_SIGNAL_SHIFT, 1);
	note(table, 1004, 1000, REACT_STOP_FOR_GOOD, 4);
	note(table, 1005, 999, 0, 8);
	note(table, 1000 + REACT_STOP_PROBES, 1000, 0, 16);
	react_stops_find(table, 1000, false, &notes);
	assert_int_equal(notes.sum, 3);
	assert_int_equal(notes.slot_count, 2);
	react_stops_forget(table, &notes, 2);
	react_stops_find(table, 1000, false, &notes);
	assert_int_equal(notes.sum, 1);
	react_stops_forget(table, &notes, UINT32_MAX);
	react_stops_find(table, 1000, false, &notes);
	assert_int_equal(notes.sum, 0);
	react_stops_find(table, 1000, true, &notes);
	assert_int_equal(notes.sum, 4);
	react_stops_find(table, 999, false, &notes);
	assert_int_equal(notes.sum, 8);
	munmap(table, sizeof *table);
}

/* The place of a process wraps around the end of the table. */
static void notes_wrap(void **state)
{
	struct react_stop_table *table = new_table();
	struct react_stop_notes notes;
	pid_t last = 3 * REACT_STOP_SLOTS - 1;

	(void)state;
	note(table, 4, last, 0, 1);
	react_stops_find(table, last, false, &notes);
	assert_int_equal(notes.sum, 1);
	munmap(table, sizeof *table);
}

static void signal_is_taken_once(void **state)
{
	struct react_stop_table *table = new_table();
	struct react_stop_notes notes;

	(void)state;
	assert_int_equal(react_stops_take_signal(table, 7), 0);
	note(table, 7, 7, (uint64_t)SIGTERM << REACT_STOP_SIGNAL_SHIFT, 1);
	assert_int_equal(react_stops_take_signal(table, 7), SIGTERM);
	assert_int_equal(react_stops_take_signal(table, 7), 0);
	react_stops_find(table, 7, false, &notes);
	assert_int_equal(notes.sum, 1);
	munmap(table, sizeof *table);
}

static void everybody_goes_on(void **state)
{
	struct react_stop_table *table = new_table();
	pid_t asked = spawn_stopped(), for_good = spawn_stopped(), aborted = spawn_stopped(), foreign = spawn_stopped();
	int status;

	(void)state;
	note(table, (uint32_t)asked, asked, 0, 1);
	note(table, (uint32_t)for_good + 1, for_good, REACT_STOP_FOR_GOOD, 3);
	note(table, (uint32_t)aborted + 2, aborted, (uint64_t)SIGTERM << REACT_STOP_SIGNAL_SHIFT, 1);
	react_stops_continue(table);
	assert_int_equal(waitpid(asked, &status, WCONTINUED), asked);
	assert_true(WIFCONTINUED(status));
	assert_int_equal(waitpid(for_good, &status, WCONTINUED), for_good);
	assert_true(WIFCONTINUED(status));
	do
		assert_int_equal(waitpid(aborted, &status, 0), aborted);
	while (!WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGTERM);
	assert_int_equal(waitpid(foreign, &status, WCONTINUED | WNOHANG), 0);
	assert_int_equal(react_thread_state(foreign, foreign, clock_now_ns()), 'T');
	end(asked);
	end(for_good);
	end(foreign);
	munmap(table, sizeof *table);
}

/* The signal of a note is not for a younger process of the same id. */
static void younger_one_is_spared(void **state)
{
	struct react_stop_table *table = new_table();
	pid_t pid = spawn_stopped();
	int status;

	(void)state;
	note(table, (uint32_t)pid, pid, (uint64_t)SIGTERM << REACT_STOP_SIGNAL_SHIFT, 1);
	table->slots[(uint32_t)pid % REACT_STOP_SLOTS].ts = 0;
	react_stops_continue(table);
	assert_int_equal(waitpid(pid, &status, WCONTINUED), pid);
	assert_true(WIFCONTINUED(status));
	assert_true(react_stops_is_newer(pid, 0));
	assert_int_equal(react_thread_state(pid, pid, 0), 0);
	assert_int_not_equal(react_thread_state(pid, pid, clock_now_ns()), 0);
	assert_false(react_stops_is_newer(pid, clock_now_ns()));
	end(pid);
	munmap(table, sizeof *table);
}

/* An owner that starts a watchdog, notes target and waits to be killed. */
static pid_t spawn_owner(struct react_stop_table *table, struct undo *undo, pid_t target)
{
	int ready[2];
	char word;

	assert_int_equal(pipe(ready), 0);
	pid_t owner = fork();

	if (owner == 0) {
		const struct react_watchdog_options options = { .stops = table, .undo = undo };
		struct react_watchdog *watchdog = NULL;

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (react_watchdog_start(&options, NULL, &watchdog) || !react_watchdog_lives(watchdog))
			_exit(1);
		note(table, (uint32_t)target, target, 0, 1);
		if (write(ready[1], "", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	assert_int_equal(read(ready[0], &word, 1), 1);
	close(ready[0]);
	close(ready[1]);
	return owner;
}

static void keeper_makes_good(void **state)
{
	struct react_stop_table *table = new_table();
	pid_t asked = spawn_stopped(), undone = spawn_stopped();
	const struct undo_change change = { .kind = UNDO_STOPPED, .id = undone };
	struct undo *undo = NULL;
	int status;

	(void)state;
	assert_int_equal(undo_new(NULL, &undo), 0);
	assert_int_equal(undo_add(undo, &change), 1);
	end(spawn_owner(table, undo, asked));
	assert_int_equal(waitpid(asked, &status, WCONTINUED), asked);
	assert_true(WIFCONTINUED(status));
	assert_int_equal(waitpid(undone, &status, WCONTINUED), undone);
	assert_true(WIFCONTINUED(status));
	assert_int_equal(table->open, 0);
	end(asked);
	end(undone);
	undo_free(undo);
	munmap(table, sizeof *table);
}

/* What the owner itself ends is not made good, and leaves no child behind. */
static void keeper_ends(void **state)
{
	struct react_stop_table *table = new_table();
	const struct react_watchdog_options options = { .stops = table };
	struct react_watchdog *watchdog = NULL;
	pid_t asked = spawn_stopped();
	int status;

	(void)state;
	assert_int_equal(react_watchdog_start(&options, NULL, &watchdog), 0);
	note(table, (uint32_t)asked, asked, 0, 1);
	react_watchdog_end(watchdog);
	assert_int_equal(waitpid(asked, &status, WCONTINUED | WNOHANG), 0);
	assert_int_equal(react_thread_state(asked, asked, clock_now_ns()), 'T');
	end(asked);
	assert_int_equal(waitpid(-1, NULL, __WALL | WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
	munmap(table, sizeof *table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(notes_are_found),       cmocka_unit_test(notes_wrap),
		cmocka_unit_test(signal_is_taken_once),  cmocka_unit_test(everybody_goes_on),
		cmocka_unit_test(younger_one_is_spared), cmocka_unit_test(keeper_makes_good),
		cmocka_unit_test(keeper_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
