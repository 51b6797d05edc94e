// SPDX-License-Identifier: BSD-2-Clause
/* The checksum is that of the standard, whatever the length, the place and the pieces: compared with one bit at a time.
 */

#include "base/crc.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static uint32_t by_bits(uint32_t crc, const unsigned char *bytes, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		crc ^= bytes[i];
		for (int bit = 0; bit < 8; bit++)
			crc = crc & 1 ? crc >> 1 ^ UINT32_C(0xedb88320) : crc >> 1;
	}
	return crc;
}

static void fill(unsigned char *bytes, size_t length)
{
	uint32_t state = 1;

	for (size_t i = 0; i < length; i++) {
		state = state * 1664525 + 1013904223;
		bytes[i] = (unsigned char)(state >> 24);
	}
}

static void it_is_the_standard_s(void **context)
{
	(void)context;
	assert_int_equal((uint32_t)~crc_bytes(CRC_START, "123456789", 9), 0xcbf43926);
	assert_int_equal((uint32_t)~crc_bytes(CRC_START, "", 0), 0);
}

static void each_bit_counts_at_each_place(void **context)
{
	(void)context;
	for (size_t bit = 0; bit < 8 * 16; bit++) {
		unsigned char bytes[16] = { 0 };

		bytes[bit / 8] = (unsigned char)(1 << bit % 8);
		assert_int_equal(crc_bytes(CRC_START, bytes, sizeof bytes), by_bits(CRC_START, bytes, sizeof bytes));
		assert_int_equal(crc_bytes(0, bytes, sizeof bytes), by_bits(0, bytes, sizeof bytes));
	}
}

static void lengths_and_pieces_do_not_matter(void **context)
{
	unsigned char bytes[67];

	(void)context;
	fill(bytes, sizeof bytes);
	for (size_t from = 0; from < 9; from++) {
		for (size_t length = 0; from + length <= sizeof bytes; length++) {
			uint32_t wanted = by_bits(CRC_START, bytes + from, length);

			assert_int_equal(crc_bytes(CRC_START, bytes + from, length), wanted);
			for (size_t cut = 0; cut <= length; cut++)
				assert_int_equal(crc_bytes(crc_bytes(CRC_START, bytes + from, cut), bytes + from + cut,
							   length - cut),
						 wanted);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_is_the_standard_s),
		cmocka_unit_test(each_bit_counts_at_each_place),
		cmocka_unit_test(lengths_and_pieces_do_not_matter),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
