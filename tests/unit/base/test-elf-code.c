// SPDX-License-Identifier: BSD-2-Clause
/* The functions of this very program and of its C library, as the linker placed them. Spoilt files: test-frames.c. */

#include "base/elf-code.h"

#include "base/alloc.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

struct wanted {
	const char *name;
	unsigned times, all;
	struct elf_function found;
};

static int look(void *context, const struct elf_function *function)
{
	struct wanted *wanted = context;

	wanted->all++;
	if (strcmp(function->name, wanted->name) == 0) {
		wanted->times++;
		wanted->found = *function;
	}
	return 0;
}

static int stop(void *context, const struct elf_function *function)
{
	(void)function;
	++*(int *)context;
	return -EINTR;
}

static struct elf_code *open_code(const char *path, int *fd)
{
	struct elf_code *code = NULL;

	*fd = open(path, O_RDONLY);
	assert_true(*fd >= 0);
	assert_int_equal(elf_code_open(*fd, ELF_CODE, &code), 0);
	return code;
}

static void close_code(struct elf_code *code, int fd)
{
	elf_code_free(code);
	close(fd);
}

static void all_functions_are_visited(void **context)
{
	int fd, calls = 0;
	struct elf_code *code = open_code("/proc/self/exe", &fd);
	struct wanted local = { .name = "all_functions_are_visited" }, global = { .name = "main" };
	uint64_t offset, address;

	(void)context;
	assert_int_equal(elf_code_each(code, ELF_FULL, SIZE_MAX, look, &local), 0);
	assert_int_equal(elf_code_each(code, ELF_FULL, SIZE_MAX, look, &global), 0);
	assert_int_equal(local.times, 1);
	assert_true(local.found.is_local && !local.found.is_indirect && local.found.size > 0);
	assert_int_equal(global.times, 1);
	assert_false(global.found.is_local);
	assert_true(elf_offset(elf_code_segments(code), local.found.address, &offset));
	assert_true(elf_address(elf_code_segments(code), offset, &address));
	assert_true(address == local.found.address);
	assert_int_equal(elf_code_each(code, ELF_FULL, SIZE_MAX, stop, &calls), -EINTR);
	assert_int_equal(calls, 1);
	assert_int_equal(elf_code_each(code, ELF_FULL, 64, stop, &calls), 0); /* too large to be read */
	assert_int_equal(calls, 1);
	close_code(code, fd);
}

/* Functions that only say which one is meant are told as such. labs: no sanitizer puts one of its own in its place. */
static void a_library_is_linked_with(void **context)
{
	Dl_info info;
	int fd;
	struct elf_code *code;
	struct wanted wanted = { .name = "labs" }, indirect = { .name = "strlen" };

	(void)context;
	assert_true(dladdr((void *)(uintptr_t)&labs, &info));
	code = open_code(info.dli_fname, &fd);
	assert_int_equal(elf_code_each(code, ELF_LINKING, SIZE_MAX, look, &wanted), 0);
	assert_true(wanted.times >= 1 && !wanted.found.is_indirect);
	assert_true((uintptr_t)info.dli_fbase + wanted.found.address == (uintptr_t)&labs);
	assert_int_equal(elf_code_each(code, ELF_LINKING, SIZE_MAX, look, &indirect), 0);
	assert_true(indirect.times >= 1 && indirect.found.is_indirect);
	close_code(code, fd);
}

struct version {
	const char *name;
	uint64_t address;
	unsigned times;
};

static int look_at_version(void *context, const struct elf_function *function)
{
	struct version *version = context;

	if (!function->is_old && strcmp(function->name, version->name) == 0) {
		version->times++;
		version->address = function->address;
	}
	return 0;
}

/* The C library keeps functions of old for old programs, under the name that others have today. */
static void todays_version_is_known(void **context)
{
	const char *names[] = { "pthread_cond_wait", "pthread_cond_timedwait", "pthread_cond_signal" };
	void *library = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);

	(void)context;
	if (!library)
		skip();
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		struct version version = { .name = names[i] };
		void *today = dlsym(library, names[i]);
		Dl_info info;
		int fd;

		assert_true(dladdr(today, &info));
		struct elf_code *code = open_code(info.dli_fname, &fd);

		assert_int_equal(elf_code_each(code, ELF_LINKING, SIZE_MAX, look_at_version, &version), 0);
		assert_int_equal(version.times, 1);
		assert_true((uintptr_t)info.dli_fbase + version.address == (uintptr_t)today);
		close_code(code, fd);
	}
	dlclose(library);
}

static void edges_of_segments(void **context)
{
	struct elf_segments segments = {
		.items = { { 0x1000, 0x100, 0x401000, 0x100 }, { 0x3000, 0x10, 0x400000, 0x10 } }, .count = 2
	};
	uint64_t value = 7;

	(void)context;
	assert_true(elf_address(&segments, 0x10ff, &value) && value == 0x4010ff);
	assert_true(elf_address(&segments, 0x3000, &value) && value == 0x400000);
	assert_true(elf_offset(&segments, 0x40000f, &value) && value == 0x300f);
	assert_false(elf_address(&segments, 0x1100, &value));
	assert_false(elf_address(&segments, 0xfff, &value));
	assert_false(elf_address(&segments, UINT64_MAX, &value));
	assert_false(elf_offset(&segments, 0x400010, &value));
	assert_true(value == 0x300f);
}

static void other_files_are_refused(void **context)
{
	struct elf_code *code = NULL;
	int fd = open("/proc/self/status", O_RDONLY), program = open("/proc/self/exe", O_RDONLY);

	(void)context;
	assert_int_equal(elf_code_open(fd, ELF_CODE, &code), -ENOEXEC);
	alloc_fail_at(1);
	assert_int_equal(elf_code_open(program, ELF_CODE, &code), -ENOMEM);
	alloc_fail_at(0);
	assert_null(code);
	close(fd);
	close(program);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_functions_are_visited), cmocka_unit_test(a_library_is_linked_with),
		cmocka_unit_test(todays_version_is_known),   cmocka_unit_test(edges_of_segments),
		cmocka_unit_test(other_files_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
