// SPDX-License-Identifier: BSD-2-Clause
/* What addresses of a stack are called: this process's own, those of nobody, and files that are no good. */

#include "session/output/addresses.h"
#include "session/output/frames.h"
#include "session/output/symbols.h"

#include "base/alloc.h"
#include "base/clock.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

enum { CODE_OFFSET = 0x1000, CODE_ADDRESS = 0x401000, NAMES_BYTES = 64, SYMBOLS = 5 };

/* A small file with functions, each part where a test can spoil it. */
struct image {
	Elf64_Ehdr header;
	Elf64_Phdr segment;
	Elf64_Shdr sections[3];
	Elf64_Sym symbols[SYMBOLS];
	char names[NAMES_BYTES];
};

static Elf64_Sym function(uint32_t name, uint64_t start, uint64_t size, int binding)
{
	return (Elf64_Sym){ .st_name = name,
			    .st_info = (uint8_t)ELF64_ST_INFO(binding, STT_FUNC),
			    .st_shndx = 1,
			    .st_value = CODE_ADDRESS + start,
			    .st_size = size };
}

static struct image good_image(void)
{
	struct image image = { .names = "\0__first\0first\0inner\0bare" };

	memcpy(image.header.e_ident, ELFMAG, SELFMAG);
	image.header.e_ident[EI_CLASS] = ELFCLASS64;
	image.header.e_ident[EI_DATA] = ELFDATA2LSB;
	image.header.e_ident[EI_VERSION] = EV_CURRENT;
	image.header.e_type = ET_EXEC;
	image.header.e_machine = EM_X86_64;
	image.header.e_version = EV_CURRENT;
	image.header.e_ehsize = sizeof image.header;
	image.header.e_phoff = offsetof(struct image, segment);
	image.header.e_phentsize = sizeof image.segment;
	image.header.e_phnum = 1;
	image.header.e_shoff = offsetof(struct image, sections);
	image.header.e_shentsize = sizeof *image.sections;
	image.header.e_shnum = 3;
	image.segment =
		(Elf64_Phdr){ PT_LOAD, PF_X | PF_R, CODE_OFFSET, CODE_ADDRESS, CODE_ADDRESS, 0x1000, 0x1000, 1 };
	image.sections[1] = (Elf64_Shdr){ .sh_type = SHT_SYMTAB,
					  .sh_offset = offsetof(struct image, symbols),
					  .sh_size = sizeof image.symbols,
					  .sh_link = 2,
					  .sh_addralign = 8,
					  .sh_entsize = sizeof *image.symbols };
	image.sections[2] = (Elf64_Shdr){ .sh_type = SHT_STRTAB,
					  .sh_offset = offsetof(struct image, names),
					  .sh_size = sizeof image.names,
					  .sh_addralign = 1 };
	image.symbols[1] = function(1, 0, 0x100, STB_GLOBAL);
	image.symbols[2] = function(9, 0, 0x100, STB_GLOBAL);
	image.symbols[3] = function(15, 0x40, 0x10, STB_LOCAL);
	image.symbols[4] = function(21, 0x200, 0, STB_GLOBAL);
	return image;
}

static int file_of(const void *bytes, size_t size)
{
	int fd = memfd_create("image", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, size), size);
	return fd;
}

static void assert_found(const struct symbols *symbols, uint64_t offset, const char *name, uint64_t distance)
{
	uint64_t found_distance = 0;
	const char *found = symbols_find(symbols, offset, &found_distance);

	if (!name) {
		assert_null(found);
		return;
	}
	assert_non_null(found);
	assert_string_equal(found, name);
	assert_int_equal(found_distance, distance);
}

