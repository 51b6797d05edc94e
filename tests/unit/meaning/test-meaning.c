// SPDX-License-Identifier: BSD-2-Clause
/* Meanings: how people read numbers, which names stand for which, and what may be compared. */

#include "meaning/meaning.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

static const char *shown(const char *meaning, int64_t number, char text[MEANING_TEXT_BYTES])
{
	struct text_buffer buffer;

	text_init_fixed(&buffer, text, MEANING_TEXT_BYTES);
	meaning_show(&buffer, meaning_find(meaning), (struct meaning_number){ (uint64_t)number, true });
	assert_int_equal(buffer.failure, 0);
	return text;
}

static const struct {
	const char *meaning;
	int64_t number;
	const char *text;
} readings[] = {
	{ "duration", 0, "0ns" },
	{ "duration", 999, "999ns" },
	{ "duration", 1000, "1us" },
	{ "duration", -1234, "-1.2us" },
	{ "duration", 30100000, "30.1ms" },
	{ "duration", 30149999, "30.1ms" },
	{ "duration", 30150000, "30.2ms" },
	{ "duration", 999949999, "999.9ms" },
	{ "duration", 999950000, "1.0s" },
	{ "duration", INT64_C(599949999999), "599.9s" },
	{ "duration", INT64_C(600000000000), "10min" },
	{ "duration", INT64_C(36000000000000), "10h" },
	{ "duration", INT64_MIN, "-2562047.8h" },
	{ "time", INT64_C(1234567890123), "1234.567890123" },
	{ "bytes", 512, "512 B" },
	{ "bytes", 1468006, "1.4 MiB" },
	{ "bytes", (1 << 20) - 3, "1.0 MiB" },
	{ "syscall", 230, "clock_nanosleep" },
	{ "syscall", 999, "999" },
	{ "syscall", -1, "none" },
	{ "errno", 2, "ENOENT" },
	{ "errno", 0, "0" },
	{ "result", -2, "-ENOENT" },
	{ "result", -516, "-ERESTART_RESTARTBLOCK" },
	{ "result", -4096, "-4096" },
	{ "result", 7, "7" },
	{ "signal", 11, "SIGSEGV" },
	{ "signal", 0, "0" },
	{ "fd", -100, "AT_FDCWD" },
	{ "fd", 3, "3" },
	{ "flags open", 0x41, "O_CREAT|O_WRONLY" },
	{ "flags open", 0, "O_RDONLY" },
	{ "flags open", 04010002, "O_SYNC|O_RDWR" },
	{ "flags open", INT64_C(0x100000001), "O_WRONLY|0x100000000" },
	{ "flags prot", 0, "PROT_NONE" },
	{ "flags prot", 0x80, "0x80" },
	{ "flags wait", INT64_C(-0x80000000) | 1, "WNOHANG|__WCLONE" },
	{ "flags clone", 0x1200011, "CLONE_CHILD_CLEARTID|CLONE_CHILD_SETTID|SIGCHLD" },
	{ "flags flock", 6, "LOCK_EX|LOCK_NB" },
	{ "enum whence", 1, "SEEK_CUR" },
	{ "enum ioctl", 0x5413, "TIOCGWINSZ" },
	{ "enum ioctl", 0x80086601, "FS_IOC_GETFLAGS" },
	{ "enum ioctl", 0x1234, "4660" },
	{ "mode", 0100644, "S_IFREG|0644" },
	{ "mode", 04755, "04755" },
	{ "mode", 0, "0" },
	{ "state", 0, "TASK_RUNNING" },
	{ "prio", 120, "nice 0" },
	{ "prio", 49, "rt 50" },
	{ "prio", -1, "deadline" },
	{ "prio", 5000, "5000" },
	{ "ip4", 0x7f000001, "127.0.0.1" },
	{ "addr", 0x55e8, "0x55e8" },
	{ "pid", 12, "12" },
};

