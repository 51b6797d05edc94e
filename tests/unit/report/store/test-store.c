// SPDX-License-Identifier: BSD-2-Clause
/* Stores of slices: what goes in comes out of tiles; limits hold; bins add up, however far apart times are. */

#include "report/page/page.h"
#include "report/store/store.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <zlib.h>

enum { RAW_BYTES = 1 << 22 };

static uint8_t raw[RAW_BYTES];

static size_t inflated(const struct store_tile *tile)
{
	z_stream stream = {
		.next_in = tile->deflated, .avail_in = tile->bytes, .next_out = raw, .avail_out = RAW_BYTES
	};
	assert_int_equal(inflateInit2(&stream, -15), Z_OK);
	assert_int_equal(inflate(&stream, Z_FINISH), Z_STREAM_END);
	inflateEnd(&stream);
	return stream.total_out;
}

static uint64_t number(const uint8_t **at)
{
	uint64_t value = 0;
	unsigned int shift = 0;
	for (; **at & 0x80; shift += 7)
		value |= (uint64_t)(*(*at)++ & 0x7f) << shift;
	return value | (uint64_t) * (*at)++ << shift;
}

static struct report_slice slice_of(uint64_t i)
{
	uint64_t begin = 5000 + i * 700;
	return (struct report_slice){ begin,
				      begin + 100 + i % 3 * 50,
				      (uint32_t)(i % 5),
				      i % 4 == 0 ? (i % 8 == 0 ? REPORT_TIMER : REPORT_INTERRUPT) : (uint32_t)i,
				      (uint32_t)(i % 7),
				      (uint16_t)(i % 2),
				      REPORT_RUNNING,
				      120 };
}

static void test_round_trip(void **state)
{
	(void)state;
	struct store store;
	store_init(&store, 5000, 0);
	enum { COUNT = 1000 };
	for (uint64_t i = 0; i < COUNT; i++) {
		struct report_slice slice = slice_of(i);
		assert_int_equal(store_put(&store, &slice), 0);
	}
	assert_int_equal(store_finish(&store), 0);
	const struct store_class *class = &store.tiles.classes[0];
	assert_int_equal(class->count, 1);
	size_t length = inflated(&class->tiles[0]);
	const uint8_t *at = raw;
	assert_int_equal(number(&at), COUNT);
	uint64_t end = 5000, ends[COUNT];
	for (uint64_t i = 0; i < COUNT; i++) {
		uint64_t delta = number(&at);
		end += delta % 2 ? ~(delta >> 1) : delta >> 1;
		ends[i] = end;
		assert_int_equal(end, slice_of(i).end);
	}
	for (uint64_t i = 0; i < COUNT; i++)
		assert_int_equal(ends[i] - number(&at), slice_of(i).begin);
	for (uint64_t i = 0; i < COUNT; i++)
		assert_int_equal(number(&at), slice_of(i).thread + 1);
	for (uint64_t i = 0; i < COUNT; i++)
		assert_int_equal(number(&at), slice_of(i).cpu);
	for (uint64_t i = 0; i < COUNT; i++)
		assert_int_equal(number(&at), slice_of(i).reason);
	for (uint64_t i = 0; i < COUNT; i++)
		assert_int_equal(number(&at), i % 4 == 0 ? (i % 8 == 0 ? 2 : 1) : i + 3);
	assert_int_equal(at[0], REPORT_RUNNING);
	assert_int_equal(at[COUNT], 120);
	assert_int_equal((size_t)(at + 2 * COUNT - raw), length);
	assert_true(store_has_reason(&store, 6));
	assert_false(store_has_reason(&store, 7));
	store_fini(&store);
}

static void test_classes(void **state)
{
	(void)state;
	assert_int_equal(store_class_of(1), 0);
	assert_int_equal(store_class_of(1023), 0);
	assert_int_equal(store_class_of(1024), 1);
	assert_int_equal(store_class_of(8191), 1);
	assert_int_equal(store_class_of(8192), 2);
	assert_int_equal(store_class_of(UINT64_MAX), STORE_CLASSES - 1);
}

/* Slices near a mark outlive others, and the limit is one. */
static void test_limit(void **state)
{
	(void)state;
	struct store store;
	enum { LIMIT = 200000, COUNT = 1000000 };
	store_init(&store, 5000, LIMIT);
	uint64_t mark = slice_of(COUNT / 4).begin;
	for (uint64_t i = 0; i < COUNT; i++) {
		struct report_slice slice = slice_of(i);
		assert_int_equal(store_put(&store, &slice), 0);
		if (i == COUNT / 4)
			assert_int_equal(store_mark(&store, mark), 0);
	}
	assert_int_equal(store_finish(&store), 0);
	assert_true(store.tiles.bytes <= LIMIT);
	assert_true(store.tiles.dropped > 0);
	bool is_kept = false;
	uint64_t known = 0;
	for (size_t i = 0; i < store.tiles.classes[0].count; i++) {
		const struct store_tile *tile = &store.tiles.classes[0].tiles[i];
		is_kept |= tile->is_kept && tile->begin <= mark && tile->end >= mark;
		known += tile->slices;
	}
	assert_true(is_kept);
	assert_int_equal(known, COUNT);
	store_fini(&store);
}

