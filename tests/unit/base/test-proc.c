// SPDX-License-Identifier: BSD-2-Clause
/* What texts of /proc mean, names that hold anything included, and what it says of this very process. */

#include "base/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#define REST                                                                                                   \
	" 40 41 42 0 -1 2097152 1 2 3 4 5 6 7 8 20 0 9 0 99 1000 10 18446744073709551615 1 1 1 1 1 1 0 0 0 1 " \
	"0 0 17 3 0 0 0\n"

static void names_hold_anything(void **context)
{
	static const struct {
		const char *text, *name;
	} cases[] = {
		{ "51 (worker) S" REST, "worker" },
		{ "51 () S" REST, "" },
		{ "51 (a) R (b)) S" REST, "a) R (b)" },
		{ "51 (a\nb) S" REST, "a\nb" },
		{ "51 (0123456789012345678901234567890123456789012345678901234567890123456789) S" REST,
		  "012345678901234567890123456789012345678901234567890123456789012" },
	};
	struct proc_stat stat;

	(void)context;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		assert_int_equal(proc_stat_parse(cases[i].text, &stat), 0);
		assert_string_equal(stat.name, cases[i].name);
		assert_int_equal(stat.state, 'S');
		assert_int_equal(stat.parent, 40);
		assert_int_equal(stat.flags, 2097152);
		assert_int_equal(stat.threads, 9);
		assert_int_equal(stat.birth_ticks, 99);
		assert_int_equal(stat.cpu, 3);
	}
}

static void other_texts_are_refused(void **context)
{
	static const char *const texts[] = { "",       "51",        "51 (a",    "51 a) S 1",     "51 )a( S 1",
					     "51 (a)", "51 (a)S 1", "51 (a) S", "51 (a) S 1 2 3" };
	struct proc_stat stat;

	(void)context;
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		assert_int_equal(proc_stat_parse(texts[i], &stat), -EINVAL);
}

static void numbers_stand_on_their_line(void **context)
{
	static const char text[] = "Name:\tUid:\nPid:\t51\nUid:\t1 2\t 3 x\nflags:\t02100002\nempty:\nlast: 7";
	uint64_t numbers[4];

	(void)context;
	assert_int_equal(proc_numbers(text, "Pid:", numbers, 4), 1);
	assert_int_equal(numbers[0], 51);
	assert_int_equal(proc_numbers(text, "Uid:", numbers, 4), 3);
	assert_int_equal(numbers[2], 3);
	assert_int_equal(proc_numbers(text, "Uid:", numbers, 2), 2);
	assert_int_equal(proc_numbers(text, "flags:", numbers, 4), 1);
	assert_int_equal(numbers[0], 02100002);
	assert_int_equal(proc_numbers(text, "empty:", numbers, 4), 0);
	assert_int_equal(proc_numbers(text, "last:", numbers, 4), 1);
	assert_int_equal(proc_numbers(text, "id:", numbers, 4), 0);
	assert_int_equal(proc_numbers("", "id:", numbers, 4), 0);
}

static void this_process_is_there(void **context)
{
	struct proc_stat process, thread;
	uint64_t ticks;

	(void)context;
	assert_int_equal(proc_stat(getpid(), 0, &process), 0);
	assert_int_equal(proc_stat(getpid(), getpid(), &thread), 0);
	assert_int_equal(process.parent, getppid());
	assert_int_equal(process.state, 'R');
	assert_string_equal(process.name, thread.name);
	assert_int_equal(proc_birth(getpid(), &ticks), 0);
	assert_int_equal(ticks, process.birth_ticks);
	assert_int_equal(proc_process_of(getpid()), getpid());
}

/* A number that no process has; of one that is a zombie nobody is left. */
static void others_are_gone(void **context)
{
	struct proc_stat stat;
	uint64_t ticks;
	siginfo_t info;
	pid_t child;

	(void)context;
	assert_int_equal(proc_stat(1 << 22, 0, &stat), -ENOENT);
	assert_int_equal(proc_birth(1 << 22, &ticks), -ESRCH);
	assert_int_equal(proc_process_of(1 << 22), 0);
	child = fork();
	if (!child)
		_exit(0);
	assert_int_equal(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0);
	assert_int_equal(proc_stat(child, 0, &stat), 0);
	assert_int_equal(stat.state, 'Z');
	assert_int_equal(proc_birth(child, &ticks), -ESRCH);
	assert_int_equal(waitpid(child, NULL, 0), child);
}

struct seen {
	int wanted, count, most;
};

static int see(void *context, int number)
{
	struct seen *seen = context;

	seen->count += number == seen->wanted;
	return --seen->most ? 0 : -ENOSPC;
}

static void folders_are_gone_through(void **context)
{
	int fd = open("/dev/null", O_RDONLY);
	struct seen seen = { .wanted = fd };

	(void)context;
	assert_true(fd >= 0);
	assert_int_equal(proc_each("/proc/self/fd", see, &seen), 0);
	assert_int_equal(seen.count, 1);
	seen = (struct seen){ .most = 2 };
	assert_int_equal(proc_each("/proc", see, &seen), -ENOSPC);
	assert_int_equal(seen.most, 0);
	assert_int_equal(proc_each("/proc/4194304/task", see, &seen), -ENOENT);
	close(fd);
}

static void mappings_have_their_files(void **context)
{
	static const char maps[] = "55d0c0a00000-55d0c0a01000 r-xp 00002000 fe:00 42                 /a b\n"
				   "this is none\n"
				   "7f0000000000-7f0000001000 rw-p 00000000 00:00 0\n"
				   "7ffd00000000-7ffd00021000 rw-p 00000000 00:00 0                  [stack]\n";
	FILE *file = fmemopen((void *)(uintptr_t)maps, sizeof maps - 1, "r");
	struct proc_mapping mapping;
	char line[128];

	(void)context;
	assert_true(proc_mapping_next(file, line, sizeof line, &mapping));
	assert_true(mapping.start == 0x55d0c0a00000 && mapping.end == 0x55d0c0a01000 && mapping.offset == 0x2000);
	assert_string_equal(mapping.path, "/a b");
	assert_true(proc_mapping_next(file, line, sizeof line, &mapping));
	assert_string_equal(mapping.path, "");
	assert_true(proc_mapping_next(file, line, sizeof line, &mapping));
	assert_string_equal(mapping.path, "[stack]");
	assert_false(proc_mapping_next(file, line, sizeof line, &mapping));
	fclose(file);
}

static void files_are_read_and_written(void **context)
{
	char text[8];

	(void)context;
	assert_int_equal(proc_read("/proc/self/none", text, sizeof text), -ENOENT);
	assert_int_equal(proc_read("/proc/self/status", text, sizeof text), sizeof text - 1);
	assert_string_equal(text, "Name:\tt");
	assert_int_equal(proc_read("/proc/self/mem", text, sizeof text), -EIO);
	assert_int_equal(proc_write("/dev/null", "x"), 0);
	assert_int_equal(proc_write("/proc/self/none", "x"), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_hold_anything),
		cmocka_unit_test(other_texts_are_refused),
		cmocka_unit_test(numbers_stand_on_their_line),
		cmocka_unit_test(this_process_is_there),
		cmocka_unit_test(others_are_gone),
		cmocka_unit_test(folders_are_gone_through),
		cmocka_unit_test(mappings_have_their_files),
		cmocka_unit_test(files_are_read_and_written),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