static void numbers_are_read_by_their_meaning(void **state)
{
	char text[MEANING_TEXT_BYTES];

	(void)state;
	for (size_t i = 0; i < sizeof readings / sizeof *readings; i++)
		assert_string_equal(shown(readings[i].meaning, readings[i].number, text), readings[i].text);
}

static void parts_have_no_names(void **state)
{
	char text[MEANING_TEXT_BYTES];
	struct text_buffer buffer;

	(void)state;
	text_init_fixed(&buffer, text, sizeof text);
	assert_true(meaning_show_real(&buffer, &meaning_duration, 30100000.4));
	assert_string_equal(text, "30.1ms");
	assert_false(meaning_show_real(&buffer, meaning_find("syscall"), 230.0));
	assert_false(meaning_show_real(&buffer, &meaning_duration, 1e300));
	assert_string_equal(text, "30.1ms");
}

/* Every meaning is found by its text, and whatever number it is given, its text fits. */
static void every_meaning_is_found_and_fits(void **state)
{
	static const int64_t numbers[] = { 0, 1, -1, INT64_MAX, INT64_MIN, 0x7fffffff, INT64_C(-0x80000000), -4095 };
	char text[MEANING_TEXT_BYTES];
	const struct meaning *meaning;
	size_t count = 0;

	(void)state;
	for (; (meaning = meaning_get(count)); count++) {
		assert_ptr_equal(meaning_find(meaning->text), meaning);
		for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
			shown(meaning->text, numbers[i], text);
	}
	assert_true(count > 60);
	assert_null(meaning_find("flags"));
	assert_null(meaning_find(""));
	assert_string_equal(meaning_nearest("duratoin"), "duration");
	assert_string_equal(meaning_nearest("flags opne"), "flags open");
}

static void names_stand_for_numbers(void **state)
{
	static const struct {
		const char *meaning, *name;
		int64_t number;
	} cases[] = {
		{ "syscall", "openat", 257 },    { "syscall", "stat", 4 },
		{ "syscall", "newstat", 4 },     { "result", "ENOENT", 2 },
		{ "result", "EWOULDBLOCK", 11 }, { "signal", "SIGBUS", 7 },
		{ "signal", "SIGRTMIN", 34 },    { "flags open", "O_CREAT", 0100 },
		{ "mode", "S_IFDIR", 040000 },   { "enum madvise", "MADV_DONTNEED", 4 },
	};
	char nearest[MEANING_NAME_BYTES];
	int64_t number;

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		assert_true(meaning_constant(meaning_find(cases[i].meaning), cases[i].name, &number));
		assert_int_equal(number, cases[i].number);
	}
	assert_false(meaning_constant(meaning_find("syscall"), "opennat", &number));
	assert_false(meaning_constant(&meaning_pid, "openat", &number));
	assert_false(meaning_constant(NULL, "openat", &number));
	assert_true(meaning_nearest_constant(meaning_find("syscall"), "opennat", nearest));
	assert_string_equal(nearest, "openat");
	assert_true(meaning_nearest_constant(meaning_find("signal"), "SIGSGEV", nearest));
	assert_string_equal(nearest, "SIGSEGV");
	assert_false(meaning_nearest_constant(&meaning_pid, "openat", nearest));
}

static void only_numbers_with_a_name_are_named(void **state)
{
	char text[MEANING_TEXT_BYTES];
	struct text_buffer buffer;
	const struct meaning *result = meaning_find("result");

	(void)state;
	text_init_fixed(&buffer, text, sizeof text);
	assert_false(meaning_name(&buffer, result, (struct meaning_number){ 4096, true }));
	assert_false(meaning_name(&buffer, &meaning_duration, (struct meaning_number){ 1, true }));
	assert_false(meaning_name(&buffer, meaning_find("flags prot"), (struct meaning_number){ 0x80, true }));
	assert_int_equal(buffer.length, 0);
	assert_true(meaning_name(&buffer, result, (struct meaning_number){ (uint64_t)-2, true }));
	assert_string_equal(text, "-ENOENT");
}

