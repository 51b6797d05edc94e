// SPDX-License-Identifier: BSD-2-Clause
/* Unpacks files that gzip has packed, and refuses little that stands for very much. */

#include "profile/read-priv.h"

#include "base/alloc.h"

#include <limits.h>
#include <zlib.h>

enum { GZIP = 16 + MAX_WBITS, FIRST_BYTES = 1 << 16, UNPACKED_BYTES_MAX = 1 << 28 };

bool profile_is_packed(const struct diag_source *source)
{
	const unsigned char *bytes = (const unsigned char *)source->text;

	return source->length > 2 && bytes[0] == 0x1f && bytes[1] == 0x8b;
}

static int inflate_all(struct reading *reading, z_stream *stream, char **text, size_t *capacity)
{
	for (;;) {
		int code;

		if (stream->total_out + 1 >= *capacity) {
			size_t wanted = *capacity ? *capacity * 2 : FIRST_BYTES;
			char *grown = *capacity >= UNPACKED_BYTES_MAX ? NULL : alloc_resize(*text, wanted, 1);

			if (*capacity >= UNPACKED_BYTES_MAX)
				return read_wrong(reading, "if the whole file is one profile, gunzip it first",
						  "unpacked, it is larger than 256 MiB");
			if (!grown)
				return diag_no_memory(reading->diag);
			*text = grown;
			*capacity = wanted;
		}
		stream->next_out = (Bytef *)*text + stream->total_out;
		stream->avail_out = (uInt)(*capacity - stream->total_out - 1);
		code = inflate(stream, Z_NO_FLUSH);
		reading->at = (const char *)stream->next_in;
		if (code == Z_STREAM_END)
			return 0;
		if (code == Z_MEM_ERROR)
			return diag_no_memory(reading->diag);
		if (code != Z_OK || (!stream->avail_in && stream->avail_out))
			return read_wrong(reading, "copy or write the file again",
					  "the gzip data is truncated or damaged here");
	}
}

int profile_unpack(struct reading *reading, struct diag_source *unpacked)
{
	const struct diag_source *source = reading->source;
	z_stream stream = { .next_in = (z_const Bytef *)source->text, .avail_in = (uInt)source->length };
	size_t capacity = 0;
	char *text = NULL;
	int result;

	_Static_assert(PROFILE_PACKED_BYTES_MAX <= UINT_MAX, "zlib cannot count further");
	if (source->length > PROFILE_PACKED_BYTES_MAX)
		return read_wrong(reading, "gunzip it first", "a compressed file may have 256 MiB at most");
	if (inflateInit2(&stream, GZIP) != Z_OK)
		return diag_no_memory(reading->diag);
	result = inflate_all(reading, &stream, &text, &capacity);
	if (result) {
		alloc_free(text);
	} else {
		text[stream.total_out] = 0;
		*unpacked = (struct diag_source){ .file = source->file, .text = text, .length = stream.total_out };
	}
	inflateEnd(&stream);
	return result;
}
