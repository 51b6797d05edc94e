/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef BASE_ELF_CODE_PRIV_H
#define BASE_ELF_CODE_PRIV_H

/* What the readers of an ELF file's tables share. */

#include "base/elf-code.h"

#include <gelf.h>

struct elf_code {
	Elf *elf;
	enum elf_part part;
	struct elf_segments segments;
};

/* Whether the section lies in the file as it is, and has no more bytes. */
bool elf_is_readable(Elf_Scn *section, size_t bytes_max, GElf_Shdr *header);

#endif
