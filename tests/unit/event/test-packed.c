// SPDX-License-Identifier: BSD-2-Clause
/* Packed events: where each field lies, and what becomes of payloads that nobody honest has written. */

#include "event/packed.h"

#include "event/catalog.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static const char text[] =
	"EVENT all { s: string[8], u8: u8, u16: u16, u32: u32, u64: u64, l: string, i8: i8, i16: i16, i32: i32,\n"
	"            i64: i64, f: f64, b: bool, t: time, p: addr }\n"
	"EVENT none { }\n";

struct fixture {
	struct event_catalog *catalog;
	const struct event_type *all, *none;
};

static int set_up(void **state)
{
	struct fixture *fixture = calloc(1, sizeof *fixture);

	fixture->catalog = event_catalog_new();
	if (event_catalog_parse(fixture->catalog, "types", text, strlen(text), NULL))
		return -1;
	fixture->all = event_catalog_find(fixture->catalog, "all");
	fixture->none = event_catalog_find(fixture->catalog, "none");
	*state = fixture;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;

	event_catalog_free(fixture->catalog);
	free(fixture);
	return 0;
}

static void set(const struct event_type *type, char *record, const char *name, uint64_t value)
{
	memcpy(record + event_field_find(type, name)->offset, &value, sizeof value);
}

static uint64_t get(const struct event_type *type, const char *record, const char *name)
{
	uint64_t value;

	memcpy(&value, record + event_field_find(type, name)->offset, sizeof value);
	return value;
}

static void fill(const struct event_type *type, char *record)
{
	double real = -0.5;

	memset(record, 0, type->record_bytes);
	strcpy(record + event_field_find(type, "s")->offset, "1234567");
	strcpy(record + event_field_find(type, "l")->offset, "long");
	set(type, record, "u8", 0xf1);
	set(type, record, "u16", 0xf2f3);
	set(type, record, "u32", 0xf4f5f6f7);
	set(type, record, "u64", UINT64_MAX - 1);
	set(type, record, "i8", (uint64_t)-2);
	set(type, record, "i16", (uint64_t)-3);
	set(type, record, "i32", (uint64_t)-4);
	set(type, record, "i64", (uint64_t)-5);
	set(type, record, "b", 1);
	set(type, record, "t", 6);
	set(type, record, "p", 7);
	memcpy(record + event_field_find(type, "f")->offset, &real, sizeof real);
}

static void wide_numbers_come_first_and_strings_last(void **state)
{
	static const char *const order[] = { "u64", "i64", "f", "t", "p", "u32", "i32", "u16", "i16", "u8", "i8", "b" };
	static const unsigned offsets[] = { 0, 8, 16, 24, 32, 40, 44, 48, 50, 52, 53, 54 };
	const struct fixture *fixture = *state;
	struct event_packed layout;

	event_packed_init(&layout, fixture->all, NULL);
	assert_int_equal(layout.number_count, 12);
	assert_int_equal(layout.fixed_bytes, 55);
	for (unsigned i = 0; i < 12; i++) {
		const struct event_field *field = &fixture->all->fields[layout.numbers[i].field];

		assert_string_equal(field->name, order[i]);
		assert_int_equal(layout.numbers[i].payload_offset, offsets[i]);
		assert_int_equal(layout.numbers[i].record_offset, field->offset);
	}
	assert_int_equal(layout.string_count, 2);
	assert_string_equal(fixture->all->fields[layout.strings[0].field].name, "s");
	assert_string_equal(fixture->all->fields[layout.strings[1].field].name, "l");
	assert_int_equal(layout.strings[1].capacity, EVENT_STRING_BYTES);
	assert_int_equal(layout.bytes_max, 320); /* 55 + 8 + 256, rounded up */
	event_packed_init(&layout, fixture->none, NULL);
	assert_int_equal(layout.number_count + layout.string_count + layout.fixed_bytes + layout.bytes_max, 0);
}

static void only_recorded_fields_are_laid_out(void **state)
{
	const struct fixture *fixture = *state;
	bool recorded[EVENT_FIELDS_MAX] = { [1] = true, [3] = true, [5] = true }; /* u8, u32, l */
	struct event_packed layout;

	event_packed_init(&layout, fixture->all, recorded);
	assert_int_equal(layout.number_count, 2);
	assert_int_equal(layout.numbers[0].field, 3);
	assert_int_equal(layout.numbers[1].field, 1);
	assert_int_equal(layout.numbers[1].payload_offset, 4);
	assert_int_equal(layout.fixed_bytes, 5);
	assert_int_equal(layout.string_count, 1);
	assert_int_equal(layout.strings[0].field, 5);
}

