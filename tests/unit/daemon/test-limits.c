// SPDX-License-Identifier: BSD-2-Clause
/* Whose files the daemon takes, what traces may be called, and when it has used more than it may. */

#include "daemon/budget.h"
#include "daemon/daemon.h"
#include "daemon/recordings.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

enum { SECOND_NS = 1000000000 };

static bool trusts(uid_t owner, mode_t mode)
{
	struct stat status = { .st_uid = owner, .st_mode = S_IFREG | mode };

	return daemon_trusts(&status);
}

static void test_trusts(void **state)
{
	uid_t other = geteuid() + 1;

	(void)state;
	assert_true(trusts(0, 0644));
	assert_true(trusts(geteuid(), 0700));
	assert_true(trusts(0, 0));
	assert_false(trusts(0, 0664));
	assert_false(trusts(0, 0646));
	assert_false(trusts(0, 01777));
	assert_false(trusts(geteuid(), 0020));
	assert_false(trusts(other, 0400));
	assert_false(trusts((uid_t)-1, 0400));
}

static void test_names_of_recordings(void **state)
{
	static const char *const good[] = { "a", "night-2", "A_9", "0", "-", "_" };
	static const char *const bad[] = { "", ".", "..", "a/b", "a.b", "/", "a b", "\xc3\xa4", "a\n", "..a" };
	char name[66] = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof good / sizeof *good; i++)
		assert_true(recordings_is_name(good[i]));
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		assert_false(recordings_is_name(bad[i]));
	memset(name, 'x', 64);
	assert_true(recordings_is_name(name));
	name[64] = 'x';
	assert_false(recordings_is_name(name));
}

/* A look a second after the last one, since which so much CPU time is said to have passed. */
static void look(struct budget *budget, uint32_t percent)
{
	budget->cpu_ns = budget_cpu_ns() - (uint64_t)percent * (SECOND_NS / 100);
	budget_look(budget, budget->looked_ns + SECOND_NS);
}

static void test_cpu(void **state)
{
	struct budget budget = { .cpu_max_percent = 50 };

	(void)state;
	budget_look(&budget, SECOND_NS);
	assert_int_equal(budget.cpu_percent, 0);
	for (uint32_t i = 1; i <= 3; i++) {
		look(&budget, 60);
		assert_in_range(budget.cpu_percent, 60, 99);
		assert_int_equal(budget.seconds_above, i);
	}
	look(&budget, 10);
	assert_in_range(budget.cpu_percent, 10, 49);
	assert_int_equal(budget.seconds_above, 0);
	/* Without a limit nothing is above it. */
	budget.cpu_max_percent = 0;
	look(&budget, 400);
	assert_int_equal(budget.seconds_above, 0);
	/* A clock that stands still divides nothing. */
	budget_look(&budget, budget.looked_ns);
	assert_in_range(budget.cpu_percent, 400, 499);
}

static void test_memory(void **state)
{
	struct budget budget = { 0 };
	uint64_t bytes;

	(void)state;
	assert_true(budget_has_room(&budget, UINT64_C(1) << 60, &bytes));
	budget.memory_max_bytes = budget_resident_bytes() + budget_kernel_bytes() + (64 << 20);
	assert_true(budget_has_room(&budget, 1 << 20, &bytes));
	assert_true(bytes > 1 << 20 && bytes <= budget.memory_max_bytes);
	assert_false(budget_has_room(&budget, 128 << 20, &bytes));
	assert_true(bytes > budget.memory_max_bytes);
}

/* What is mapped and counted by the kernel - a file in place of a map, which takes privileges - is not counted again.
 */
static void test_files_are_not_resident(void **state)
{
	enum { BYTES = 64 << 20 };
	int fd = open(".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	(void)state;
	if (fd < 0 || ftruncate(fd, BYTES))
		skip();
	uint64_t before = budget_resident_bytes();
	char *mapped = mmap(NULL, BYTES, PROT_READ, MAP_SHARED | MAP_POPULATE, fd, 0);
	char *own = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	assert_ptr_not_equal(mapped, MAP_FAILED);
	assert_ptr_not_equal(own, MAP_FAILED);
	assert_in_range(budget_resident_bytes() - before, BYTES - (1 << 20), BYTES + (32 << 20));
	munmap(mapped, BYTES);
	munmap(own, BYTES);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_trusts),
		cmocka_unit_test(test_names_of_recordings),
		cmocka_unit_test(test_cpu),
		cmocka_unit_test(test_memory),
		cmocka_unit_test(test_files_are_not_resident),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
