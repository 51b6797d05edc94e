// SPDX-License-Identifier: BSD-2-Clause
/* Notes of USDT probes in files made here: addresses moved since linking, both sizes of addresses, notes that lie. */

#include "base/elf-code.h"

#include "base/alloc.h"

#include <elf.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cmocka.h>

enum { NOTE_TYPE = 3, FILE_BYTES = 1024, NOTES_AT = 384, NAMES_AT = 768 };

/* A file of three sections: names, notes, and the base, which is at address 0x5000 now. */
struct file {
	char bytes[FILE_BYTES];
	size_t note_bytes;
};

static void begin(struct file *file)
{
	static const char names[] = "\0.shstrtab\0.note.stapsdt\0.stapsdt.base";
	Elf64_Ehdr header = { .e_type = ET_DYN,
			      .e_machine = EM_X86_64,
			      .e_version = EV_CURRENT,
			      .e_ehsize = sizeof header,
			      .e_shoff = sizeof header,
			      .e_shentsize = sizeof(Elf64_Shdr),
			      .e_shnum = 4,
			      .e_shstrndx = 1 };

	memset(file, 0, sizeof *file);
	memcpy(header.e_ident, ELFMAG, SELFMAG);
	header.e_ident[EI_CLASS] = ELFCLASS64;
	header.e_ident[EI_DATA] = ELFDATA2LSB;
	header.e_ident[EI_VERSION] = EV_CURRENT;
	memcpy(file->bytes, &header, sizeof header);
	memcpy(file->bytes + NAMES_AT, names, sizeof names);
}

static void put(struct file *file, const void *bytes, size_t count)
{
	memcpy(file->bytes + NOTES_AT + file->note_bytes, bytes, count);
	file->note_bytes += count;
}

static void put_note(struct file *file, const char *owner, uint32_t type, const void *text, size_t bytes)
{
	Elf64_Nhdr header = { 8, (uint32_t)bytes, type };

	put(file, &header, sizeof header);
	put(file, owner, 8);
	put(file, text, bytes);
	file->note_bytes = (file->note_bytes + 3) & ~(size_t)3;
}

/* Three addresses and texts of so many bytes. */
static void put_probe(struct file *file, const uint64_t *addresses, const char *texts, size_t bytes)
{
	char text[256];

	memcpy(text, addresses, 24);
	memcpy(text + 24, texts, bytes);
	put_note(file, "stapsdt", NOTE_TYPE, text, 24 + bytes);
}

struct seen {
	unsigned count;
	char text[512];
};

static int see(void *context, const struct elf_probe *probe)
{
	struct seen *seen = context;
	size_t length = strlen(seen->text);

	seen->count++;
	snprintf(seen->text + length, sizeof seen->text - length, "%s:%s(%s) %llx %llx;", probe->provider, probe->name,
		 probe->arguments, (unsigned long long)probe->address, (unsigned long long)probe->semaphore);
	return 0;
}

static void visit(struct file *file, struct seen *seen)
{
	Elf64_Shdr sections[] = {
		{ 0 },
		{ .sh_name = 1, .sh_type = SHT_STRTAB, .sh_offset = NAMES_AT, .sh_size = 40 },
		{ .sh_name = 11,
		  .sh_type = SHT_NOTE,
		  .sh_offset = NOTES_AT,
		  .sh_size = file->note_bytes,
		  .sh_addralign = 4 },
		{ .sh_name = 25, .sh_type = SHT_PROGBITS, .sh_offset = NAMES_AT, .sh_size = 1, .sh_addr = 0x5000 },
	};
	struct elf_code *code = NULL;
	int fd = memfd_create("probes", 0);

	memset(seen, 0, sizeof *seen);
	memcpy(file->bytes + sizeof(Elf64_Ehdr), sections, sizeof sections);
	assert_true(fd >= 0 && write(fd, file->bytes, FILE_BYTES) == FILE_BYTES);
	if (!elf_code_open(fd, ELF_CODE, &code)) {
		assert_int_equal(elf_code_machine(code), EM_X86_64);
		assert_int_equal(elf_code_each_probe(code, SIZE_MAX, see, seen), 0);
	}
	elf_code_free(code);
	close(fd);
}

#define PUT_PROBE(file, texts, ...) put_probe(file, (const uint64_t[]){ __VA_ARGS__ }, texts, sizeof(texts))

