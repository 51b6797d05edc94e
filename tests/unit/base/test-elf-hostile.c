// SPDX-License-Identifier: BSD-2-Clause
/*
 * ELF files whose headers ask for more than there is, as an observed process may make them: all that reads them stays
 * within a little memory and time. First those that have been seen to do harm, then some thousand drawn ones.
 */

#include "../size.h"

#include "base/elf-code.h"
#include "sensor/catalog.h"
#include "session/output/debug-info.h"
#include "session/output/symbols.h"

#include <elf.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#define MIB UINT64_C(1048576)

/* Of a file of holes alone, which takes no room. */
#define HUGE_BYTES (INT64_C(1) << 40)

enum { SECTIONS = 7, SYMBOLS = 3, MUTANTS = 4000, TABLES_BYTES = 1 << 22, LIMIT_MIB = 400, LARGE_BYTES = 1 << 22 };

enum { NAMES = 1, SYMTAB, DYNSYM, STRTAB, PROBES, SENSORS };

struct note {
	Elf64_Nhdr header;
	char owner[12], text[64];
};

struct image {
	Elf64_Ehdr header;
	Elf64_Phdr segment;
	Elf64_Shdr sections[SECTIONS];
	Elf64_Sym symbols[SYMBOLS];
	struct note probe, sensor;
	char names[64], texts[32];
};

#define PLACE(member) offsetof(struct image, member), sizeof((struct image *)0)->member

static void put_section(struct image *image, int index, uint32_t type, uint64_t offset, uint64_t bytes)
{
	static const uint32_t names[SECTIONS] = { 0, 1, 8, 16, 0, 24, 38 };
	bool has_symbols = type == SHT_SYMTAB || type == SHT_DYNSYM;

	image->sections[index] = (Elf64_Shdr){
		.sh_name = names[index],
		.sh_type = type,
		.sh_offset = offset,
		.sh_size = bytes,
		.sh_addralign = 4,
		.sh_link = has_symbols ? STRTAB : 0,
		.sh_entsize = has_symbols ? sizeof(Elf64_Sym) : 0,
	};
}

static void make(struct image *image)
{
	static const char names[] = "\0.names\0.symtab\0.dynsym\0.note.stapsdt\0.note.asterism";

	memset(image, 0, sizeof *image);
	memcpy(image->header.e_ident, ELFMAG, SELFMAG);
	image->header.e_ident[EI_CLASS] = ELFCLASS64;
	image->header.e_ident[EI_DATA] = ELFDATA2LSB;
	image->header.e_ident[EI_VERSION] = EV_CURRENT;
	image->header.e_type = ET_DYN;
	image->header.e_machine = EM_X86_64;
	image->header.e_version = EV_CURRENT;
	image->header.e_ehsize = sizeof image->header;
	image->header.e_phoff = offsetof(struct image, segment);
	image->header.e_phentsize = sizeof image->segment;
	image->header.e_phnum = 1;
	image->header.e_shoff = offsetof(struct image, sections);
	image->header.e_shentsize = sizeof *image->sections;
	image->header.e_shnum = SECTIONS;
	image->header.e_shstrndx = NAMES;
	image->segment = (Elf64_Phdr){ PT_LOAD, PF_X | PF_R, 0, 0x1000, 0x1000, 0x1000, 0x1000, 1 };
	memcpy(image->names, names, sizeof names);
	memcpy(image->texts, "\0first\0second", 14);
	put_section(image, NAMES, SHT_STRTAB, PLACE(names));
	put_section(image, SYMTAB, SHT_SYMTAB, offsetof(struct image, symbols), 2 * sizeof(Elf64_Sym));
	put_section(image, DYNSYM, SHT_DYNSYM, offsetof(struct image, symbols[2]), sizeof(Elf64_Sym));
	put_section(image, STRTAB, SHT_STRTAB, PLACE(texts));
	put_section(image, PROBES, SHT_NOTE, PLACE(probe));
	put_section(image, SENSORS, SHT_NOTE, PLACE(sensor));
	for (uint32_t i = 1; i < SYMBOLS; i++)
		image->symbols[i] = (Elf64_Sym){ i == 1 ? 1 : 7, ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), 0, 1, 0x1010, 8 };
	image->probe.header = (Elf64_Nhdr){ 8, 64, 3 };
	memcpy(image->probe.owner, "stapsdt", 8);
	memcpy((char *)&image->probe + sizeof(Elf64_Nhdr) + 8 + 24, "app\0one\0", 9);
	image->sensor.header = (Elf64_Nhdr){ 9, 16, 1 };
	memcpy(image->sensor.owner, "asterism", 9);
	memcpy(image->sensor.text, "EVENT ready { }", 16);
}

