// SPDX-License-Identifier: BSD-2-Clause
/* Structures of other versions of the library are read and written; a size that no version will have is an error. */

#include "api/sized.h"

#include "base/diag.h"

#include <errno.h>
#include <string.h>

enum { BYTES_MAX = 4096 };

static int read_struct_size(const void *from, size_t *size)
{
	memcpy(size, from, sizeof *size);
	return *size > sizeof *size && *size <= BYTES_MAX ? 0 : -EINVAL;
}

int sized_take(void *to, size_t known, const void *from)
{
	const unsigned char *bytes = from;
	size_t size;
	int result = read_struct_size(from, &size);

	for (size_t i = known; !result && i < size; i++)
		result = bytes[i] ? -EINVAL : 0;
	if (result)
		return result;
	memset(to, 0, known);
	memcpy(to, from, size < known ? size : known);
	return 0;
}

int sized_give(void *to, const void *from, size_t known)
{
	size_t size;
	int result = read_struct_size(to, &size);

	if (result)
		return result;
	memset((char *)to + sizeof size, 0, size - sizeof size);
	memcpy((char *)to + sizeof size, (const char *)from + sizeof size, (size < known ? size : known) - sizeof size);
	return 0;
}

int sized_refuse(struct asterism_diag *diag, const char *what, const void *from, size_t known)
{
	size_t size;

	if (!from)
		return diag_error(diag, NULL, -EINVAL, "unsupported %s: the pointer is NULL", what);
	if (read_struct_size(from, &size))
		return diag_error(diag, NULL, -EINVAL,
				  "unsupported %s: size %zu is impossible; set it to sizeof the structure, %zu here",
				  what, size, known);
	return diag_error(diag, NULL, -EINVAL,
			  "unsupported %s of %zu bytes: this library knows the first %zu, and something after them is "
			  "set; use a newer library",
			  what, size, known);
}
