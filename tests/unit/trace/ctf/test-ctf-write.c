// SPDX-License-Identifier: BSD-2-Clause
/* What is written of a trace, and what is not: at the limit, on a full disk, of packets that are wrong. */

#include "ctf-rig.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <cmocka.h>

/* What is left at the limit is the newest, without a gap. */
static void the_limit_keeps_the_newest(void **state)
{
	struct rig *rig = *state;
	struct ctf_writer_totals totals;
	struct event_source *source;
	struct event event;
	uint64_t next[2] = { 0, 0 };
	int result;

	rig->options.max_bytes = 400000;
	rig_open_writer(rig);
	for (uint64_t n = 0; n < 100000; n++) {
		/* The first processor falls silent in the middle. */
		unsigned cpu = n < 50000 ? (unsigned)(n % 2) : 1;

		rig_add_tick(rig, cpu, 1000 + n, n);
		ctf_writer_totals(rig->writer, &totals);
		assert_true(totals.bytes <= 400000);
	}
	rig_flush(rig, 0);
	rig_flush(rig, 1);
	ctf_writer_totals(rig->writer, &totals);
	assert_true(totals.bytes <= 400000 && totals.bytes > 300000);
	assert_int_equal(totals.events, 100000);
	assert_true(totals.deleted_bytes > 1000000);
	rig_close_writer(rig);
	source = rig_open_reader(rig);
	while ((result = event_source_next(source, &event)) == 1) {
		uint64_t n = rig_word(&event, "n");
		unsigned cpu = event.record->cpu;

		assert_true(!next[cpu] || n == next[cpu]);
		next[cpu] = n + (n < 49998 ? 2 : 1);
	}
	assert_int_equal(result, 0);
	assert_int_equal(source->lost, 0);
	assert_int_equal(next[1], 100000);
	event_source_free(source);
}

static void a_directory_with_files_is_left_alone(void **state)
{
	struct rig *rig = *state;
	struct ctf_writer *writer;

	assert_int_equal(mkdir(rig->path, 0777), 0);
	rig_write_small(rig); /* an empty one will do */
	assert_int_equal(ctf_writer_new(rig->path, &rig->options, rig->diag, &writer), -EEXIST);
	assert_string_equal(asterism_diag_get(rig->diag, 0)->text,
			    "the directory is not empty: a trace never overwrites files");
	asterism_diag_clear(rig->diag);
	assert_int_equal(ctf_writer_new("/dev/null", &rig->options, rig->diag, &writer), -ENOTDIR);
	assert_int_equal(ctf_writer_new("/dev/null/x", &rig->options, rig->diag, &writer), -ENOTDIR);
	event_source_free(rig_open_reader(rig));
}

/* A file that may not grow stands for a disk that is full. */
static void a_full_disk_leaves_whole_packets(void **state)
{
	struct rig *rig = *state;
	struct rlimit old, limit;
	struct event_source *source;
	struct event event;
	uint64_t count = 0;
	int result = 0;

	rig_open_writer(rig);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	limit = (struct rlimit){ 150000, old.rlim_max };
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	for (uint64_t n = 0; n < 20000 && !result; n++) {
		_Alignas(8) char record[128] = { 0 };

		((struct event_header *)record)->ts = 100 + n;
		result = packets_add(rig->cpus[0], TICK, (struct event_header *)record);
	}
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	assert_int_equal(result, -EFBIG);
	assert_string_equal(asterism_diag_get(rig->diag, 0)->text, "cannot write the file: File too large");
	assert_non_null(strstr(asterism_diag_get(rig->diag, 0)->file, "/trace/stream_0"));
	rig_close_writer(rig);
	source = rig_open_reader(rig);
	while ((result = event_source_next(source, &event)) == 1)
		count++;
	assert_int_equal(result, 0);
	assert_true(count > 4000);
	event_source_free(source);
}

static int put_packet(struct rig *rig, const uint64_t *words, size_t count)
{
	_Alignas(8) char bytes[1024] = { 0 };
	struct ring_packet header = { .timestamp_begin = 1000 };

	asterism_diag_clear(rig->diag);
	memcpy(bytes, &header, sizeof header);
	memcpy(bytes + sizeof header, words, count * sizeof *words);
	return ctf_writer_packet(rig->writer, 0, bytes, sizeof header + count * sizeof *words, 0);
}

static void a_wrong_packet_is_not_written(void **state)
{
	const uint64_t tick = event_packed_word(TICK, 1001), text = event_packed_word(TEXT, 1001);
	struct rig *rig = *state;
	const uint64_t unknown[] = { event_packed_word(TEXT + 1, 1001), 0 };
	const uint64_t short_tick[] = { tick, 5 };
	const uint64_t endless[] = { text, ~UINT64_C(0), ~UINT64_C(0) };
	const uint64_t back[] = { tick, 5, 1, event_packed_word(TICK, 1000), 5, 1 };
	const uint64_t right[] = { tick, 5, 1, text, 0x4100000000 };

	rig_open_writer(rig);
	assert_int_equal(put_packet(rig, unknown, 2), -EINVAL);
	assert_string_equal(asterism_diag_get(rig->diag, 0)->text,
			    "a packet of CPU 0 is damaged at byte 96: unknown event id");
	assert_int_equal(put_packet(rig, short_tick, 2), -EINVAL);
	assert_int_equal(put_packet(rig, endless, 3), -EINVAL);
	assert_int_equal(put_packet(rig, back, 6), -EINVAL);
	assert_string_equal(asterism_diag_get(rig->diag, 0)->text,
			    "a packet of CPU 0 is damaged at byte 120: time goes back");
	assert_int_equal(ctf_writer_packet(rig->writer, 0, right, 40, 0), -EINVAL);
	assert_int_equal(ctf_writer_packet(rig->writer, 2, right, 96, 0), -EINVAL);
	assert_int_equal(put_packet(rig, right, 5), 0);
	/* The first packet ended at 1001. */
	assert_int_equal(put_packet(rig, right, 5), -EINVAL);
	assert_string_equal(asterism_diag_get(rig->diag, 0)->text,
			    "a packet of CPU 0 is damaged at byte 32: time goes back");
	rig_close_writer(rig);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, rig_set_up, rig_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(the_limit_keeps_the_newest),
		CASE(a_directory_with_files_is_left_alone),
		CASE(a_full_disk_leaves_whole_packets),
		CASE(a_wrong_packet_is_not_written),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
