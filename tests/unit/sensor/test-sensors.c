// SPDX-License-Identifier: BSD-2-Clause
/*
 * Applications that raise events, and somebody who reads all of them: nothing torn, nothing out of order, and what is
 * not read is counted.
 */

#include "rig.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cmocka.h>

#define CASE(test) cmocka_unit_test_setup(test, rig_case)
#define ALL        (SENSOR_OPEN | SENSOR_AREAS)

/* Runs the application with everything watched. Returns how many events it says to have raised. */
static unsigned long run_app(struct rig *rig, const char *const *arguments)
{
	struct rig_app app;
	unsigned long count;

	rig_open(rig, NULL);
	rig_observe(rig, "*", ALL);
	rig_start(&app, arguments);
	count = rig_count(rig, &app);
	rig_end(rig, &app, 0);
	return count;
}

/* main has raised a beat besides. */
static void expect_whole(const struct rig *rig, unsigned long count)
{
	assert_int_equal(rig->torn, 0);
	assert_int_equal(rig->disordered, 0);
	assert_int_equal(rig_unfinished(rig), 0);
	assert_int_equal(rig->steps + rig->alarms + rig->beats + rig_lost(rig) + rig_dropped(rig), count + 1);
}

/* The first event of main is there although nobody waited for anything. */
static void test_ordinary(void **state)
{
	struct rig rig = { 0 };
	unsigned long count = run_app(&rig, (const char *const[]){ "count", "1000", NULL });

	(void)state;
	assert_int_equal(count, 1000);
	assert_int_equal(rig.steps, 1000);
	assert_int_equal(rig.beats, 1);
	assert_int_equal(rig_lost(&rig), 0);
	expect_whole(&rig, count);
	rig_close(&rig);
}

