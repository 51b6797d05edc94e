// SPDX-License-Identifier: BSD-2-Clause
/*
 * usage: test-proof [large]
 * What sensors promise, counted to the last event: order and loss over two writers and three readers, processes that
 * are killed at any moment, storms of children, signal handlers that write, threads that come and go. `large` takes
 * the numbers of `make check-sensors`; without it they are for every day.
 */

#include "app.h"
#include "rig.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "event/catalog.h"
#include "sensor/stream/stream.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

static const struct size {
	const char *elements, *children, *threads, *events, *alarms;
	int kills;
} sizes[] = { { "500000", "20", "64", "300", "100000", 10 }, { "50000000", "200", "64", "20000", "5000000", 200 } };
static const struct size *size = &sizes[0];

enum { READERS = 3, ALL = SENSOR_OPEN | SENSOR_AREAS, RECORD_BYTES = 512, WRITERS = 2, SLOW_US = 20000 };

/* Two writers, three readers. */

struct reader {
	struct stream *stream;
	struct event_catalog *catalog;
	struct stream_want want;
	uint64_t next[WRITERS + 1], last_ts;
	uint64_t seen, lost, late, disordered, torn;
	bool is_slow;
	const bool *is_done;
	pthread_t thread;
};

static uint64_t field_of(const struct reader *reader, const struct event_header *record, uint32_t index)
{
	uint64_t value;

	memcpy(&value, (const char *)record + reader->want.type->fields[index].offset, sizeof value);
	return value;
}

static int on_event(void *context, const struct event_header *record)
{
	struct reader *reader = context;
	uint64_t thread = field_of(reader, record, 0), number = field_of(reader, record, 1);

	reader->seen++;
	if (thread > WRITERS || field_of(reader, record, 2) != APP_CHECK(thread, number)) {
		reader->torn++;
		return 0;
	}
	if (event_is_late(record)) {
		reader->late++;
	} else {
		reader->disordered += record->ts < reader->last_ts;
		reader->last_ts = record->ts;
	}
	reader->disordered += number < reader->next[thread];
	reader->next[thread] = number + 1;
	return 0;
}

static void on_lost(void *context, uint64_t lost)
{
	((struct reader *)context)->lost += lost;
}

static bool everybody(void *context, pid_t pid, pid_t parent)
{
	(void)context;
	(void)pid;
	(void)parent;
	return true;
}

static void *run_reader(void *context)
{
	struct reader *reader = context;
	bool was_done = false;
	uint64_t passed;

	for (int calm = 0; calm < 3; calm = was_done && !stream_has_more(reader->stream) ? calm + 1 : 0) {
		if (!was_done && __atomic_load_n(reader->is_done, __ATOMIC_ACQUIRE)) {
			stream_end(reader->stream);
			was_done = true;
		}
		stream_turn(reader->stream, &passed);
		usleep(reader->is_slow ? SLOW_US : 200);
	}
	return NULL;
}

static void open_reader(struct reader *reader, const bool *is_done, bool is_slow)
{
	static const char text[] = "EVENT step \"\" { thread: u64, number: u64, check: u64, word: string[16] }";
	struct stream_options options = { .wants = { &reader->want, 1 },
					  .record_bytes = RECORD_BYTES,
					  .in_scope = everybody,
					  .on_event = on_event,
					  .on_lost = on_lost,
					  .context = reader };

	reader->catalog = event_catalog_new();
	assert_int_equal(event_catalog_parse(reader->catalog, "proof", text, strlen(text), NULL), 0);
	reader->want = (struct stream_want){ event_catalog_get(reader->catalog, 0), "step", 0, 0 };
	reader->is_done = is_done;
	reader->is_slow = is_slow;
	assert_int_equal(stream_new(&options, NULL, &reader->stream), 0);
	stream_settle(reader->stream, MERGE_NEVER);
}

struct served {
	struct rig rig;
	bool is_done;
	pthread_t thread;
};

static void *serve(void *context)
{
	struct served *served = context;

	while (!__atomic_load_n(&served->is_done, __ATOMIC_ACQUIRE))
		rig_until(&served->rig, NULL, 1);
	return NULL;
}

static void judge(struct reader *reader, unsigned long raised, int index)
{
	struct stream_counts counts;

	stream_count(reader->stream, &counts);
	print_message("reader %d: %" PRIu64 " of %lu seen, %" PRIu64 " lost, %" PRIu64 " late, %" PRIu64
		      " out of order, %" PRIu64 " torn\n",
		      index, reader->seen, raised, reader->lost, reader->late, reader->disordered, reader->torn);
	assert_int_equal(reader->torn, 0);
	assert_int_equal(reader->disordered, 0);
	assert_int_equal(reader->seen + reader->lost, raised);
	assert_int_equal(counts.failed, 0);
}