static void functions_are_found(void **state)
{
	const struct image image = good_image();
	int fd = file_of(&image, sizeof image);
	struct symbols *symbols;

	(void)state;
	assert_int_equal(symbols_read(fd, ELF_CODE, &symbols), 0);
	assert_found(symbols, CODE_OFFSET, "first", 0); /* not __first */
	assert_found(symbols, CODE_OFFSET + 0x3f, "first", 0x3f);
	assert_found(symbols, CODE_OFFSET + 0x41, "inner", 1);
	assert_found(symbols, CODE_OFFSET + 0x50, "first", 0x50);
	assert_found(symbols, CODE_OFFSET + 0x100, NULL, 0);
	assert_found(symbols, CODE_OFFSET + 0x280, "bare", 0x80); /* its size is not known */
	assert_found(symbols, CODE_OFFSET + 0x1000, NULL, 0);
	assert_found(symbols, 0, NULL, 0);
	assert_found(symbols, UINT64_MAX, NULL, 0);
	symbols_free(symbols);
	close(fd);
}

/* Every byte of the file changed in several ways, every length cut: never a crash, and names end where they end. */
static void garbage_is_survived(void **state)
{
	static const uint8_t values[] = { 0x00, 0x01, 0x7f, 0x80, 0xff };
	const struct image good = good_image();
	size_t read_fine = 0;

	(void)state;
	for (size_t i = 0; i < 2 * sizeof good; i++) {
		for (size_t v = 0; v < (i < sizeof good ? sizeof values : 1); v++) {
			struct image bad = good;
			size_t size = i < sizeof good ? sizeof good : i - sizeof good;
			struct symbols *symbols = NULL;
			uint64_t distance;

			if (i < sizeof good)
				((uint8_t *)&bad)[i] = values[v];
			int fd = file_of(&bad, size);

			if (symbols_read(fd, ELF_CODE, &symbols) == 0) {
				read_fine++;
				for (uint64_t offset = 0; offset < 0x2100; offset += 0x20) {
					const char *name = symbols_find(symbols, offset, &distance);

					assert_true(!name || strlen(name) < NAMES_BYTES);
				}
			}
			symbols_free(symbols);
			close(fd);
		}
	}
	assert_true(read_fine > sizeof good);
}

static void no_elf_is_said(void **state)
{
	static const char *const files[] = { "", "hello", "!<arch>\n",
					     "\x7f"
					     "ELF" };
	struct symbols *symbols = NULL;

	(void)state;
	for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
		int fd = file_of(files[i], strlen(files[i])), result = symbols_read(fd, ELF_CODE, &symbols);

		assert_true(result == -ENOEXEC || (result == 0 && symbols));
		if (!result)
			symbols_free(symbols);
		close(fd);
	}
	assert_int_equal(symbols_read(-1, ELF_CODE, &symbols), -ENOEXEC);
}

static void sizes_that_lie_are_refused(void **state)
{
	struct image image = good_image();
	struct symbols *symbols = NULL;

	(void)state;
	image.sections[1].sh_size = UINT64_C(1) << 40;
	int fd = file_of(&image, sizeof image);

	assert_int_equal(symbols_read(fd, ELF_CODE, &symbols), -ENOEXEC);
	assert_null(symbols);
	close(fd);
}

static struct program_match match_of(pid_t pid, const uint64_t *stack, uint32_t count)
{
	return (struct program_match){
		.ts = clock_now_ns(), .pid = (uint32_t)pid, .tid = (uint32_t)pid, .stack = stack, .stack_count = count
	};
}

/* The texts of match, or NULL. */
static const char *const *named(struct frames *frames, const struct program_match *match, bool foreign)
{
	struct program_match reported = *match;

	return frames_name(frames, &reported, foreign) ? NULL : reported.named_stack.frames;
}

static void own_functions_have_names(void **state)
{
	/* The innermost is where it is; the others are behind a call. */
	const uint64_t stack[] = { (uintptr_t)&frames_new, (uintptr_t)&frames_new + 1, (uintptr_t)&strtol, 16 };
	const struct program_match match = match_of(getpid(), stack, 4);
	struct frames *frames = frames_new(false);
	const char *const *texts;

	(void)state;
	assert_non_null(frames);
	for (int i = 0; i < 3; i++) {
		texts = named(frames, &match, false);
		assert_non_null(texts);
		assert_memory_equal(texts[0], "frames_new+0x0 (/", 17);
		assert_memory_equal(texts[1], "frames_new+0x1 (/", 17);
		assert_non_null(strstr(texts[2], " (/"));
		assert_string_equal(texts[3], "0x10");
	}
	texts = named(frames, &match, true);
	assert_memory_equal(texts[0], "0x", 2);
	assert_null(strchr(texts[0], '('));
	frames_free(frames);
}