static int file_of(const void *bytes, size_t count, int64_t file_bytes)
{
	int fd = memfd_create("hostile", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, count), count);
	assert_int_equal(ftruncate(fd, file_bytes), 0);
	return fd;
}

static int count_function(void *context, const struct elf_function *function)
{
	(void)function;
	++*(size_t *)context;
	return 0;
}

static int count_probe(void *context, const struct elf_probe *probe)
{
	(void)probe;
	++*(size_t *)context;
	return 0;
}

static int take_paragraph(void *context, const char *text)
{
	(void)context;
	(void)text;
	return 0;
}

struct seen {
	size_t functions, probes;
	int sensors;
};

/* Returns what elf_code_open says. */
static int visit(int fd, size_t bytes, struct seen *seen)
{
	struct elf_code *code = NULL;
	char path[32];
	int result = elf_code_open(fd, ELF_CODE, &code);

	memset(seen, 0, sizeof *seen);
	if (!result) {
		elf_code_each(code, ELF_LINKING, bytes, count_function, &seen->functions);
		elf_code_each(code, ELF_FULL, bytes, count_function, &seen->functions);
		elf_code_each_probe(code, bytes, count_probe, &seen->probes);
	}
	elf_code_free(code);
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	seen->sensors = sensor_catalog_each(path, take_paragraph, NULL);
	return result;
}

static void read_symbols(int fd)
{
	struct symbols *symbols = NULL;

	symbols_read(fd, ELF_CODE, &symbols);
	symbols_free(symbols);
}

/* As libdwfl does it. The file is our own, and so trusted. */
static void read_debug_info(int fd)
{
	struct debug_info *info = fchmod(fd, 0600) ? NULL : debug_info_open(fd, "/nowhere/hostile");
	struct debug_place place;
	uint64_t distance;

	if (info) {
		debug_info_find(info, 0x1010, &place);
		debug_info_find_variable(info, 0x1010, &distance);
	}
	debug_info_free(info);
}

/* The most address space that there was so far; 0 where sanitizers have all of it. */
static uint64_t peak_mib(void)
{
	char line[256];
	unsigned long long kib = 0;
	FILE *status = fopen("/proc/self/status", "re");

	while (status && !kib && fgets(line, sizeof line, status))
		sscanf(line, "VmPeak: %llu kB", &kib);
	if (status)
		fclose(status);
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	return 0;
#endif
	return kib >> 10;
}

static uint64_t cpu_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static void a_sound_file_is_read(void **state)
{
	struct image image;
	struct seen seen;
	int fd;

	(void)state;
	make(&image);
	fd = file_of(&image, sizeof image, sizeof image);
	assert_int_equal(visit(fd, SIZE_MAX, &seen), 0);
	assert_int_equal(seen.functions, 2);
	assert_int_equal(seen.probes, 1);
	assert_int_equal(seen.sensors, 1);
	read_symbols(fd);
	close(fd);
}

/* So many sections that the memory for them is noticed, and could still be had. */
static void many_sections_by_the_first(struct image *image)
{
	image->header.e_shnum = 0;
	image->sections[0].sh_size = 1 << 22;
}

static void many_program_headers_by_the_first_section(struct image *image)
{
	image->header.e_phnum = PN_XNUM;
	image->sections[0].sh_info = 1 << 24;
}

static void huge_names_of_sections(struct image *image)
{
	image->sections[NAMES].sh_size = UINT64_C(1) << 30;
}

