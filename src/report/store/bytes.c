// SPDX-License-Identifier: BSD-2-Clause
/* Grows and deflates the bytes of a store. */

#include "report/store/bytes.h"

#include "base/alloc.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <zlib.h>

enum { VARINT_BYTES = 10, RAW_DEFLATE = -15 };

static bool reserve_bytes(struct store_bytes *bytes, size_t more)
{
	if (bytes->failure != 0)
		return false;
	if (bytes->capacity - bytes->count >= more)
		return true;
	bytes->failure = alloc_grow(&bytes->items, &bytes->capacity, bytes->count + more - 1, 1);
	return bytes->failure == 0;
}

void store_bytes_fini(struct store_bytes *bytes)
{
	alloc_free(bytes->items);
	*bytes = (struct store_bytes){ 0 };
}

void store_bytes_put(struct store_bytes *bytes, const void *from, size_t count)
{
	if (count == 0 || !reserve_bytes(bytes, count))
		return;
	memcpy(bytes->items + bytes->count, from, count);
	bytes->count += count;
}

void store_bytes_varint(struct store_bytes *bytes, uint64_t number)
{
	if (!reserve_bytes(bytes, VARINT_BYTES))
		return;
	uint8_t *to = bytes->items + bytes->count;
	for (; number >= 0x80; number >>= 7)
		*to++ = (uint8_t)(number | 0x80);
	*to++ = (uint8_t)number;
	bytes->count = (size_t)(to - bytes->items);
}

void store_bytes_signed(struct store_bytes *bytes, int64_t number)
{
	store_bytes_varint(bytes, number < 0 ? ~((uint64_t)number << 1) : (uint64_t)number << 1);
}

int store_bytes_deflate(struct store_bytes *to, const struct store_bytes *from, int level)
{
	if (from->failure != 0)
		return from->failure;
	z_stream stream = { 0 };
	if (deflateInit2(&stream, level, Z_DEFLATED, RAW_DEFLATE, 8, Z_DEFAULT_STRATEGY) != Z_OK)
		return -ENOMEM;
	size_t bound = deflateBound(&stream, from->count);
	if (!reserve_bytes(to, bound)) {
		deflateEnd(&stream);
		return to->failure;
	}
	stream.next_in = from->items;
	stream.avail_in = (uInt)from->count;
	stream.next_out = to->items + to->count;
	stream.avail_out = (uInt)bound;
	int code = deflate(&stream, Z_FINISH);
	to->count += stream.total_out;
	deflateEnd(&stream);
	return code == Z_STREAM_END ? 0 : -ENOMEM;
}