static void nobody_has_addresses(void **state)
{
	const uint64_t stack[] = { (uintptr_t)&frames_new, UINT64_MAX };
	struct frames *frames = frames_new(false);
	pid_t child = fork();
	char expected[32];

	(void)state;
	if (child == 0)
		_exit(0);
	assert_int_equal(waitpid(child, NULL, 0), child);
	const struct program_match gone = match_of(child, stack, 2);
	const char *const *texts = named(frames, &gone, false);

	snprintf(expected, sizeof expected, "0x%" PRIx64, stack[0]);
	assert_string_equal(texts[0], expected);
	assert_string_equal(texts[1], "0xffffffffffffffff");
	/* Who has the id now was born after the match. */
	struct program_match before = match_of(getpid(), stack, 2);

	before.ts = 1;
	assert_string_equal(named(frames, &before, false)[0], expected);
	frames_free(frames);
}

long planted_zeroed[4];
struct {
	long number, mutex;
} planted_record = { 7, 0 };

/* As the kernel tells it of this process, now. */
static struct program_match own_match(char comm[16])
{
	struct program_match match = match_of(getpid(), NULL, 0);

	assert_int_equal(prctl(PR_GET_NAME, comm), 0);
	match.comm = comm;
	return match;
}

static void assert_called(struct addresses *addresses, const struct program_match *match, const void *address,
			  const char *expected)
{
	const char *name = addresses_name(addresses, match, (uintptr_t)address);

	assert_non_null(name);
	assert_memory_equal(name, expected, strlen(expected));
}

static void own_addresses_have_names(void **state)
{
	char comm[16], *allocated = malloc(100), here;
	struct program_match match = own_match(comm);
	struct frames *frames = frames_new(false);
	struct addresses *addresses = addresses_new(frames);
	void *nameless = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)state;
	assert_true(addresses && allocated && nameless != MAP_FAILED);
	for (int i = 0; i < 2; i++) {
		assert_called(addresses, &match, &planted_zeroed[1], "planted_zeroed+0x8 (test-session-frames)");
		assert_called(addresses, &match, &planted_record.mutex, "planted_record+0x8 (test-session-frames)");
		assert_called(addresses, &match, &here, "[stack]-0x");
		assert_called(addresses, &match, (const char *)&own_addresses_have_names + 1,
			      "own_addresses_have_names+0x1 (test-session-frames) test-frames.c:");
		assert_null(addresses_name(addresses, &match, (uintptr_t)nameless));
		assert_null(addresses_name(addresses, &match, 0));
		assert_null(addresses_name(addresses, &match, 100));
		assert_null(addresses_name(addresses, &match, UINT64_MAX));
	}
	munmap(nameless, 4096);
	free(allocated);
	addresses_free(addresses);
	frames_free(frames);
}

static void nobody_has_named_addresses(void **state)
{
	struct frames *frames = frames_new(false);
	struct addresses *addresses = addresses_new(frames);
	char comm[16];
	struct program_match match = own_match(comm);

	(void)state;
	/* It runs another program by now, or another process has its number. */
	match.comm = "another";
	assert_null(addresses_name(addresses, &match, (uintptr_t)planted_zeroed));
	match.comm = comm;
	match.ts = 1;
	assert_null(addresses_name(addresses, &match, (uintptr_t)planted_zeroed));
	match = own_match(comm);
	assert_called(addresses, &match, planted_zeroed, "planted_zeroed+0x0");
	addresses_free(addresses);
	frames_free(frames);
}

