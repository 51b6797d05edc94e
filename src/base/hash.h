/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef BASE_HASH_H
#define BASE_HASH_H

/*
 * One hash of bytes for all who need no seed: FNV-1a of 64 bits. The same bytes have the same hash in every process and
 * on every machine, so it may be kept in files; an attacker who chooses the bytes can choose collisions, so tables that
 * others fill begin with hash_seed() in place of HASH_START, or have a seeded hash of their own (engine/index-priv.h).
 */

#include <stddef.h>
#include <stdint.h>

#define HASH_START UINT64_C(0xcbf29ce484222325)

/* Goes on with hash, or begins with HASH_START, over length bytes. */
static inline uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t length)
{
	for (const unsigned char *at = (const unsigned char *)bytes; length; at++, length--)
		hash = (hash ^ *at) * UINT64_C(0x100000001b3);
	return hash;
}

/* Of the bytes before the NUL. */
static inline uint64_t hash_text(const char *text)
{
	uint64_t hash = HASH_START;

	for (; *text; text++)
		hash = hash_bytes(hash, text, 1);
	return hash;
}

/* What cannot be known beforehand, to begin with; where there is no randomness, the owner's address. */
uint64_t hash_seed(const void *owner);

#endif
