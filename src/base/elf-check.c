// SPDX-License-Identifier: BSD-2-Clause
/* Checks the headers of an ELF file, for both sizes of addresses. */

#include "base/elf-check.h"

#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CHUNK = 64 }; /* sections that are read at a time */

/* What both sizes of headers say. */
struct headers {
	uint64_t file_bytes;
	uint64_t sections_at, section_count, section_bytes;
	uint64_t programs_at, program_count, program_bytes;
	uint64_t names; /* the section that holds those of all sections */
	bool is_wide;
};

struct section {
	uint32_t type, info, link;
	uint64_t offset, bytes;
};

static bool read_at(int fd, uint64_t at, void *bytes, size_t count)
{
	return at <= INT64_MAX && pread(fd, bytes, count, (off_t)at) == (ssize_t)count;
}

static bool is_part_within(const struct headers *headers, uint64_t at, uint64_t bytes)
{
	return at <= headers->file_bytes && bytes <= headers->file_bytes - at;
}

#define TAKE_HEADERS(header, narrow_or_wide)                                                               \
	do {                                                                                               \
		headers->sections_at = (header).e_shoff;                                                   \
		headers->section_count = (header).e_shnum;                                                 \
		headers->programs_at = (header).e_phoff;                                                   \
		headers->program_count = (header).e_phnum;                                                 \
		headers->names = (header).e_shstrndx;                                                      \
		headers->section_bytes = sizeof(narrow_or_wide##_Shdr);                                    \
		headers->program_bytes = sizeof(narrow_or_wide##_Phdr);                                    \
		is_sound = (!(header).e_shoff || (header).e_shentsize == sizeof(narrow_or_wide##_Shdr)) && \
			   (!(header).e_phnum || (header).e_phentsize == sizeof(narrow_or_wide##_Phdr));   \
	} while (0)

static bool read_headers(int fd, struct headers *headers)
{
	const unsigned char order = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB;
	union {
		unsigned char ident[EI_NIDENT];
		Elf32_Ehdr narrow;
		Elf64_Ehdr wide;
	} header;
	struct stat about;
	bool is_sound;

	if (fstat(fd, &about) || !S_ISREG(about.st_mode) || !read_at(fd, 0, &header.narrow, sizeof header.narrow))
		return false;
	headers->file_bytes = (uint64_t)about.st_size;
	if (memcmp(header.ident, ELFMAG, SELFMAG) != 0 || header.ident[EI_DATA] != order)
		return false;
	headers->is_wide = header.ident[EI_CLASS] == ELFCLASS64;
	if (!headers->is_wide && header.ident[EI_CLASS] != ELFCLASS32)
		return false;
	if (!headers->is_wide)
		TAKE_HEADERS(header.narrow, Elf32);
	else if (read_at(fd, 0, &header.wide, sizeof header.wide))
		TAKE_HEADERS(header.wide, Elf64);
	else
		return false;
	return is_sound;
}

/* Into sections, of which there are at most CHUNK. */
static bool read_sections(int fd, const struct headers *headers, uint64_t first, size_t count, struct section *sections)
{
	union {
		Elf32_Shdr narrow[CHUNK];
		Elf64_Shdr wide[CHUNK];
	} read;

	if (!read_at(fd, headers->sections_at + first * headers->section_bytes, &read, count * headers->section_bytes))
		return false;
	for (size_t i = 0; i < count; i++) {
		const Elf32_Shdr *narrow = &read.narrow[i];
		const Elf64_Shdr *wide = &read.wide[i];

		sections[i] = headers->is_wide ? (struct section){ wide->sh_type, wide->sh_info, wide->sh_link,
								   wide->sh_offset, wide->sh_size }
					       : (struct section){ narrow->sh_type, narrow->sh_info, narrow->sh_link,
								   narrow->sh_offset, narrow->sh_size };
	}
	return true;
}

/* Numbers that do not fit into the header are in the first section, which is none. */
static bool read_large_numbers(int fd, struct headers *headers)
{
	struct section first;

	if (!headers->sections_at)
		return headers->section_count == 0 && headers->program_count != PN_XNUM;
	if (!is_part_within(headers, headers->sections_at, headers->section_bytes) ||
	    !read_sections(fd, headers, 0, 1, &first))
		return false;
	if (headers->section_count == 0)
		headers->section_count = first.bytes;
	if (headers->program_count == PN_XNUM)
		headers->program_count = first.info;
	if (headers->names == SHN_XINDEX)
		headers->names = first.link;
	return true;
}

static bool has_names(int fd, const struct section *names)
{
	char last;

	if (names->type == SHT_NOBITS || !names->bytes)
		return true;
	return names->bytes <= ELF_SECTION_NAMES_BYTES_MAX &&
	       read_at(fd, names->offset + names->bytes - 1, &last, sizeof last) && !last;
}

static bool are_sections_sound(int fd, const struct headers *headers)
{
	struct section sections[CHUNK];
	uint64_t left = headers->file_bytes;

	for (uint64_t at = 0; at < headers->section_count; at += CHUNK) {
		size_t count = headers->section_count - at < CHUNK ? (size_t)(headers->section_count - at) : CHUNK;

		if (!read_sections(fd, headers, at, count, sections))
			return false;
		for (size_t i = 0; i < count; i++) {
			const struct section *section = &sections[i];

			if (at + i == headers->names && !has_names(fd, section))
				return false;
			if (section->type == SHT_NULL || section->type == SHT_NOBITS)
				continue;
			if (!is_part_within(headers, section->offset, section->bytes) || section->bytes > left)
				return false;
			left -= section->bytes;
		}
	}
	return true;
}

int elf_check(int fd)
{
	struct headers headers;

	if (!read_headers(fd, &headers) || !read_large_numbers(fd, &headers))
		return -ENOEXEC;
	if (headers.section_count > ELF_SECTIONS_MAX || headers.program_count > ELF_PROGRAM_HEADERS_MAX)
		return -ENOEXEC;
	if (!is_part_within(&headers, headers.sections_at, headers.section_count * headers.section_bytes) ||
	    !is_part_within(&headers, headers.programs_at, headers.program_count * headers.program_bytes))
		return -ENOEXEC;
	return are_sections_sound(fd, &headers) ? 0 : -ENOEXEC;
}
