/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef REPORT_STORE_BYTES_H
#define REPORT_STORE_BYTES_H

/*
 * Bytes that grow as they are written, with numbers of variable length (LEB128: seven bits a byte, the least
 * significant first). The first failure sticks; what comes after it is dropped.
 */

#include <stddef.h>
#include <stdint.h>

/* Zeroed, there are none. */
struct store_bytes {
	uint8_t *items;
	size_t count, capacity;
	int failure; /* 0, -ENOMEM */
};

void store_bytes_fini(struct store_bytes *bytes);

void store_bytes_put(struct store_bytes *bytes, const void *from, size_t count);
void store_bytes_varint(struct store_bytes *bytes, uint64_t number);
/* Small numbers of either sign are short: 0, -1, 1, -2, ... */
void store_bytes_signed(struct store_bytes *bytes, int64_t number);

static inline void store_bytes_byte(struct store_bytes *bytes, uint8_t byte)
{
	store_bytes_put(bytes, &byte, 1);
}

/*
 * Deflates from (raw, RFC 1951) behind what to holds. level is zlib's. Returns 0 or -ENOMEM.
 */
int store_bytes_deflate(struct store_bytes *to, const struct store_bytes *from, int level);

#endif