static void memory_may_be_short_for_addresses(void **state)
{
	char comm[16];
	const struct program_match match = own_match(comm);
	bool done = false;

	(void)state;
	for (unsigned long n = 1; !done; n++) {
		alloc_fail_at(n);
		struct frames *frames = frames_new(false);
		struct addresses *addresses = frames ? addresses_new(frames) : NULL;
		const char *name =
			addresses ? addresses_name(addresses, &match, (uintptr_t)&planted_record.mutex) : NULL;

		alloc_fail_at(0);
		done = name && strcmp(name, "planted_record+0x8 (test-session-frames)") == 0;
		addresses_free(addresses);
		frames_free(frames);
		assert_true(n < 100000);
	}
}

static void memory_may_be_short(void **state)
{
	const uint64_t stack[] = { (uintptr_t)&frames_new, (uintptr_t)&frames_new + 1, 16 };
	const struct program_match match = match_of(getpid(), stack, 3);
	bool done = false;

	(void)state;
	for (unsigned long n = 1; !done; n++) {
		alloc_fail_at(n);
		struct frames *frames = frames_new(false);
		const char *const *texts = frames ? named(frames, &match, false) : NULL;

		alloc_fail_at(0);
		done = texts && strncmp(texts[0], "frames_new", 10) == 0;
		frames_free(frames);
		assert_true(n < 100000);
	}
}

static uint64_t cpu_ns(clockid_t clock)
{
	struct timespec now;

	assert_int_equal(clock_gettime(clock, &now), 0);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* A file with very many functions, in no order, that others may write; its first page is mapped as code. */
static void *map_large_file(size_t count)
{
	struct image image = good_image();
	char path[] = "/tmp/asterism-large-XXXXXX";
	Elf64_Sym *symbols = calloc(count, sizeof *symbols);
	int fd = mkstemp(path);

	assert_true(fd >= 0 && symbols);
	for (size_t i = 1; i < count; i++)
		symbols[i] = function(15, i * 7919 % count, 1, STB_LOCAL);
	symbols[1] = function(9, 0, 1, STB_GLOBAL);
	image.segment.p_offset = 0;
	image.sections[1].sh_offset = sizeof image;
	image.sections[1].sh_size = count * sizeof *symbols;
	assert_int_equal(write(fd, &image, sizeof image), sizeof image);
	assert_int_equal(write(fd, symbols, count * sizeof *symbols), count * sizeof *symbols);
	assert_int_equal(fchmod(fd, 0666), 0);
	void *code = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);

	unlink(path);
	close(fd);
	free(symbols);
	assert_true(code != MAP_FAILED);
	return code;
}

/* Who asks has others to see to: another thread reads, and is not waited for as long as it takes. */
static void large_files_are_read_elsewhere(void **state)
{
	void *code = map_large_file(2000000);
	const uint64_t stack[] = { (uintptr_t)code };
	const struct program_match match = match_of(getpid(), stack, 1);
	struct frames *frames = frames_new(false);
	uint64_t own = cpu_ns(CLOCK_THREAD_CPUTIME_ID), all = cpu_ns(CLOCK_PROCESS_CPUTIME_ID);

	(void)state;
	assert_non_null(frames);
	while (strncmp(named(frames, &match, false)[0], "first+0x0 (/tmp/asterism-large-", 31) != 0)
		usleep(20000);
	own = cpu_ns(CLOCK_THREAD_CPUTIME_ID) - own;
	all = cpu_ns(CLOCK_PROCESS_CPUTIME_ID) - all;
	assert_true(own * 2 < all);
	frames_free(frames);
	munmap(code, 4096);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_are_found),
		cmocka_unit_test(garbage_is_survived),
		cmocka_unit_test(no_elf_is_said),
		cmocka_unit_test(sizes_that_lie_are_refused),
		cmocka_unit_test(own_functions_have_names),
		cmocka_unit_test(large_files_are_read_elsewhere),
		cmocka_unit_test(nobody_has_addresses),
		cmocka_unit_test(memory_may_be_short),
		cmocka_unit_test(own_addresses_have_names),
		cmocka_unit_test(nobody_has_named_addresses),
		cmocka_unit_test(memory_may_be_short_for_addresses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