static void addresses_are_those_of_now(void **state)
{
	struct file file;
	struct seen seen;

	(void)state;
	begin(&file);
	PUT_PROBE(&file, "p\0here\0008@%rdi", 0x1000, 0x5000, 0);
	PUT_PROBE(&file, "p\0moved\0", 0x1010, 0x4000, 0x3002);
	PUT_PROBE(&file, "p\0unmoved\0", 0x1020, 0, 0x3002);
	visit(&file, &seen);
	assert_string_equal(seen.text, "p:here(8@%rdi) 1000 0;p:moved() 2010 4002;p:unmoved() 1020 3002;");
}

static int stop(void *context, const struct elf_probe *probe)
{
	(void)probe;
	++*(int *)context;
	return -EINTR;
}

static void a_visit_ends(void **state)
{
	struct file file;
	struct seen seen;
	struct elf_code *code = NULL;
	int calls = 0, fd = memfd_create("probes", 0);

	(void)state;
	begin(&file);
	PUT_PROBE(&file, "p\0a\0", 0x1000, 0, 0);
	PUT_PROBE(&file, "p\0b\0", 0x1000, 0, 0);
	visit(&file, &seen);
	assert_int_equal(seen.count, 2);
	assert_true(write(fd, file.bytes, FILE_BYTES) == FILE_BYTES);
	assert_int_equal(elf_code_open(fd, ELF_CODE, &code), 0);
	assert_int_equal(elf_code_each_probe(code, SIZE_MAX, stop, &calls), -EINTR);
	assert_int_equal(elf_code_each_probe(code, 16, stop, &calls), 0); /* too large to be read */
	assert_int_equal(calls, 1);
	elf_code_free(code);
	close(fd);
}

/* What makes no sense is left out, and what follows it is still read. */
static void other_notes_are_left_out(void **state)
{
	struct file file;
	struct seen seen;

	(void)state;
	begin(&file);
	put_note(&file, "stapsdt", 1, "of another type, and long enough to hold three addresses", 56);
	put_note(&file, "stapsdx", NOTE_TYPE, "of another owner, and long enough to hold three addresses", 57);
	put_note(&file, "stapsdt", NOTE_TYPE, "short", 5);
	PUT_PROBE(&file, "\0nobody\0", 0x1000, 0, 0);
	PUT_PROBE(&file, "p\0\0", 0x1000, 0, 0);
	put_probe(&file, (const uint64_t[]){ 0x1000, 0, 0 }, "p\0n\0unending", 12);
	put_probe(&file, (const uint64_t[]){ 0x1000, 0, 0 }, "p\0n", 4);
	PUT_PROBE(&file, "p\0last\0", 0x1000, 0, 0);
	visit(&file, &seen);
	assert_string_equal(seen.text, "p:last() 1000 0;");
}

/* Every byte of the notes and of the headers changed, the file cut anywhere: an answer, never a crash. */
static void survives_damage(void **state)
{
	struct file file, damaged;
	struct seen seen;

	(void)state;
	begin(&file);
	PUT_PROBE(&file, "p\0a\0008@%rdi", 0x1000, 0x5000, 0x3002);
	PUT_PROBE(&file, "p\0b\0", 0x1000, 0, 0);
	visit(&file, &seen);
	for (size_t i = EI_NIDENT; i < NOTES_AT + file.note_bytes; i++) {
		static const char bytes[] = { 0, 1, 0x7f, (char)0x80, (char)0xff };

		for (size_t j = 0; j < sizeof bytes; j++) {
			struct elf_code *code = NULL;
			int fd = memfd_create("probes", 0);

			damaged = file;
			damaged.bytes[i] = bytes[j];
			memset(&seen, 0, sizeof seen);
			assert_true(write(fd, damaged.bytes, FILE_BYTES) == FILE_BYTES);
			if (!elf_code_open(fd, ELF_CODE, &code))
				elf_code_each_probe(code, SIZE_MAX, see, &seen);
			if (code && ftruncate(fd, (off_t)i) == 0)
				elf_code_each_probe(code, SIZE_MAX, see, &seen);
			elf_code_free(code);
			close(fd);
			assert_true(seen.count <= 6);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(addresses_are_those_of_now),
		cmocka_unit_test(a_visit_ends),
		cmocka_unit_test(other_notes_are_left_out),
		cmocka_unit_test(survives_damage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
