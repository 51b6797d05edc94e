// SPDX-License-Identifier: BSD-2-Clause
/*
 * Reads the paragraphs that a program's file carries: in notes of its section .note.asterism, whatever else is in it.
 */

#include "sensor/catalog.h"

#include "base/elf-check.h"
#include "sensor/layout.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <string.h>
#include <unistd.h>

enum { NOTES_BYTES_MAX = 1 << 22, NOTE_TYPE = 1 };

static const char name_section[] = ".note.asterism", name_owner[] = "asterism";

struct note {
	uint32_t name_bytes, text_bytes, type;
};

struct visit {
	int (*one)(void *context, const char *text);
	void *context;
	int count;
};

/* The notes one after the other; between them may be zeros. */
static int each_note(const char *at, size_t bytes, struct visit *visit)
{
	while (bytes >= sizeof(struct note)) {
		struct note note;
		int result;

		memcpy(&note, at, sizeof note);
		if (note.name_bytes == 0) {
			at += sizeof(uint32_t);
			bytes -= sizeof(uint32_t);
			continue;
		}
		size_t name = (size_t)sensor_round(note.name_bytes, 4), text = (size_t)sensor_round(note.text_bytes, 4);

		if (name > bytes - sizeof note || note.text_bytes > bytes - sizeof note - name)
			return -ENOEXEC;
		const char *owner = at + sizeof note, *paragraph = owner + name;

		if (note.name_bytes == sizeof name_owner && !memcmp(owner, name_owner, sizeof name_owner) &&
		    note.type == NOTE_TYPE) {
			if (!note.text_bytes ||
			    memchr(paragraph, 0, note.text_bytes) != paragraph + note.text_bytes - 1)
				return -ENOEXEC;
			visit->count++;
			result = visit->one(visit->context, paragraph);
			if (result)
				return result;
		}
		text = text < bytes - sizeof note - name ? text : bytes - sizeof note - name;
		at = paragraph + text;
		bytes -= sizeof note + name + text;
	}
	return 0;
}

static int each_section(Elf *elf, struct visit *visit)
{
	Elf_Scn *section = NULL;
	size_t names, left = NOTES_BYTES_MAX;
	int result = 0;

	if (elf_getshdrstrndx(elf, &names))
		return -ENOEXEC;
	while (!result && (section = elf_nextscn(elf, section))) {
		GElf_Shdr header;
		const char *name = gelf_getshdr(section, &header) ? elf_strptr(elf, names, header.sh_name) : NULL;
		Elf_Data *data;

		if (!name || strcmp(name, name_section) || header.sh_type == SHT_NOBITS ||
		    (header.sh_flags & SHF_COMPRESSED))
			continue;
		data = header.sh_size <= left ? elf_rawdata(section, NULL) : NULL;
		left -= data ? header.sh_size : 0;
		result = data && data->d_buf ? each_note(data->d_buf, data->d_size, visit) : -ENOEXEC;
	}
	return result;
}

int sensor_catalog_each(const char *path, int (*one)(void *context, const char *text), void *context)
{
	struct visit visit = { .one = one, .context = context };
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), result;
	Elf *elf;

	if (fd < 0)
		return -errno;
	elf = !elf_check(fd) && elf_version(EV_CURRENT) != EV_NONE ? elf_begin(fd, ELF_C_READ, NULL) : NULL;
	result = elf && elf_kind(elf) == ELF_K_ELF ? each_section(elf, &visit) : -ENOEXEC;
	elf_end(elf);
	close(fd);
	return result ? result : visit.count;
}
