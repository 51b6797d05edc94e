// SPDX-License-Identifier: BSD-2-Clause
/*
 * Decides what an address in a file is called: by its full table of symbols, or, where that was stripped, by the one
 * for linking. The file is read, not mapped: whoever shortens it meanwhile must not end us.
 */

#include "session/output/symbols.h"

#include "base/alloc.h"
#include "base/text.h"

#include <errno.h>
#include <gelf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { SEGMENTS_MAX = 32, OVERLAPS_MAX = 16 };

/* Code as it lies in the file. */
struct segment {
	uint64_t offset, bytes, address;
};

struct symbol {
	uint64_t start, size;
	size_t name; /* in names */
	bool is_local;
};

struct symbols {
	struct segment segments[SEGMENTS_MAX];
	uint32_t segment_count;
	struct symbol *items;
	size_t count, capacity;
	struct text_buffer names;
};

static void read_segments(struct symbols *symbols, Elf *elf)
{
	size_t count;
	GElf_Phdr header;

	if (elf_getphdrnum(elf, &count))
		return;
	for (size_t i = 0; i < count && symbols->segment_count < SEGMENTS_MAX && gelf_getphdr(elf, (int)i, &header);
	     i++)
		if (header.p_type == PT_LOAD && header.p_flags & PF_X)
			symbols->segments[symbols->segment_count++] =
				(struct segment){ header.p_offset, header.p_filesz, header.p_vaddr };
}

static int add(struct symbols *symbols, const GElf_Sym *symbol, const char *name)
{
	size_t length = strnlen(name, SYMBOLS_NAME_MAX);

	if (alloc_grow(&symbols->items, &symbols->capacity, symbols->count, sizeof *symbols->items))
		return -ENOMEM;
	symbols->items[symbols->count] = (struct symbol){ .start = symbol->st_value,
							  .size = symbol->st_size,
							  .name = symbols->names.length,
							  .is_local = GELF_ST_BIND(symbol->st_info) == STB_LOCAL };
	text_append_bytes(&symbols->names, name, length);
	text_append_bytes(&symbols->names, "", 1);
	if (symbols->names.failure)
		return symbols->names.failure;
	symbols->count++;
	return 0;
}

static bool is_readable(Elf_Scn *section, GElf_Shdr *header)
{
	return section && gelf_getshdr(section, header) && header->sh_size <= SYMBOLS_SECTION_BYTES_MAX &&
	       !(header->sh_flags & SHF_COMPRESSED);
}

/* Returns 0 or -ENOMEM. */
static int read_table(struct symbols *symbols, Elf *elf, Elf_Scn *section)
{
	GElf_Shdr header, texts;
	GElf_Sym symbol;
	int result = 0;

	if (!is_readable(section, &header) || !is_readable(elf_getscn(elf, header.sh_link), &texts))
		return 0;
	Elf_Data *data = elf_getdata(section, NULL);

	for (int i = 0; data && !result && symbols->count < SYMBOLS_COUNT_MAX && gelf_getsym(data, i, &symbol); i++) {
		int type = GELF_ST_TYPE(symbol.st_info);
		const char *name = elf_strptr(elf, header.sh_link, symbol.st_name);

		if (name && *name && (type == STT_FUNC || type == STT_GNU_IFUNC) && symbol.st_shndx != SHN_UNDEF)
			result = add(symbols, &symbol, name);
	}
	return result == -E2BIG ? 0 : result;
}

static int read_tables(struct symbols *symbols, Elf *elf, uint32_t type)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	int result = 0;

	while (!result && (section = elf_nextscn(elf, section)))
		if (gelf_getshdr(section, &header) && header.sh_type == type)
			result = read_table(symbols, elf, section);
	return result;
}

static size_t underscores(const char *name)
{
	return strspn(name, "_");
}

/* By address; of several names of one place the one to be shown last: what others may call, and not by the back door.
 */
static int compare(const void *left, const void *right, void *context)
{
	const struct symbol *a = left, *b = right;
	const struct symbols *symbols = context;
	const char *name_a = symbols->names.bytes + a->name, *name_b = symbols->names.bytes + b->name;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	if (a->is_local != b->is_local)
		return a->is_local ? -1 : 1;
	if (underscores(name_a) != underscores(name_b))
		return underscores(name_a) > underscores(name_b) ? -1 : 1;
	return strcmp(name_b, name_a);
}

int symbols_read(int fd, struct symbols **made)
{
	Elf *elf = elf_version(EV_CURRENT) == EV_NONE ? NULL : elf_begin(fd, ELF_C_READ, NULL);
	struct symbols *symbols = alloc_zero(1, sizeof *symbols);
	int result = !symbols ? -ENOMEM : !elf || elf_kind(elf) != ELF_K_ELF ? -ENOEXEC : 0;

	if (!result) {
		read_segments(symbols, elf);
		result = read_tables(symbols, elf, SHT_SYMTAB);
	}
	if (!result && !symbols->count)
		result = read_tables(symbols, elf, SHT_DYNSYM);
	elf_end(elf);
	if (!result && symbols->count)
		qsort_r(symbols->items, symbols->count, sizeof *symbols->items, compare, symbols);
	if (result)
		symbols_free(symbols);
	else
		*made = symbols;
	return result;
}

void symbols_free(struct symbols *symbols)
{
	if (!symbols)
		return;
	text_fini(&symbols->names);
	alloc_free(symbols->items);
	alloc_free(symbols);
}

size_t symbols_bytes(const struct symbols *symbols)
{
	return sizeof *symbols + symbols->capacity * sizeof *symbols->items + symbols->names.capacity;
}

static bool address_of(const struct symbols *symbols, uint64_t offset, uint64_t *address)
{
	for (uint32_t i = 0; i < symbols->segment_count; i++) {
		const struct segment *segment = &symbols->segments[i];

		if (offset >= segment->offset && offset - segment->offset < segment->bytes) {
			*address = offset - segment->offset + segment->address;
			return true;
		}
	}
	return false;
}

const char *symbols_find(const struct symbols *symbols, uint64_t offset, uint64_t *distance)
{
	size_t low = 0, high = symbols->count;
	uint64_t address;

	if (!address_of(symbols, offset, &address))
		return NULL;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (symbols->items[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	/* Before it there may be a larger one that holds it. One written in assembler may not say how large it is. */
	for (size_t back = 1; back <= OVERLAPS_MAX && back <= low; back++) {
		const struct symbol *symbol = &symbols->items[low - back];

		if (address - symbol->start < symbol->size || (back == 1 && !symbol->size)) {
			*distance = address - symbol->start;
			return symbols->names.bytes + symbol->name;
		}
	}
	return NULL;
}
