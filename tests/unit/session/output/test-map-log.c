// SPDX-License-Identifier: BSD-2-Clause
/* What processes had mapped that have ended since. Needs the right to ask the kernel for that. */

#include "session/output/map-log.h"

#include "base/clock.h"

#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { PAGE = 4096, PAGES = 6 };

static struct map_log *open_log(void)
{
	struct map_log *log = map_log_open();

	if (!log)
		skip();
	return log;
}

/* Runs one in a child, which ends; returns its id. */
static uint32_t ended(void (*one)(void))
{
	pid_t child = fork();

	if (child == 0) {
		one();
		_exit(0);
	}
	assert_int_equal(waitpid(child, NULL, 0), child);
	return (uint32_t)child;
}

static const uintptr_t place = UINT64_C(0x200000000);

static void map_in_layers(void)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	mmap((void *)place, PAGES * PAGE, PROT_READ, MAP_PRIVATE | MAP_FIXED, fd, 0);
	mmap((void *)(place + PAGE), 2 * PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, fd, PAGE);
	mmap((void *)(place + 2 * PAGE), PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED | MAP_ANONYMOUS, -1, 0);
}

static void the_dead_have_what_they_mapped(void **state)
{
	struct map_log *log = open_log();
	struct mappings mappings = { 0 };
	uint64_t before = clock_now_ns();
	uint32_t pid = ended(map_in_layers);

	(void)state;
	assert_int_equal(map_log_read(log, pid, clock_now_ns(), &mappings), 0);
	const struct mapping *code = mappings_find(&mappings, place + PAGE),
			     *behind = mappings_find(&mappings, place + 3 * PAGE);

	assert_non_null(code);
	assert_true(code->is_code && code->inode && code->offset == PAGE && code->end == place + 2 * PAGE);
	assert_int_equal(mappings_name(&mappings, code)[0], '/');
	assert_int_equal(mappings_find(&mappings, place + 2 * PAGE)->inode, 0);
	assert_string_equal(mappings_name(&mappings, mappings_find(&mappings, place + 2 * PAGE)), "");
	assert_int_equal(behind->offset, 3 * PAGE);
	assert_false(behind->is_code);
	for (size_t i = 1; i < mappings.count; i++)
		assert_true(mappings.items[i - 1].end <= mappings.items[i].start);
	/* Nothing yet at that time. */
	assert_int_equal(map_log_read(log, pid, before, &mappings), 0);
	assert_int_equal(mappings.count, 0);
	mappings_fini(&mappings);
	map_log_free(log);
}

static void be_another(void)
{
	map_in_layers();
	execl("/bin/true", "true", NULL);
}

static void have_a_child(void)
{
	pid_t child;

	map_in_layers();
	child = fork();
	if (child == 0)
		_exit(0);
	waitpid(child, NULL, 0);
}

static void programs_and_children(void **state)
{
	struct map_log *log = open_log();
	struct mappings mappings = { 0 };
	uint32_t pid = ended(be_another);

	(void)state;
	assert_int_equal(map_log_read(log, pid, clock_now_ns(), &mappings), 0);
	assert_null(mappings_find(&mappings, place));
	assert_true(mappings.count > 5);
	pid = ended(have_a_child); /* whose child has the next id, or one soon after */
	bool is_inherited = false;

	for (uint32_t i = 1; i < 100 && !is_inherited; i++) {
		assert_int_equal(map_log_read(log, pid + i, clock_now_ns(), &mappings), 0);
		is_inherited = mappings_find(&mappings, place + PAGE) != NULL;
	}
	assert_true(is_inherited);
	mappings_fini(&mappings);
	map_log_free(log);
}

static void map_and_map(void)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	for (int i = 0; i < 20000; i++)
		mmap((void *)place, PAGES * PAGE, PROT_READ | (i & 1 ? PROT_EXEC : 0), MAP_PRIVATE | MAP_FIXED, fd, 0);
}

/* A child that maps when it is followed, and ends. */
static uint32_t followed(struct map_log *log)
{
	int ends[2];
	char byte;

	assert_int_equal(pipe(ends), 0);
	pid_t child = fork();

	if (child == 0) {
		if (read(ends[0], &byte, 1) == 1)
			map_in_layers();
		_exit(0);
	}
	map_log_follow(log, child);
	assert_int_equal(write(ends[1], "x", 1), 1);
	assert_int_equal(waitpid(child, NULL, 0), child);
	close(ends[0]);
	close(ends[1]);
	return (uint32_t)child;
}

static void old_ones_make_room(void **state)
{
	struct map_log *log = open_log();
	struct mappings mappings = { 0 };
	uint32_t first = followed(log), second = ended(map_and_map);

	(void)state;
	assert_int_equal(map_log_read(log, second, clock_now_ns(), &mappings), 0);
	assert_non_null(mappings_find(&mappings, place));
	assert_true(mappings_find(&mappings, place)->is_code);
	/* What others do is nothing to one that is followed; more than some are not. */
	for (int i = 0; i < 2 * MAP_LOG_FOLLOWED_MAX; i++) {
		assert_int_equal(map_log_read(log, first, clock_now_ns(), &mappings), 0);
		assert_non_null(mappings_find(&mappings, place + PAGE));
		assert_true(followed(log));
	}
	mappings_fini(&mappings);
	map_log_free(log);
}

static bool run_on(int cpu)
{
	cpu_set_t only;

	CPU_ZERO(&only);
	CPU_SET(cpu, &only);
	return sched_setaffinity(0, sizeof only, &only) == 0;
}

static void map_and_be_another_elsewhere(void)
{
	run_on(1);
	map_in_layers();
	run_on(0);
	execl("/bin/true", "true", NULL);
}

static void map_and_map_there(void)
{
	run_on(0);
	map_and_map();
}

/* The ring of one processor has what was mapped, that of another had, until lately, that a new program began. */
static void what_is_older_than_the_log_is_not_told(void **state)
{
	cpu_set_t before;

	(void)state;
	assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
	bool has_two = run_on(1) && run_on(0);

	assert_int_equal(sched_setaffinity(0, sizeof before, &before), 0);
	if (!has_two)
		skip();
	struct map_log *log = open_log();
	struct mappings mappings = { 0 };
	uint32_t pid = ended(map_and_be_another_elsewhere);

	assert_int_equal(map_log_read(log, pid, clock_now_ns(), &mappings), 0);
	assert_true(mappings.count > 5);
	assert_null(mappings_find(&mappings, place));
	ended(map_and_map_there);
	assert_int_equal(map_log_read(log, pid, clock_now_ns(), &mappings), 0);
	assert_int_equal(mappings.count, 0);
	mappings_fini(&mappings);
	map_log_free(log);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_dead_have_what_they_mapped),
		cmocka_unit_test(programs_and_children),
		cmocka_unit_test(old_ones_make_room),
		cmocka_unit_test(what_is_older_than_the_log_is_not_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
