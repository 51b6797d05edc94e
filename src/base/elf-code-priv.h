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

/* Whether the section is in the file as it is and has no more than *bytes_left, which it is taken from then. */
bool elf_may_read(Elf_Scn *section, size_t *bytes_left, GElf_Shdr *header);

#endif