/* Whatever lies in a file is what would lie in memory, where there is no file. */
static void test_file(void **state)
{
	(void)state;
	struct store stores[2];
	enum { COUNT = 1500000 };
	size_t in_file = 0;
	for (unsigned int i = 0; i < 2; i++) {
		if (i == 1)
			setenv("TMPDIR", "/nowhere", 1);
		store_init(&stores[i], 5000, 0);
		for (uint64_t j = 0; j < COUNT; j++) {
			struct report_slice slice = slice_of(j * j % 1000003 + j);
			assert_int_equal(store_put(&stores[i], &slice), 0);
		}
		assert_int_equal(store_finish(&stores[i]), 0);
	}
	unsetenv("TMPDIR");

	const struct store_class *left = &stores[0].tiles.classes[0], *right = &stores[1].tiles.classes[0];
	assert_int_equal(left->count, COUNT / STORE_TILE_SLICES + 1);
	assert_int_equal(right->count, left->count);
	for (size_t i = 0; i < left->count; i++) {
		const uint8_t *bytes;
		assert_non_null(right->tiles[i].deflated);
		in_file += !left->tiles[i].deflated;
		assert_int_equal(store_tile_bytes(&stores[0].tiles, &left->tiles[i], &bytes), 0);
		assert_int_equal(left->tiles[i].bytes, right->tiles[i].bytes);
		assert_memory_equal(bytes, right->tiles[i].deflated, right->tiles[i].bytes);
	}
	assert_true(in_file > left->count / 2);
	/* What goes is not there any more, and the rest still is. */
	store_tiles_fit(&stores[0].tiles, stores[0].tiles.bytes / 4);
	for (size_t i = 0; i < left->count; i++) {
		const uint8_t *bytes;
		if (!left->tiles[i].is_kept)
			continue;
		assert_int_equal(store_tile_bytes(&stores[0].tiles, &left->tiles[i], &bytes), 0);
		assert_memory_equal(bytes, right->tiles[i].deflated, right->tiles[i].bytes);
	}
	assert_true(store_tiles_kept(&stores[0].tiles) < left->count / 2);
	store_fini(&stores[0]);
	store_fini(&stores[1]);
}

/* The sum over the bins of a lane, in ns: exact as long as widths are below 2^31 ns. */
static uint64_t sum(const struct store_lane *lane)
{
	uint64_t all = 0;
	for (size_t i = 0; i < lane->count; i++)
		all += lane->bins[i].busy;
	return all;
}

static void test_bins(void **state)
{
	(void)state;
	struct store_bins bins = { .origin_ns = 1000 };
	uint64_t told = 0;
	for (uint64_t i = 0; i < 200000; i++) {
		struct store_span span = { 1000 + i * 100000, 1000 + i * 100000 + 30000 + i % 1000, 0 };
		assert_int_equal(store_bins_cpu(&bins, &span, (uint32_t)(i % 10 == 0)), 0);
		span.lane = 3;
		assert_int_equal(store_bins_running(&bins, &span), 0);
		told += span.end - span.begin;
	}
	assert_int_equal(sum(&bins.cpus[0]), told);
	assert_int_equal(sum(&bins.threads[3]), told);
	assert_true(bins.cpus[0].count <= STORE_BINS);
	assert_int_equal(bins.cpus[0].bins[100].other, 0);
	assert_int_equal(bins.cpus[0].votes[100].stranger, 0);
	/* One that a damaged trace has sent to the end of time. */
	struct store_span far = { UINT64_C(1) << 40, UINT64_MAX, 3 };
	assert_int_equal(store_bins_running(&bins, &far), 0);
	assert_true(bins.threads[3].count <= STORE_BINS);
	store_bins_fini(&bins);
}

/* What strangers did on a processor is known apart, also when bins become wider. */
static void test_strangers(void **state)
{
	enum { MS = 1000000 };
	(void)state;
	struct store_bins bins = { 0 };
	uint64_t all = 0;
	for (uint64_t i = 0; i < 1000; i++) {
		struct store_span span = { i * 10 * MS, i * 10 * MS + 3 * MS, 0 },
				  other = { span.end, span.end + MS, 0 };
		assert_int_equal(store_bins_cpu(&bins, &span, UINT32_MAX), 0);
		assert_int_equal(store_bins_cpu(&bins, &other, 1), 0);
	}
	for (size_t i = 0; i < bins.cpus[0].count; i++)
		all += bins.cpus[0].votes[i].stranger;
	assert_int_equal(all, (uint64_t)3000 * MS);
	assert_int_equal(sum(&bins.cpus[0]), (uint64_t)4000 * MS);
	store_bins_fini(&bins);
}

/* Many threads: bins become wider before there are too many of them. */
static void test_many_lanes(void **state)
{
	(void)state;
	struct store_bins bins = { 0 };
	for (uint64_t i = 0; i < 3 * STORE_BINS_TOTAL; i++) {
		struct store_span span = { i << 14, (i << 14) + 5, (uint32_t)(i % 1000) };
		assert_int_equal(store_bins_running(&bins, &span), 0);
		assert_true(bins.total <= STORE_BINS_TOTAL + 1);
	}
	store_bins_fini(&bins);
}

static void test_escape(void **state)
{
	(void)state;
	struct text_buffer html = { 0 };
	text_append_markup(&html, "</script><b a='\"'>&\xe2\x80\xae\x1b\xff");
	assert_non_null(strstr(html.bytes, "&lt;/script&gt;&lt;b a=&#39;&quot;&#39;&gt;&amp;"));
	assert_null(strpbrk(html.bytes, "<>\"'\x1b\xff\xe2"));
	text_fini(&html);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip), cmocka_unit_test(test_classes), cmocka_unit_test(test_limit),
		cmocka_unit_test(test_file),       cmocka_unit_test(test_bins),    cmocka_unit_test(test_strangers),
		cmocka_unit_test(test_many_lanes), cmocka_unit_test(test_escape),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