static void what_is_encoded_is_decoded(void **state)
{
	const struct fixture *fixture = *state;
	_Alignas(8) char record[EVENT_RECORD_BYTES_MAX], back[EVENT_RECORD_BYTES_MAX] = { 0 };
	unsigned char payload[512];
	struct event_packed layout;

	event_packed_init(&layout, fixture->all, NULL);
	fill(fixture->all, record);
	memset(payload, 0xaa, sizeof payload);
	/* 55 + 8 + 5 = 68, rounded up to 72 */
	assert_int_equal(event_packed_encode(&layout, (void *)record, payload, 71), -ENOSPC);
	assert_int_equal(payload[0], 0xaa);
	assert_int_equal(event_packed_encode(&layout, (void *)record, payload, 72), 72);
	assert_memory_equal(payload + 40, "\xf7\xf6\xf5\xf4\xfc\xff\xff\xff\xf3\xf2\xfd\xff\xf1\xfe\x01", 15);
	assert_memory_equal(payload + 55, "1234567\0long\0\0\0\0\0", 17);
	assert_int_equal(payload[72], 0xaa);
	assert_int_equal(event_packed_bytes(&layout, payload, sizeof payload), 68);
	memset(back + sizeof(struct event_header), 0x55, fixture->all->record_bytes - sizeof(struct event_header));
	assert_int_equal(event_packed_decode(&layout, payload, 68, (void *)back), 68);
	assert_memory_equal(record, back, fixture->all->record_bytes);
}

static void a_payload_that_does_not_end_is_refused(void **state)
{
	const struct fixture *fixture = *state;
	_Alignas(8) char record[EVENT_RECORD_BYTES_MAX];
	unsigned char payload[512];
	struct event_packed layout;

	event_packed_init(&layout, fixture->all, NULL);
	fill(fixture->all, record);
	assert_int_equal(event_packed_encode(&layout, (void *)record, payload, sizeof payload), 72);
	for (size_t available = 0; available < 68; available++) {
		/* Exactly sized, so that a sanitizer sees every byte read too many. */
		unsigned char *copy = malloc(available ? available : 1);

		memcpy(copy, payload, available);
		assert_int_equal(event_packed_bytes(&layout, copy, available), -EINVAL);
		assert_int_equal(event_packed_decode(&layout, copy, available, (void *)record), -EINVAL);
		free(copy);
	}
}

static void hostile_values_become_sound_ones(void **state)
{
	const struct fixture *fixture = *state;
	_Alignas(8) char record[EVENT_RECORD_BYTES_MAX] = { 0 };
	unsigned char payload[512] = { 0 };
	struct event_packed layout;

	event_packed_init(&layout, fixture->all, NULL);
	payload[54] = 0xff;
	memset(payload + 55, 'x', 300);
	assert_int_equal(event_packed_decode(&layout, payload, sizeof payload, (void *)record), 55 + 301 + 1);
	assert_int_equal(get(fixture->all, record, "b"), 1);
	assert_string_equal(record + event_field_find(fixture->all, "s")->offset, "xxxxxxx");
	assert_string_equal(record + event_field_find(fixture->all, "l")->offset, "");
}

static void dropped_fields_are_left_alone(void **state)
{
	const struct fixture *fixture = *state;
	bool wanted[EVENT_FIELDS_MAX] = { [2] = true, [5] = true }; /* u16, l */
	_Alignas(8) char record[EVENT_RECORD_BYTES_MAX], back[EVENT_RECORD_BYTES_MAX] = { 0 };
	unsigned char payload[512];
	struct event_packed layout;

	event_packed_init(&layout, fixture->all, NULL);
	fill(fixture->all, record);
	assert_int_equal(event_packed_encode(&layout, (void *)record, payload, sizeof payload), 72);
	event_packed_drop(&layout, wanted);
	assert_int_equal(event_packed_bytes(&layout, payload, sizeof payload), 68);
	assert_int_equal(event_packed_decode(&layout, payload, sizeof payload, (void *)back), 68);
	assert_int_equal(get(fixture->all, back, "u16"), 0xf2f3);
	assert_string_equal(back + event_field_find(fixture->all, "l")->offset, "long");
	assert_int_equal(get(fixture->all, back, "u32"), 0);
	assert_int_equal(get(fixture->all, back, "s"), 0);
}

static void times_grow_from_the_one_before(void **state)
{
	uint64_t wrap = UINT64_C(1) << 48;

	(void)state;
	assert_int_equal(event_packed_word_id(event_packed_word(7, UINT64_MAX)), 7);
	assert_int_equal(event_packed_word_ts(event_packed_word(7, 1000), 1000), 1000);
	assert_int_equal(event_packed_word_ts(event_packed_word(7, 1001), 1000), 1001);
	assert_int_equal(event_packed_word_ts(event_packed_word(7, 999), 1000), wrap + 999);
	assert_int_equal(event_packed_word_ts(event_packed_word(7, 5 * wrap + 3), 5 * wrap - 8), 5 * wrap + 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(wide_numbers_come_first_and_strings_last, set_up, tear_down),
		cmocka_unit_test_setup_teardown(only_recorded_fields_are_laid_out, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_is_encoded_is_decoded, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_payload_that_does_not_end_is_refused, set_up, tear_down),
		cmocka_unit_test_setup_teardown(hostile_values_become_sound_ones, set_up, tear_down),
		cmocka_unit_test_setup_teardown(dropped_fields_are_left_alone, set_up, tear_down),
		cmocka_unit_test(times_grow_from_the_one_before),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
