// SPDX-License-Identifier: BSD-2-Clause
/*
 * Finds the notes of an ELF file that describe USDT probes. Addresses in notes are those of the time of linking; what a
 * prelinker has moved since is found out by the section .stapsdt.base, whose address a note has as it was then.
 */

#include "base/elf-code-priv.h"

#include <stdlib.h>
#include <string.h>

enum { NOTE_TYPE = 3, WORDS = 3, TEXTS = 3 };

static const char probe_owner[] = "stapsdt", base_section[] = ".stapsdt.base";

struct notes {
	uint64_t base; /* where base_section is now; 0: there is none */
	size_t word;   /* bytes of an address */
	int (*one)(void *context, const struct elf_probe *probe);
	void *context;
};

/* 0 unless there is such a section. */
static uint64_t find_base(Elf *elf)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	size_t texts;

	if (elf_getshdrstrndx(elf, &texts))
		return 0;
	while ((section = elf_nextscn(elf, section))) {
		const char *name = gelf_getshdr(section, &header) ? elf_strptr(elf, texts, header.sh_name) : NULL;

		if (name && strcmp(name, base_section) == 0)
			return header.sh_addr;
	}
	return 0;
}

static uint64_t read_word(const struct notes *notes, const char *at)
{
	uint64_t wide;
	uint32_t narrow;

	memcpy(&narrow, at, sizeof narrow);
	if (notes->word == sizeof narrow)
		return narrow;
	memcpy(&wide, at, sizeof wide);
	return wide;
}

/* Three addresses - the probe's, the base's, the semaphore's - and three texts. */
static bool read_probe(const struct notes *notes, const char *at, size_t bytes, struct elf_probe *probe)
{
	const char *end = at + bytes, *texts[TEXTS];
	uint64_t words[WORDS];

	if (bytes < WORDS * notes->word)
		return false;
	for (size_t i = 0; i < WORDS; i++, at += notes->word)
		words[i] = read_word(notes, at);
	for (size_t i = 0; i < TEXTS; i++) {
		const char *nul = memchr(at, '\0', (size_t)(end - at));

		if (!nul)
			return false;
		texts[i] = at;
		at = nul + 1;
	}
	uint64_t moved = notes->base && words[1] ? notes->base - words[1] : 0;

	*probe = (struct elf_probe){
		.provider = texts[0],
		.name = texts[1],
		.arguments = texts[2],
		.address = words[0] + moved,
		.semaphore = words[2] ? words[2] + moved : 0,
	};
	return *probe->provider && *probe->name;
}

static int each_probe_note(const struct notes *notes, Elf_Data *data)
{
	size_t at = 0, name, text;
	struct elf_probe probe;
	GElf_Nhdr header;
	int result = 0;

	while (!result && (at = gelf_getnote(data, at, &header, &name, &text))) {
		const char *bytes = data->d_buf;

		if (header.n_type == NOTE_TYPE && header.n_namesz == sizeof probe_owner &&
		    memcmp(bytes + name, probe_owner, sizeof probe_owner) == 0 &&
		    read_probe(notes, bytes + text, header.n_descsz, &probe))
			result = notes->one(notes->context, &probe);
	}
	return result;
}

int elf_code_each_probe(const struct elf_code *code, size_t bytes_max,
			int (*one)(void *context, const struct elf_probe *probe), void *context)
{
	const struct notes notes = {
		.base = find_base(code->elf),
		.word = gelf_getclass(code->elf) == ELFCLASS32 ? sizeof(uint32_t) : sizeof(uint64_t),
		.one = one,
		.context = context,
	};
	size_t left = bytes_max < ELF_VISIT_BYTES_MAX ? bytes_max : ELF_VISIT_BYTES_MAX;
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	int result = 0;

	while (!result && (section = elf_nextscn(code->elf, section))) {
		bool is_notes = gelf_getshdr(section, &header) && header.sh_type == SHT_NOTE;
		Elf_Data *data = is_notes && elf_may_read(section, &left, &header) ? elf_getdata(section, NULL) : NULL;

		if (data && data->d_buf)
			result = each_probe_note(&notes, data);
	}
	return result;
}
