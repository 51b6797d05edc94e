// SPDX-License-Identifier: BSD-2-Clause
/* Writes and reads frames, and recognises lines that are none. */

#include "base/frame.h"

#include "base/crc.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

enum { HEAD = 1 + 16 + 1 + 8 + 1 }; /* "~", the number in hex, " ", the checksum, " " */

static uint32_t checksum(uint64_t number, const char *bytes, size_t length)
{
	unsigned char first[8];

	for (int i = 0; i < 8; i++)
		first[i] = (unsigned char)(number >> 8 * i);
	return ~crc_bytes(crc_bytes(CRC_START, first, sizeof first), bytes, length);
}

void frame_put(struct text_buffer *text, uint64_t number, const char *bytes, size_t length)
{
	text_printf(text, "~%016" PRIx64 " %08" PRIx32 " ", number, checksum(number, bytes, length));
	for (size_t i = 0; i < length; i += 3) {
		uint32_t word = 0;
		char four[4];

		for (size_t j = 0; j < 3; j++)
			word = word << 8 | (i + j < length ? (unsigned char)bytes[i + j] : 0);
		for (size_t j = 0; j < 4; j++)
			four[j] = i + j > length ? '=' : letters[word >> (18 - 6 * j) & 63];
		text_append_bytes(text, four, 4);
	}
	text_append(text, "\n");
}

static bool read_hex(const char *text, size_t digits, uint64_t *number)
{
	static const char digits_of[] = "0123456789abcdef";

	*number = 0;
	for (size_t i = 0; i < digits; i++) {
		const char *found = text[i] ? strchr(digits_of, text[i]) : NULL;

		if (!found)
			return false;
		*number = *number << 4 | (uint64_t)(found - digits_of);
	}
	return true;
}

static int64_t read_base64(const char *text, size_t length, char *bytes)
{
	size_t pads = length && text[length - 1] == '=' ? 1 + (text[length - 2] == '=') : 0;
	int64_t count = 0;

	for (size_t i = 0; i < length; i += 4) {
		bool is_last = i + 4 == length;
		uint32_t word = 0;

		for (size_t j = 0; j < 4; j++) {
			bool is_pad = is_last && j >= 4 - pads;
			const char *found = text[i + j] ? strchr(letters, text[i + j]) : NULL;

			if (!is_pad && !found)
				return -EBADMSG;
			word = word << 6 | (is_pad ? 0 : (uint32_t)(found - letters));
		}
		if (is_last && word & ((UINT32_C(1) << 8 * pads) - 1))
			return -EBADMSG;
		for (size_t j = 0; j < 3 - (is_last ? pads : 0); j++)
			bytes[count++] = (char)(word >> (16 - 8 * j));
	}
	return count;
}

int64_t frame_read(const char *line, size_t length, uint64_t *number, char *bytes)
{
	uint64_t wanted;
	int64_t count;

	if (length && line[length - 1] == '\r')
		length--;
	if (length < HEAD + 4 || (length - HEAD) % 4 || line[0] != '~' || line[17] != ' ' || line[26] != ' ' ||
	    !read_hex(line + 1, 16, number) || !read_hex(line + 18, 8, &wanted))
		return -EBADMSG;
	count = read_base64(line + HEAD, length - HEAD, bytes);
	return count >= 0 && checksum(*number, bytes, (size_t)count) == wanted ? count : -EBADMSG;
}
