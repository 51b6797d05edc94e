// SPDX-License-Identifier: BSD-2-Clause
/* Reads the build ID of an ELF file: the first of type NT_GNU_BUILD_ID that is not too long. */

#include "base/elf-code-priv.h"

#include <stdio.h>
#include <string.h>

static const char build_id_owner[] = "GNU";

static bool find_build_id(Elf_Data *data, char digits[ELF_BUILD_ID_BYTES])
{
	size_t at = 0, name, text;
	GElf_Nhdr header;

	while ((at = gelf_getnote(data, at, &header, &name, &text))) {
		const unsigned char *bytes = data->d_buf;

		if (header.n_type != NT_GNU_BUILD_ID || header.n_namesz != sizeof build_id_owner ||
		    memcmp(bytes + name, build_id_owner, sizeof build_id_owner) != 0 || !header.n_descsz ||
		    header.n_descsz > (ELF_BUILD_ID_BYTES - 1) / 2)
			continue;
		for (size_t i = 0; i < header.n_descsz; i++)
			snprintf(digits + 2 * i, 3, "%02x", bytes[text + i]);
		return true;
	}
	return false;
}

bool elf_build_id(int fd, char digits[ELF_BUILD_ID_BYTES])
{
	size_t left = ELF_VISIT_BYTES_MAX;
	Elf_Scn *section = NULL;
	struct elf_code *code;
	bool is_found = false;
	GElf_Shdr header;

	if (elf_code_open(fd, ELF_CODE, &code))
		return false;
	while (!is_found && (section = elf_nextscn(code->elf, section))) {
		bool is_notes = gelf_getshdr(section, &header) && header.sh_type == SHT_NOTE;
		Elf_Data *data = is_notes && elf_may_read(section, &left, &header) ? elf_getdata(section, NULL) : NULL;

		is_found = data && data->d_buf && find_build_id(data, digits);
	}
	elf_code_free(code);
	return is_found;
}