static void huge_tables(struct image *image)
{
	image->sections[SYMTAB].sh_size = UINT64_C(3) << 29;
	image->sections[STRTAB].sh_size = UINT64_C(1) << 30;
}

static void sections_of_another_size(struct image *image)
{
	image->header.e_shentsize = 1;
	image->header.e_phentsize = 1;
}

static void tables_behind_the_end(struct image *image)
{
	image->header.e_shoff = UINT64_MAX - 64;
	image->header.e_phoff = INT64_MAX;
}

static void another_byte_order(struct image *image)
{
	image->header.e_ident[EI_DATA] = ELFDATA2MSB;
}

static void lying_headers_take_no_memory(void **state)
{
	static void (*const lies[])(struct image *) = {
		many_sections_by_the_first, many_program_headers_by_the_first_section,
		huge_names_of_sections,     huge_tables,
		sections_of_another_size,   tables_behind_the_end,
		another_byte_order,
	};
	uint64_t before = peak_mib();
	struct seen seen;

	(void)state;
	for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
		struct image image;

		make(&image);
		lies[i](&image);
		int fd = file_of(&image, sizeof image, HUGE_BYTES);

		visit(fd, SIZE_MAX, &seen);
		read_symbols(fd);
		read_debug_info(fd);
		close(fd);
		assert_true(peak_mib() - before < LIMIT_MIB);
	}
}

/* The same bytes a thousand times over: each table is small enough. */
static void tables_that_overlap_are_read_once(void **state)
{
	enum { TABLES = 1000 };
	struct {
		struct image image;
		Elf64_Shdr sections[1 + TABLES];
	} file = { 0 };
	uint64_t before = peak_mib();
	struct seen seen;

	(void)state;
	make(&file.image);
	for (size_t type = 0; type < 2; type++) {
		for (size_t i = 1; i <= TABLES; i++) {
			file.sections[i] = file.image.sections[type ? PROBES : SYMTAB];
			file.sections[i].sh_link = i;
			file.sections[i].sh_offset = 8 * MIB;
			file.sections[i].sh_size = 6 * MIB;
		}
		file.image.header.e_shoff = offsetof(__typeof__(file), sections);
		file.image.header.e_shnum = 1 + TABLES;
		file.image.header.e_shstrndx = 0;
		for (int64_t bytes = 16 * (int64_t)MIB; bytes <= HUGE_BYTES;
		     bytes = bytes < HUGE_BYTES ? HUGE_BYTES : bytes + 1) {
			int fd = file_of(&file, sizeof file, bytes);

			visit(fd, SIZE_MAX, &seen);
			read_symbols(fd);
			close(fd);
		}
	}
	assert_true(peak_mib() - before < LIMIT_MIB);
}

/* Who looked for the end of each would go through all of it each time. */
static void names_without_an_end_take_no_time(void **state)
{
	enum { COUNT = 100000 };
	struct image *image = calloc(1, sizeof *image + LARGE_BYTES + COUNT * sizeof(Elf64_Sym));
	char *names = (char *)(image + 1);
	Elf64_Sym *symbols = (Elf64_Sym *)(void *)(names + LARGE_BYTES);
	uint64_t before = cpu_ms();
	struct seen seen;

	(void)state;
	assert_non_null(image);
	make(image);
	memset(names + 1, '_', LARGE_BYTES - 1);
	for (size_t i = 0; i < COUNT; i++)
		symbols[i] = (Elf64_Sym){ 1, ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), 0, 1, 0x1010, 8 };
	put_section(image, STRTAB, SHT_STRTAB, sizeof *image, LARGE_BYTES);
	put_section(image, SYMTAB, SHT_SYMTAB, sizeof *image + LARGE_BYTES, COUNT * sizeof *symbols);
	for (int has_end = 0; has_end < 2; has_end++) {
		names[LARGE_BYTES - 1] = has_end ? 0 : '_';
		int fd = file_of(image, sizeof *image + LARGE_BYTES + COUNT * sizeof *symbols,
				 (int64_t)(sizeof *image + LARGE_BYTES + COUNT * sizeof *symbols));

		visit(fd, SIZE_MAX, &seen);
		assert_true(seen.functions <= 1 || has_end);
		read_symbols(fd);
		close(fd);
	}
	free(image);
	assert_true(cpu_ms() - before < 10000);
}

