/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef BASE_CRC_H
#define BASE_CRC_H

/*
 * CRC-32 as IEEE 802.3 has it (reflected polynomial 0xEDB88320). Begin with CRC_START, go on over any number of pieces;
 * the checksum is the complement of what that comes to. Eight bytes are one step ("slicing by 8", Kounavis and Berry
 * 2005), by half bytes, so that 1 KiB of remainders does.
 */

#include <stddef.h>
#include <stdint.h>

#define CRC_START UINT32_MAX

/* A remainder is the sum of those of its bits. */
#define CRC_ROW(A, B, C, D)                                                                                 \
	{                                                                                                   \
		0, A, B, (A) ^ (B), C, (A) ^ (C), (B) ^ (C), (A) ^ (B) ^ (C), D, (A) ^ (D), (B) ^ (D),      \
			(A) ^ (B) ^ (D), (C) ^ (D), (A) ^ (C) ^ (D), (B) ^ (C) ^ (D), (A) ^ (B) ^ (C) ^ (D) \
	}

/* What is left of byte when so many whole bytes were shifted out behind it. */
static inline uint32_t crc_remainder(unsigned char byte, size_t shifted)
{
	/* Row n: of all half bytes, shifted by 4 (n + 1) bits. */
	static const uint32_t rows[16][16] = {
		CRC_ROW(0x1db71064, 0x3b6e20c8, 0x76dc4190, 0xedb88320),
		CRC_ROW(0x77073096, 0xee0e612c, 0x076dc419, 0x0edb8832),
		CRC_ROW(0x4ac21251, 0x958424a2, 0xf0794f05, 0x3b83984b),
		CRC_ROW(0x191b3141, 0x32366282, 0x646cc504, 0xc8d98a08),
		CRC_ROW(0x1c26a370, 0x384d46e0, 0x709a8dc0, 0xe1351b80),
		CRC_ROW(0x01c26a37, 0x0384d46e, 0x0709a8dc, 0x0e1351b8),
		CRC_ROW(0x5019579f, 0xa032af3e, 0x9b14583d, 0xed59b63b),
		CRC_ROW(0xb8bc6765, 0xaa09c88b, 0x8f629757, 0xc5b428ef),
		CRC_ROW(0x60e09782, 0xc1c12f04, 0x58f35849, 0xb1e6b092),
		CRC_ROW(0x3d6029b0, 0x7ac05360, 0xf580a6c0, 0x30704bc1),
		CRC_ROW(0x03d6029b, 0x07ac0536, 0x0f580a6c, 0x1eb014d8),
		CRC_ROW(0xcb5cd3a5, 0x4dc8a10b, 0x9b914216, 0xec53826d),
		CRC_ROW(0x67de9cce, 0xcfbd399c, 0x440b7579, 0x8816eaf2),
		CRC_ROW(0xa6770bb4, 0x979f1129, 0xf44f2413, 0x33ef4e67),
		CRC_ROW(0x7cbb312b, 0xf9766256, 0x299dc2ed, 0x533b85da),
		CRC_ROW(0xccaa009e, 0x4225077d, 0x844a0efa, 0xd3e51bb5),
	};

	return rows[2 * shifted][byte >> 4] ^ rows[2 * shifted + 1][byte & 15];
}

static inline uint32_t crc_bytes(uint32_t crc, const void *bytes, size_t length)
{
	const unsigned char *at = (const unsigned char *)bytes;

	for (; length >= 8; at += 8, length -= 8) {
		uint32_t head = crc ^ (at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24);

		crc = 0;
		for (size_t i = 0; i < 4; i++)
			crc ^= crc_remainder(head >> 8 * i & 0xff, 7 - i) ^ crc_remainder(at[4 + i], 3 - i);
	}
	for (; length; at++, length--)
		crc = crc >> 8 ^ crc_remainder((unsigned char)(crc ^ *at), 0);
	return crc;
}

#endif