/* Rings as large as the environment says, or, where the directory does not allow that, as large as ever. */
static void test_large_rings(void **state)
{
	static const struct {
		const char *wish;
		uint64_t bytes_max;
		uint32_t sub_count;
	} cases[] = {
		{ "1M", 0, 128 },      { "200k", 0, 32 }, { "1", 0, 2 }, { "99999999M", 0, 1024 },
		{ "1M", 4 << 20, 16 }, { "much", 0, 16 }, { "", 0, 16 }, { "-3", 0, 16 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct sensor_directory_options options = { .user_bytes_max = cases[i].bytes_max };
		struct sensor_directory_stats stats;
		struct rig rig = { 0 };
		struct rig_app app;

		setenv(SENSOR_RING_VARIABLE, cases[i].wish, 1);
		rig_open(&rig, &options);
		rig_observe(&rig, "*", SENSOR_OPEN | SENSOR_FOLLOW | SENSOR_AREAS);
		rig_start(&app, (const char *const[]){ "count", "1000", NULL });
		assert_int_equal(rig_count(&rig, &app), 1000);
		rig_end(&rig, &app, 0);
		unsetenv(SENSOR_RING_VARIABLE);
		assert_int_equal(rig.process_count, 1);
		assert_int_equal(rig.processes[0]->area->shape.sub_count, cases[i].sub_count);
		expect_whole(&rig, 1000);
		sensor_directory_stats(rig.directory, &stats);
		assert_int_equal(stats.refused, cases[i].bytes_max != 0);
		rig_close(&rig);
	}
}

static void test_nobody_looks(void **state)
{
	struct rig rig = { 0 };
	struct rig_app app;

	(void)state;
	rig_open(&rig, NULL);
	rig_observe(&rig, "*", SENSOR_FOLLOW | SENSOR_AREAS);
	rig_start(&app, (const char *const[]){ "count", "1000", NULL });
	rig_count(&rig, &app);
	rig_end(&rig, &app, 0);
	assert_int_equal(rig.process_count, 1);
	assert_int_equal(rig.steps + rig.beats + rig_lost(&rig), 0);
	rig_close(&rig);
}

/* Only the type that is asked for. */
static void test_one_type(void **state)
{
	struct rig rig = { 0 };
	struct rig_app app;

	(void)state;
	rig_open(&rig, NULL);
	rig_observe(&rig, "sensor-app-patient:beat", ALL);
	rig_start(&app, (const char *const[]){ "count", "1000", NULL });
	rig_count(&rig, &app);
	rig_end(&rig, &app, 0);
	assert_int_equal(rig.steps, 0);
	assert_int_equal(rig.beats, 0); /* raised only where steps are watched */
	assert_int_equal(rig.process_count, 1);
	rig_close(&rig);
}

static void test_no_directory(void **state)
{
	struct rig rig = { 0 };
	struct rig_app app;

	(void)state;
	setenv(SENSOR_SOCKET_VARIABLE, "/nonexistent/sensors", 1);
	rig_start(&app, (const char *const[]){ "count", "100000", NULL });
	assert_int_equal(rig_count(&rig, &app), 100000);
	rig_end(&rig, &app, 0);
}

static void test_forced_loss(void **state)
{
	struct rig rig = { 0 };
	unsigned long count = run_app(&rig, (const char *const[]){ "count", "300000", NULL });

	(void)state;
	expect_whole(&rig, count);
	rig_close(&rig);
}

/* More threads than rings, three times over. */
static void test_threads(void **state)
{
	struct rig rig = { 0 };
	unsigned long count = run_app(&rig, (const char *const[]){ "threads", "64", "500", NULL });

	(void)state;
	assert_int_equal(count, 64 * 500 * 3);
	expect_whole(&rig, count);
	assert_true(rig.steps > count / 2);
	rig_close(&rig);
}

static void test_signals(void **state)
{
	struct rig rig = { 0 };
	unsigned long count = run_app(&rig, (const char *const[]){ "signals", "200000", NULL });

	(void)state;
	expect_whole(&rig, count);
	assert_true(rig.alarms > 0);
	rig_close(&rig);
}

static bool has_begun(const struct rig *rig)
{
	return rig->steps > 0;
}

static void run_children(const char *how, size_t count)
{
	struct rig rig = { 0 };
	char number[16];

	snprintf(number, sizeof number, "%zu", count);
	unsigned long raised = run_app(&rig, (const char *const[]){ how, number, "200", NULL });

	assert_int_equal(rig.process_count, 1 + count);
	assert_int_equal(raised, 200 + count + 200 * count);
	expect_whole(&rig, raised);
	assert_int_equal(rig.steps, raised);
	rig_close(&rig);
}

/* Children whose directory does not answer, and that end before it does: nothing of theirs is seen, all is counted. */
static void test_unanswered_children(void **state)
{
	enum { CHILDREN = 3, STEPS = 200 };
	struct rig rig = { 0 };
	struct rig_app app;
	char line[64];

	(void)state;
	rig_open(&rig, NULL);
	rig_observe(&rig, "*", ALL);
	rig_start(&app, (const char *const[]){ "fork-late", "3", "200", NULL });
	assert_true(rig_until(&rig, has_begun, 60000));
	assert_int_equal(write(app.input, "\n", 1), 1);
	fcntl(fileno(app.output), F_SETFL, 0);
	assert_non_null(fgets(line, sizeof line, app.output)); /* no turn of the directory meanwhile */
	rig_end(&rig, &app, 0);
	assert_int_equal(strtoul(line, NULL, 10), STEPS + STEPS + CHILDREN + CHILDREN * STEPS);
	assert_int_equal(rig_dropped(&rig), CHILDREN * STEPS);
	expect_whole(&rig, strtoul(line, NULL, 10));
	rig_close(&rig);
}

static void test_fork(void **state)
{
	(void)state;
	run_children("fork", 20);
}

static void test_raw_clone(void **state)
{
	(void)state;
	run_children("clone", 5);
}

static void test_killed_in_mid_write(void **state)
{
	(void)state;
	for (int i = 0; i < 3; i++) {
		struct rig rig = { 0 };
		struct rig_app app;

		rig_open(&rig, NULL);
		rig_observe(&rig, "*", ALL);
		rig_start(&app, (const char *const[]){ "hold", "100", NULL });
		rig_count(&rig, &app);
		rig_end(&rig, &app, SIGKILL);
		assert_int_equal(rig.steps, 100);
		assert_int_equal(rig_unfinished(&rig), 1);
		assert_int_equal(rig.torn, 0);
		rig_close(&rig);
	}
}

/* Killed anywhere: the first when it has surely begun, the others perhaps before. */
static void test_killed_at_random(void **state)
{
	struct rig rig = { 0 };
	struct sensor_directory_options options = { .user_bytes_max = UINT64_C(1) << 30 };

	(void)state;
	rig_open(&rig, &options);
	rig_observe(&rig, "*", ALL);
	srand(1);
	for (int i = 0; i < 20; i++) {
		struct rig_app app;

		rig_start(&app, (const char *const[]){ "threads", "8", "100000000", NULL });
		assert_true(i || rig_until(&rig, has_begun, 60000));
		rig_until(&rig, NULL, 5 + rand() % 20);
		rig_end(&rig, &app, SIGKILL);
	}
	assert_int_equal(rig.torn, 0);
	rig_close(&rig);
}

static bool has_steps(const struct rig *rig)
{
	return rig->steps > 20;
}

/* What was there before comes back, with its events, in the same memory. */
static void test_directory_restarts(void **state)
{
	struct rig rig = { 0 }, next = { 0 };
	struct rig_app app;

	(void)state;
	rig_open(&rig, NULL);
	rig_observe(&rig, "*", ALL);
	rig_start(&app, (const char *const[]){ "go-on", NULL });
	assert_true(rig_until(&rig, has_steps, 5000));
	rig_close(&rig);
	usleep(50000);
	rig_open(&next, NULL);
	rig_observe(&next, "*", ALL);
	assert_true(rig_until(&next, has_steps, 5000));
	assert_int_equal(next.torn, 0);
	assert_int_equal(next.process_count, 1);
	rig_end(&next, &app, SIGKILL);
	rig_close(&next);
}

static bool has_process(const struct rig *rig)
{
	return rig->process_count != 0;
}

/* It comes later than the application. */
static void test_directory_comes_late(void **state)
{
	struct rig rig = { 0 };
	struct rig_app app;

	(void)state;
	snprintf(rig.path, sizeof rig.path, "/tmp/asterism-sensors-late-%d", (int)getpid());
	setenv(SENSOR_SOCKET_VARIABLE, rig.path, 1);
	rig_start(&app, (const char *const[]){ "go-on", NULL });
	usleep(100000);
	rig_open(&rig, NULL);
	rig_observe(&rig, "step", ALL);
	assert_true(rig_until(&rig, has_process, 5000));
	assert_true(rig_until(&rig, has_steps, 5000));
	rig_end(&rig, &app, SIGKILL);
	rig_close(&rig);
}

/* Gates close with the last one who looks. */
static void test_gates_close(void **state)
{
	struct rig rig = { 0 };
	struct rig_app app;
	uint64_t before;

	(void)state;
	rig_open(&rig, NULL);
	rig_observe(&rig, "*", ALL);
	rig_start(&app, (const char *const[]){ "go-on", NULL });
	assert_true(rig_until(&rig, has_steps, 5000));
	sensor_observer_close(rig.observer);
	rig.observer = NULL;
	rig_until(&rig, NULL, 50);
	before = rig.steps;
	rig_until(&rig, NULL, 100);
	assert_int_equal(rig.steps, before);
	rig_end(&rig, &app, SIGKILL);
	rig_close(&rig);
}

/* An area cannot be written to by who reads it, not even by way of /proc. */
static void test_read_only(void **state)
{
	struct rig rig = { 0 };
	struct rig_app app;

	(void)state;
	rig_open(&rig, NULL);
	rig_observe(&rig, "*", ALL);
	rig_start(&app, (const char *const[]){ "count", "10", NULL });
	rig_count(&rig, &app);
	assert_true(rig_until(&rig, has_process, 5000));
	assert_int_equal(mprotect(rig.processes[0]->area->memory, 4096, PROT_READ | PROT_WRITE), -1);
	rig_end(&rig, &app, 0);
	rig_close(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_ordinary),
		CASE(test_large_rings),
		CASE(test_nobody_looks),
		CASE(test_one_type),
		CASE(test_no_directory),
		CASE(test_forced_loss),
		CASE(test_threads),
		CASE(test_signals),
		CASE(test_fork),
		CASE(test_unanswered_children),
		CASE(test_raw_clone),
		CASE(test_killed_in_mid_write),
		CASE(test_killed_at_random),
		CASE(test_directory_restarts),
		CASE(test_directory_comes_late),
		CASE(test_gates_close),
		CASE(test_read_only),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
