// SPDX-License-Identifier: BSD-2-Clause
/*
 * Finds which symbols of an ELF file are functions and which variables, and which of its sections are code and which
 * data.
 */

#include "base/elf-code-priv.h"

#include "base/alloc.h"
#include "base/elf-check.h"

#include <errno.h>
#include <string.h>

bool elf_address(const struct elf_segments *segments, uint64_t offset, uint64_t *address)
{
	for (uint32_t i = 0; i < segments->count; i++) {
		uint64_t distance = offset - segments->items[i].offset;

		if (offset >= segments->items[i].offset && distance < segments->items[i].bytes) {
			*address = segments->items[i].address + distance;
			return true;
		}
	}
	return false;
}

bool elf_offset(const struct elf_segments *segments, uint64_t address, uint64_t *offset)
{
	for (uint32_t i = 0; i < segments->count; i++) {
		uint64_t distance = address - segments->items[i].address;

		if (address >= segments->items[i].address && distance < segments->items[i].bytes) {
			*offset = segments->items[i].offset + distance;
			return true;
		}
	}
	return false;
}

static void read_segments(struct elf_code *code)
{
	struct elf_segments *segments = &code->segments;
	GElf_Word right = code->part == ELF_DATA ? PF_W : PF_X;
	size_t count;
	GElf_Phdr header;

	if (elf_getphdrnum(code->elf, &count))
		return;
	for (size_t i = 0; i < count && segments->count < ELF_SEGMENTS_MAX; i++) {
		if (!gelf_getphdr(code->elf, (int)i, &header))
			return;
		if (header.p_type != PT_LOAD || !(header.p_flags & right))
			continue;
		segments->items[segments->count].offset = header.p_offset;
		segments->items[segments->count].bytes = header.p_filesz;
		segments->items[segments->count].loaded_bytes = header.p_memsz;
		segments->items[segments->count++].address = header.p_vaddr;
	}
}

int elf_code_open(int fd, enum elf_part part, struct elf_code **opened)
{
	struct elf_code *code = alloc_zero(1, sizeof *code);

	if (!code)
		return -ENOMEM;
	code->part = part;
	if (elf_check(fd) == 0 && elf_version(EV_CURRENT) != EV_NONE)
		code->elf = elf_begin(fd, ELF_C_READ, NULL);
	if (!code->elf || elf_kind(code->elf) != ELF_K_ELF) {
		elf_code_free(code);
		return -ENOEXEC;
	}
	read_segments(code);
	*opened = code;
	return 0;
}

void elf_code_free(struct elf_code *code)
{
	if (!code)
		return;
	elf_end(code->elf);
	alloc_free(code);
}

const struct elf_segments *elf_code_segments(const struct elf_code *code)
{
	return &code->segments;
}

uint32_t elf_code_machine(const struct elf_code *code)
{
	GElf_Ehdr header;

	return gelf_getehdr(code->elf, &header) ? header.e_machine : EM_NONE;
}

bool elf_may_read(Elf_Scn *section, size_t *bytes_left, GElf_Shdr *header)
{
	if (!section || !gelf_getshdr(section, header) || header->sh_type == SHT_NOBITS ||
	    (header->sh_flags & SHF_COMPRESSED) || header->sh_size > *bytes_left)
		return false;
	*bytes_left -= header->sh_size;
	return true;
}

static bool is_part_symbol(enum elf_part part, int type)
{
	return part == ELF_DATA ? type == STT_OBJECT : type == STT_FUNC || type == STT_GNU_IFUNC;
}

struct code_visit {
	enum elf_part part;
	Elf_Scn *versions; /* of the symbols of one table; NULL: there are none */
	size_t bytes_left;
	int (*one)(void *context, const struct elf_function *function);
	void *context;
};

/* What symbols are called. libelf would look for the end of each name, as far as the table goes. */
struct names {
	const char *bytes;
	size_t count; /* with the 0 of the last one */
};

static bool read_names(Elf_Scn *section, struct code_visit *visit, struct names *names)
{
	GElf_Shdr header;
	Elf_Data *data = elf_may_read(section, &visit->bytes_left, &header) ? elf_rawdata(section, NULL) : NULL;
	const char *end = data && data->d_buf ? memrchr(data->d_buf, 0, data->d_size) : NULL;

	if (!end)
		return false;
	*names = (struct names){ data->d_buf, (size_t)(end - (const char *)data->d_buf) + 1 };
	return true;
}

/* The versions of the symbols of a table, one each. NULL: it has none. */
static Elf_Data *read_versions(Elf_Scn *table, struct code_visit *visit)
{
	GElf_Shdr header;

	if (!visit->versions || !gelf_getshdr(visit->versions, &header) || header.sh_link != elf_ndxscn(table) ||
	    !elf_may_read(visit->versions, &visit->bytes_left, &header))
		return NULL;
	return elf_getdata(visit->versions, NULL);
}

static bool is_old_version(Elf_Data *versions, int symbol)
{
	enum { HIDDEN = 0x8000 };
	GElf_Versym version;

	return versions && gelf_getversym(versions, symbol, &version) && (version & HIDDEN);
}

static Elf_Scn *find_versions(Elf *elf)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	while ((section = elf_nextscn(elf, section)))
		if (gelf_getshdr(section, &header) && header.sh_type == SHT_GNU_versym)
			break;
	return section;
}

static int each_code_symbol(Elf *elf, Elf_Scn *section, struct code_visit *visit)
{
	GElf_Shdr header;
	GElf_Sym symbol;
	struct names names;
	int result = 0;

	if (!elf_may_read(section, &visit->bytes_left, &header) || !header.sh_entsize ||
	    !read_names(elf_getscn(elf, header.sh_link), visit, &names))
		return 0;
	Elf_Data *data = elf_getdata(section, NULL), *versions = read_versions(section, visit);

	for (int i = 0; data && !result && gelf_getsym(data, i, &symbol); i++) {
		int type = GELF_ST_TYPE(symbol.st_info);
		struct elf_function function = {
			.name = symbol.st_name < names.count ? names.bytes + symbol.st_name : "",
			.address = symbol.st_value,
			.size = symbol.st_size,
			.is_local = GELF_ST_BIND(symbol.st_info) == STB_LOCAL,
			.is_indirect = type == STT_GNU_IFUNC,
			.is_old = is_old_version(versions, i),
		};

		if (*function.name && is_part_symbol(visit->part, type) && symbol.st_shndx != SHN_UNDEF)
			result = visit->one(visit->context, &function);
	}
	return result;
}

int elf_code_each(const struct elf_code *code, enum elf_table table, size_t bytes_max,
		  int (*one)(void *context, const struct elf_function *function), void *context)
{
	size_t bytes = bytes_max < ELF_VISIT_BYTES_MAX ? bytes_max : ELF_VISIT_BYTES_MAX;
	struct code_visit visit = { code->part, find_versions(code->elf), bytes, one, context };
	uint32_t type = table == ELF_FULL ? SHT_SYMTAB : SHT_DYNSYM;
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	int result = 0;

	while (!result && (section = elf_nextscn(code->elf, section))) {
		if (gelf_getshdr(section, &header) && header.sh_type == type)
			result = each_code_symbol(code->elf, section, &visit);
	}
	return result;
}