static void test_order(void **state)
{
	static struct served served;
	static struct reader readers[READERS];
	static bool is_done;
	struct rig_app app;
	unsigned long raised;
	struct rig none = { 0 };

	(void)state;
	rig_open(&served.rig, NULL);
	assert_int_equal(pthread_create(&served.thread, NULL, serve, &served), 0);
	for (int i = 0; i < READERS; i++) {
		open_reader(&readers[i], &is_done, i == 2);
		assert_int_equal(pthread_create(&readers[i].thread, NULL, run_reader, &readers[i]), 0);
	}
	rig_start(&app, (const char *const[]){ "pour", "2", size->elements, NULL });
	raised = rig_count(&none, &app);
	__atomic_store_n(&is_done, true, __ATOMIC_RELEASE);
	for (int i = 0; i < READERS; i++)
		pthread_join(readers[i].thread, NULL);
	rig_end(&none, &app, 0);
	__atomic_store_n(&served.is_done, true, __ATOMIC_RELEASE);
	pthread_join(served.thread, NULL);
	for (int i = 0; i < READERS; i++) {
		judge(&readers[i], raised, i);
		stream_free(readers[i].stream);
		event_catalog_free(readers[i].catalog);
	}
	rig_close(&served.rig);
}

/* Killed. */

static uint32_t count_fds(void)
{
	DIR *folder = opendir("/proc/self/fd");
	uint32_t count = 0;

	while (readdir(folder))
		count++;
	closedir(folder);
	return count;
}

static struct app_tally *make_tally(char *path)
{
	int fd = mkstemp(path);
	struct app_tally *tally;

	assert_int_equal(ftruncate(fd, sizeof *tally), 0);
	tally = mmap(NULL, sizeof *tally, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	assert_ptr_not_equal(tally, MAP_FAILED);
	setenv("SENSOR_TALLY", path, 1);
	return tally;
}

/* What was committed is there, and of each thread at most one event more was begun. */
static void kill_once(struct rig *rig, struct app_tally *tally)
{
	uint64_t before = rig->steps + rig_lost(rig) + rig_dropped(rig), begun = 0, committed = 0;
	struct rig_app app;

	memset(tally, 0, sizeof *tally);
	rig_start(&app, (const char *const[]){ "threads", "8", "100000000", NULL });
	while (!__atomic_load_n(&tally->committed[1], __ATOMIC_RELAXED))
		rig_turn(rig);
	rig_until(rig, NULL, rand() % 8);
	rig_end(rig, &app, SIGKILL);
	for (int i = 0; i < APP_TALLIES; i++) {
		assert_in_range(tally->begun[i] - tally->committed[i], 0, 1);
		begun += tally->begun[i];
		committed += tally->committed[i];
	}
	/* main's beat is one, too */
	uint64_t after = rig->steps + rig_lost(rig) + rig_dropped(rig);

	assert_in_range(after - before, committed, begun + 1);
	assert_true(rig_unfinished(rig) <= 8 + 1);
}

static void test_killed(void **state)
{
	struct sensor_directory_options options = { .user_bytes_max = UINT64_C(1) << 30,
						    .all_bytes_max = UINT64_C(1) << 30 };
	char path[] = "/tmp/asterism-tally-XXXXXX";
	struct app_tally *tally = make_tally(path);
	struct sensor_directory_stats stats;
	uint32_t fds = count_fds();

	(void)state;
	srand(1);
	for (int i = 0; i < size->kills; i++) {
		struct rig rig = { 0 };

		rig_open(&rig, &options);
		rig_observe(&rig, "*", ALL);
		kill_once(&rig, tally);
		assert_int_equal(rig.torn, 0);
		assert_int_equal(rig.disordered, 0);
		sensor_directory_stats(rig.directory, &stats);
		assert_int_equal(stats.processes, 0);
		assert_int_equal(stats.registered, 1);
		rig_close(&rig);
		assert_int_equal(count_fds(), fds);
		assert_int_equal(access(rig.path, F_OK), -1);
	}
	assert_int_equal(waitpid(-1, NULL, WNOHANG | __WALL), -1);
	unsetenv("SENSOR_TALLY");
	munmap(tally, sizeof *tally);
	unlink(path);
}

/* Storms. */

static void storm(const char *mode, const char *first, const char *second)
{
	struct sensor_directory_options options = { .user_bytes_max = UINT64_C(1) << 30,
						    .all_bytes_max = UINT64_C(1) << 30 };
	struct rig rig = { 0 };
	struct rig_app app;
	unsigned long raised;

	rig_open(&rig, &options);
	rig_observe(&rig, "*", ALL);
	rig_start(&app, (const char *const[]){ mode, first, second, NULL });
	raised = rig_count(&rig, &app);
	rig_end(&rig, &app, 0);
	print_message("%s: %lu raised, %" PRIu64 " lost, %" PRIu64 " dropped, %zu processes\n", mode, raised,
		      rig_lost(&rig), rig_dropped(&rig), rig.process_count);
	assert_int_equal(rig.torn, 0);
	assert_int_equal(rig.disordered, 0);
	assert_int_equal(rig_unfinished(&rig), 0);
	assert_int_equal(rig.steps + rig.alarms + rig.beats + rig_lost(&rig) + rig_dropped(&rig), raised + 1);
	rig_close(&rig);
}

static void test_children(void **state)
{
	(void)state;
	storm("fork", size->children, "100");
}

static void test_signals(void **state)
{
	(void)state;
	storm("signals", size->alarms, "1");
}

static void test_threads(void **state)
{
	(void)state;
	storm("threads", size->threads, size->events);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order),   cmocka_unit_test(test_killed),  cmocka_unit_test(test_children),
		cmocka_unit_test(test_signals), cmocka_unit_test(test_threads),
	};

	size = &sizes[argc > 1 && !strcmp(argv[1], "large")];
	return cmocka_run_group_tests(tests, NULL, NULL);
}
