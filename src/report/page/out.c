// SPDX-License-Identifier: BSD-2-Clause
/* Counts what is written. */

#include "report/page/out.h"

#include <errno.h>

static ssize_t count_and_write(void *cookie, const char *bytes, size_t count)
{
	struct page_out *out = cookie;
	errno = 0;
	size_t written = fwrite(bytes, 1, count, out->to);
	out->bytes += written;
	if (written == count)
		return (ssize_t)count;
	if (out->failure == 0)
		out->failure = errno != 0 ? -errno : -EIO;
	return 0;
}

int page_out_open(struct page_out *out, FILE *to)
{
	*out = (struct page_out){ .to = to };
	out->stream = fopencookie(out, "w", (cookie_io_functions_t){ .write = count_and_write });
	return out->stream ? 0 : -ENOMEM;
}

uint64_t page_out_bytes(struct page_out *out)
{
	fflush(out->stream);
	return out->bytes;
}

int page_out_close(struct page_out *out)
{
	if (fclose(out->stream) != 0 && out->failure == 0)
		out->failure = -EIO;
	errno = 0;
	if ((fflush(out->to) != 0 || ferror(out->to)) && out->failure == 0)
		out->failure = errno != 0 ? -errno : -EIO;
	return out->failure;
}