static bool named(struct meaning_users *users, const struct meaning *meaning, uint64_t id, char text[64])
{
	struct text_buffer buffer;

	text_init_fixed(&buffer, text, 64);
	return meaning_user(users, meaning, (struct meaning_number){ id, false }, &buffer);
}

static void ids_are_named_only_where_they_are_of_this_host(void **state)
{
	struct meaning_users *users;
	char text[64] = "";

	(void)state;
	assert_int_equal(meaning_users_new(&users), 0);
	assert_false(named(NULL, &meaning_uid, 0, text));
	assert_false(named(users, &meaning_uid, 0, text));
	meaning_users_ask(users);
	for (int i = 0; i < 2; i++) {
		assert_true(named(users, &meaning_uid, 0, text));
		assert_string_equal(text, "root");
	}
	assert_true(named(users, &meaning_gid, 0, text));
	assert_string_equal(text, "root");
	assert_false(named(users, &meaning_pid, 0, text));
	assert_false(named(users, &meaning_uid, UINT64_C(1) << 32, text));
	assert_false(named(users, &meaning_uid, UINT32_MAX, text));
	/* More than are kept: the ones that came first are still known. */
	for (uint64_t id = 3000000000; id < 3000000300; id++)
		assert_false(named(users, &meaning_uid, id, text));
	assert_true(named(users, &meaning_uid, 0, text));
	meaning_users_free(users);
	meaning_users_free(NULL);
}

static void users_and_groups_stand_for_numbers(void **state)
{
	static const char *const none[] = { "", "0", "1000", "no such user", "a:b", "../root", "roto" };
	char nearest[MEANING_NAME_BYTES], longest[MEANING_NAME_BYTES * 2];
	int64_t number = -1;

	(void)state;
	assert_true(meaning_constant(&meaning_uid, "root", &number));
	assert_int_equal(number, 0);
	assert_true(meaning_constant(&meaning_gid, "root", &number));
	for (size_t i = 0; i < sizeof none / sizeof *none; i++)
		assert_false(meaning_constant(&meaning_uid, none[i], &number));
	memset(longest, 'a', sizeof longest);
	longest[sizeof longest - 1] = 0;
	assert_false(meaning_constant(&meaning_gid, longest, &number));
	assert_true(meaning_nearest_constant(&meaning_uid, "roto", nearest));
	assert_string_equal(nearest, "root");
	assert_true(meaning_is_of_host(&meaning_gid));
	assert_false(meaning_is_of_host(&meaning_pid));
	assert_false(meaning_is_of_host(meaning_find("syscall")));
}

static void what_means_something_else_is_not_compared(void **state)
{
	const struct meaning *result = meaning_find("result"), *call = meaning_find("syscall");

	(void)state;
	assert_true(meaning_is_comparable(&meaning_pid, &meaning_tid));
	assert_true(meaning_is_comparable(NULL, call));
	assert_true(meaning_is_comparable(call, call));
	assert_false(meaning_is_comparable(call, &meaning_pid));
	assert_false(meaning_is_comparable(&meaning_time, &meaning_duration));
	assert_true(meaning_is_comparable(result, meaning_find("fd")));
	assert_true(meaning_is_comparable(meaning_find("bytes"), result));
	assert_false(meaning_is_comparable(result, call));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_are_read_by_their_meaning),
		cmocka_unit_test(parts_have_no_names),
		cmocka_unit_test(every_meaning_is_found_and_fits),
		cmocka_unit_test(names_stand_for_numbers),
		cmocka_unit_test(only_numbers_with_a_name_are_named),
		cmocka_unit_test(ids_are_named_only_where_they_are_of_this_host),
		cmocka_unit_test(users_and_groups_stand_for_numbers),
		cmocka_unit_test(what_means_something_else_is_not_compared),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