static uint64_t random_state = 1;

static uint64_t draw(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

/* Where a number of 2, 4 or 8 bytes is that says how much, how many or where. */
static size_t draw_place(size_t *bytes)
{
	static const struct {
		size_t at, bytes;
	} of_header[] = {
		{ PLACE(header.e_shoff) },	  { PLACE(header.e_shnum) },  { PLACE(header.e_shentsize) },
		{ PLACE(header.e_shstrndx) },	  { PLACE(header.e_phoff) },  { PLACE(header.e_phnum) },
		{ PLACE(header.e_phentsize) },	  { PLACE(header.e_ident[EI_CLASS]) },
		{ PLACE(header.e_ident[EI_DATA]) }, { PLACE(header.e_type) },
	}, of_section[] = {
		{ PLACE(sections[0].sh_type) }, { PLACE(sections[0].sh_offset) }, { PLACE(sections[0].sh_size) },
		{ PLACE(sections[0].sh_link) }, { PLACE(sections[0].sh_info) },	  { PLACE(sections[0].sh_entsize) },
		{ PLACE(sections[0].sh_name) }, { PLACE(sections[0].sh_flags) },  { PLACE(sections[0].sh_addralign) },
	};
	size_t header = draw() % (sizeof of_header / sizeof *of_header);
	size_t section = draw() % (sizeof of_section / sizeof *of_section);

	switch (draw() % 4) {
	case 0:
		*bytes = of_header[header].bytes;
		return of_header[header].at;
	case 1:
		*bytes = 1 + draw() % 8;
		return draw() % (sizeof(struct image) - 8);
	default:
		*bytes = of_section[section].bytes;
		return of_section[section].at + draw() % SECTIONS * sizeof(Elf64_Shdr);
	}
}

static void mutate(struct image *image)
{
	static const uint64_t values[] = { 0,           1,
					   2,           3,
					   7,           64,
					   0xff,        0xfffe,
					   0xffff,      0x10000,
					   0x7fffffff,  0x80000000,
					   0xfffffff,   0xffffffff,
					   0x100000000, UINT64_C(1) << 39,
					   INT64_MAX,   UINT64_MAX,
					   1 << 20,     1 << 24,
					   1 << 28,     sizeof(struct image) };

	for (size_t i = 1 + draw() % 3; i > 0; i--) {
		size_t bytes, at = draw_place(&bytes);
		uint64_t value = values[draw() % (sizeof values / sizeof *values)];

		value = draw() % 8 ? value : draw();
		memcpy((char *)image + at, &value, bytes);
	}
}

static void drawn_files_take_little(void **state)
{
	uint64_t before = peak_mib();
	size_t sound = 0;

	(void)state;
	for (size_t i = 0; i < sized(MUTANTS, 4); i++) {
		struct image image;
		struct seen seen;

		make(&image);
		mutate(&image);
		int fd = file_of(&image, sizeof image, i % 2 ? HUGE_BYTES : (int64_t)sizeof image);

		sound += visit(fd, TABLES_BYTES, &seen) == 0;
		read_debug_info(fd);
		if (i % 16 == 0)
			read_symbols(fd);
		close(fd);
	}
	assert_true(sound > sized(MUTANTS, 4) / 8 && sound < sized(MUTANTS, 4));
	assert_true(peak_mib() - before < LIMIT_MIB);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_sound_file_is_read),
		cmocka_unit_test(lying_headers_take_no_memory),
		cmocka_unit_test(tables_that_overlap_are_read_once),
		cmocka_unit_test(names_without_an_end_take_no_time),
		cmocka_unit_test(drawn_files_take_little),
	};
	const struct rlimit limit = { (peak_mib() + 2048) * MIB, (peak_mib() + 2048) * MIB };

	/* What asks for more than is allowed is to be seen here, and not by whom the kernel ends. */
	if (peak_mib())
		setrlimit(RLIMIT_AS, &limit);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
