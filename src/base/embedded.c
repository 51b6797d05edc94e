// SPDX-License-Identifier: BSD-2-Clause
/* Finds and unpacks files that are part of the program. */

#include "base/embedded.h"

#include <string.h>
#include <zlib.h>

const struct embedded_file *embedded_find(const struct embedded_file *files, const char *name)
{
	for (; files->name; files++) {
		if (strcmp(files->name, name) == 0)
			return files;
	}
	return NULL;
}

char *embedded_text(const struct embedded_file *file, struct arena *arena)
{
	uLongf length = file->length;
	char *text = arena ? arena_zero(arena, length + 1, 1) : alloc_zero(length + 1, 1);

	if (!text || uncompress((Bytef *)text, &length, file->packed, file->packed_length) == Z_OK)
		return text;
	if (!arena)
		alloc_free(text); /* it was packed with the program: only memory can have been missing */
	return NULL;
}
