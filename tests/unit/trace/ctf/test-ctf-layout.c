// SPDX-License-Identifier: BSD-2-Clause
/* Traces with LTTng's names: what the metadata says, and which ids events get. */

#include "ctf-rig.h"
#include "../../size.h"

#include "trace/ctf/layout.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

enum { SWITCH = EVENT_PACKED_ID_FIRST, ENTER, EXIT, NAMED, COUNT = NAMED };

struct names {
	struct rig *rig;
	struct event_catalog *catalog;
	struct lttng_map *map;
	struct ctf_layout *layout;
	struct ctf_writer_event events[COUNT];
};

static int set_up(void **state)
{
	static const char *const types[COUNT] = { "sched_switch", "sys_enter", "sys_exit", "sched_waking" };
	struct names *names = calloc(1, sizeof *names);

	if (rig_set_up((void **)&names->rig))
		return -1;
	names->catalog = event_catalog_new();
	if (event_catalog_read(names->catalog, NULL, "linux.events", names->rig->diag) ||
	    lttng_map_read(names->rig->diag, &names->map))
		return -1;
	for (size_t i = 0; i < COUNT; i++)
		names->events[i].type = event_catalog_find(names->catalog, types[i]);
	*state = names;
	return 0;
}

static int tear_down(void **state)
{
	struct names *names = *state;

	ctf_layout_free(names->layout);
	lttng_map_free(names->map);
	event_catalog_free(names->catalog);
	rig_tear_down((void **)&names->rig);
	free(names);
	return 0;
}

static void make_layout(struct names *names, const struct ctf_writer_event *events, size_t count)
{
	const struct ctf_layout_options options = { names->map, names->catalog, events, count };

	assert_int_equal(ctf_layout_new(&options, names->rig->diag, &names->layout), 0);
}

static void open_writer(struct names *names)
{
	struct rig *rig = names->rig;

	rig->options.events = names->events;
	rig->options.event_count = COUNT;
	rig->options.layout = names->layout;
	assert_int_equal(ctf_writer_new(rig->path, &rig->options, rig->diag, &rig->writer), 0);
}

/* The file of the trace; to be freed. */
static char *read_whole(const struct rig *rig, const char *name, size_t *length)
{
	char path[256], *bytes = calloc(1, 1 << 20);
	int fd;

	snprintf(path, sizeof path, "%s/%s", rig->path, name);
	fd = open(path, O_RDONLY);
	assert_true(fd >= 0);
	ssize_t got = read(fd, bytes, (1 << 20) - 1);
	assert_true(got >= 0);
	close(fd);
	*length = (size_t)got;
	return bytes;
}

static void expect_class(const char *metadata, const char *class)
{
	if (!strstr(metadata, class))
		print_message("not in the metadata: %s\n", class);
	assert_non_null(strstr(metadata, class));
}

static void metadata_has_the_names_of_lttng(void **state)
{
	struct names *names = *state;
	size_t length;

	make_layout(names, names->events, COUNT);
	open_writer(names);
	assert_int_equal(ctf_writer_close(names->rig->writer), 0);
	char *text = read_whole(names->rig, "metadata", &length);

	assert_int_equal(strncmp(text, "/* CTF 1.8 */\n", 14), 0);
	assert_false(ctf_metadata_is_own(text, length));
	assert_null(strstr(text, "tracer_name = \"asterism\""));
	expect_class(text, "env {\n\ttracer_name = \"lttng-modules\";\n\ttracer_major = 2;\n\ttracer_minor = 13;\n"
			   "\ttracer_patchlevel = 0;\n\tasterism_version = \"" ASTERISM_VERSION
			   "\";\n\tdomain = \"kernel\";\n\thostname = \"");
	expect_class(text, "event {\n\tname = \"sched_switch\";\n\tid = 1;\n\tstream_id = 0;\n\tfields := struct {\n"
			   "\t\ti64 _prev_state;\n\t\ti32 _prev_tid;\n\t\ti32 _prev_prio;\n\t\ti32 _next_tid;\n"
			   "\t\ti32 _next_prio;\n\t\ttext16 _prev_comm;\n\t\ttext16 _next_comm;\n\t};\n};\n");
	expect_class(text, "\tname = \"sched_waking\";\n\tid = 4;\n\tstream_id = 0;\n\tfields := struct {\n"
			   "\t\ti32 _tid;\n\t\ti32 _target_pid;\n\t\ti32 _prio;\n\t\ti32 _target_cpu;\n"
			   "\t\ttext16 _comm;\n\t};\n};\n");
	expect_class(text, "\tname = \"syscall_entry_unknown\";\n\tid = 2;\n\tstream_id = 0;\n\tfields := struct {\n"
			   "\t\ti64 _id;\n\t\tu64 _arg0;\n");
	expect_class(text,
		     "\tfields := struct {\n\t\twide_i64 _id;\n\t\twide_i32 _dfd;\n\t\twide_addr _filename;\n"
		     "\t\twide_i32 _flags;\n\t\twide_u16 _mode;\n\t\twide_u64 _unused4;\n\t\twide_u64 _unused5;\n");
	/* Its last argument is narrow, but the last field of the event is not. */
	expect_class(text, "\t\twide_addr _uaddr2;\n\t\twide_u64 _val3;\n\t};");
	expect_class(text, "\tname = \"syscall_exit_openat\";\n");
	expect_class(text, "\tname = \"lttng_statedump_process_state\";\n\tid = 65533;\n\tstream_id = 0;\n"
			   "\tfields := struct {\n\t\ti32 _tid;\n\t\ti32 _vtid;\n\t\ti32 _pid;\n\t\ti32 _vpid;\n"
			   "\t\ti32 _ppid;\n\t\ti32 _vppid;\n\t\ti32 _type;\n\t\ti32 _mode;\n\t\ti32 _submode;\n"
			   "\t\ti32 _status;\n\t\ti32 _ns_level;\n\t\tu32 _ns_inum;\n\t\tu32 _cpu;\n"
			   "\t\ttext16 _name;\n\t};\n};\n");
	free(text);
}

/* Readers refuse two fields of one name, and an analysis takes one of two classes of one name. */
static void no_name_comes_twice(void **state)
{
	struct names *names = *state;
	struct ctf_writer_event *all = calloc(4096, sizeof *all);
	const struct event_type *type;
	size_t count = 0, event_count;

	for (size_t i = 0; (type = event_catalog_get(names->catalog, i)); i++) {
		if (!strncmp(type->name, "sys_enter_", 10) || !strncmp(type->name, "sys_exit_", 9))
			continue;
		all[count++].type = type;
		assert_true(count < 4096);
	}
	make_layout(names, all, count);
	const struct ctf_event *events = ctf_layout_events(names->layout, &event_count);

	assert_true(event_count > count + 700);
	for (size_t i = 0; i < event_count; i++) {
		for (size_t j = 0; j < i; j++) {
			assert_string_not_equal(events[i].name, events[j].name);
			assert_int_not_equal(events[i].id, events[j].id);
		}
		for (uint32_t j = 0; j < events[i].field_count; j++) {
			for (uint32_t k = 0; k < j; k++)
				assert_string_not_equal(events[i].fields[j].name, events[i].fields[k].name);
		}
	}
	free(all);
}

/* The id of the class called name. */
static uint32_t id_of(const struct names *names, const char *name)
{
	size_t count;
	const struct ctf_event *events = ctf_layout_events(names->layout, &count);

	for (size_t i = 0; i < count; i++) {
		if (strcmp(events[i].name, name) == 0)
			return events[i].id;
	}
	fail_msg("no class %s", name);
	return 0;
}

static void calls_get_the_id_of_their_class(void **state)
{
	static const int64_t numbers[] = { 257, -1, INT64_MAX, 0, 1023 };
	static const char *const classes[] = { "syscall_exit_openat", "syscall_exit_unknown", "syscall_exit_unknown",
					       "syscall_exit_read", "syscall_exit_unknown" };
	struct names *names = *state;
	struct ring_packet header = { .timestamp_begin = 1000 };
	uint64_t bytes[12 + 5 * 3];
	size_t length;

	make_layout(names, names->events, COUNT);
	open_writer(names);
	memcpy(bytes, &header, sizeof header);
	for (size_t i = 0; i < 5; i++) {
		bytes[12 + i * 3] = event_packed_word(EXIT, 1000 + i);
		bytes[13 + i * 3] = (uint64_t)numbers[i];
		bytes[14 + i * 3] = i;
	}
	assert_int_equal(ctf_writer_packet(names->rig->writer, 0, bytes, sizeof bytes, 0), 0);
	assert_int_equal(ctf_writer_close(names->rig->writer), 0);
	char *file = read_whole(names->rig, "stream_0", &length);

	assert_int_equal(length, sizeof bytes);
	for (size_t i = 0; i < 5; i++) {
		uint64_t word;

		memcpy(&word, file + 96 + i * 24, sizeof word);
		assert_int_equal(event_packed_word_id(word), id_of(names, classes[i]));
		assert_int_equal(event_packed_word_ts(word, 1000), 1000 + i);
	}
	free(file);
}

/* The layouts of what is recorded, by id; the events of the bytes as they are in the trace. */
static size_t apply(struct names *names, const uint64_t *words, size_t count, char *to)
{
	struct event_packed *packed = calloc(COUNT + 1, sizeof *packed);
	const struct ctf_events events = { (const char *)words, count * sizeof *words };

	packed[EVENT_PACKED_ID_CONTEXT].fixed_bytes = sizeof(struct event_packed_context);
	for (size_t i = 0; i < COUNT; i++)
		event_packed_init(&packed[EVENT_PACKED_ID_FIRST + i], names->events[i].type, names->events[i].recorded);
	size_t length = ctf_layout_apply(names->layout, packed, &events, to);

	free(packed);
	return length;
}

static uint32_t id_at(const char *bytes)
{
	uint64_t word;

	memcpy(&word, bytes, sizeof word);
	return event_packed_word_id(word);
}

/* Without the number calls cannot be told apart. */
static void without_the_number_the_type_stays(void **state)
{
	static const bool no_number[7] = { false, true };
	struct names *names = *state;
	const uint64_t words[] = { event_packed_word(ENTER, 1), 257, event_packed_word(EXIT, 2), 257, 0 };
	char bytes[sizeof words * CTF_LAYOUT_GROWTH];

	names->events[1].recorded = no_number;
	make_layout(names, names->events, COUNT);
	assert_int_equal(id_of(names, "sys_enter"), ENTER);
	assert_int_equal(apply(names, words, 5, bytes), sizeof words);
	assert_int_equal(id_at(bytes), ENTER);
	assert_int_equal(id_at(bytes + 16), id_of(names, "syscall_exit_openat"));
}

/* Who raised the event, where it is a field of LTTng's event: from the context that holds. */
static void an_event_says_who_raised_it(void **state)
{
	struct names *names = *state;
	struct event_packed_context context = { .tid = 12, .pid = 11, .comm = "fifteen letters" };
	uint64_t words[] = { event_packed_word(SWITCH, 1), 120, event_packed_word(0, 2), 0, 0, 0,
			     event_packed_word(SWITCH, 3), 121 };
	char bytes[sizeof words * CTF_LAYOUT_GROWTH];
	int32_t prio, tid;

	names->events[0].type = event_catalog_find(names->catalog, "sched_process_exit");
	assert_int_equal(names->events[0].type->field_count, 1 + 1);
	names->events[0].recorded = (const bool[2]){ !strcmp(names->events[0].type->fields[0].name, "prio"),
						     !strcmp(names->events[0].type->fields[1].name, "prio") };
	make_layout(names, names->events, COUNT);
	memcpy(&words[3], &context, sizeof context);
	/* Nothing is known yet: a word, prio, tid, an empty text, padded; then the context, then the other. */
	assert_int_equal(apply(names, words, 8, bytes), 24 + 32 + 8 + 4 + 4 + 16);
	memcpy(&tid, bytes + 12, sizeof tid);
	assert_int_equal(tid, 0);
	assert_string_equal(bytes + 16, "");
	assert_int_equal(id_at(bytes + 24), EVENT_PACKED_ID_CONTEXT);
	assert_memory_equal(bytes + 32, &context, sizeof context);
	assert_int_equal(id_at(bytes + 56), SWITCH);
	memcpy(&prio, bytes + 64, sizeof prio);
	memcpy(&tid, bytes + 68, sizeof tid);
	assert_int_equal(prio, 121);
	assert_int_equal(tid, 12);
	assert_string_equal(bytes + 72, "fifteen letters");
}

static void a_state_dump_goes_with_the_matches(void **state)
{
	struct names *names = *state;
	struct ctf_process process = { .tid = 12, .pid = 11, .cpu = 3, .name = "dumped" };
	struct ring_packet header;
	struct ctf_writer_totals totals;
	size_t length;

	make_layout(names, names->events, COUNT);
	open_writer(names);
	assert_int_equal(ctf_writer_state(names->rig->writer, 500, CTF_ID_STATE_START, NULL), 0);
	assert_int_equal(ctf_writer_state(names->rig->writer, 500, CTF_ID_STATE_PROCESS, &process), 0);
	ctf_writer_totals(names->rig->writer, &totals);
	assert_int_equal(totals.events, 0);
	assert_int_equal(ctf_writer_close(names->rig->writer), 0);
	char *file = read_whole(names->rig, "matches", &length);

	/* A context and an event; then these and 13 numbers with the name. */
	assert_int_equal(length, 96 + 8 + 24 + 8 + 96 + 8 + 24 + 8 + 52 + 7 + 5);
	memcpy(&header, file + 136, sizeof header);
	assert_int_equal(header.timestamp_begin, 500);
	assert_int_equal(header.packet_seq_num, 1);
	assert_int_equal(header.content_bits, (96 + 8 + 24 + 8 + 52 + 7) * 8);
	assert_memory_equal(file + 136 + 136, &process, 52 + 7);
	free(file);
}

static void no_memory_is_reported(void **state)
{
	struct names *names = *state;
	const struct ctf_layout_options options = { names->map, names->catalog, names->events, COUNT };
	int result = -ENOMEM;
	unsigned long n = 0;

	while (result) {
		asterism_diag_clear(names->rig->diag);
		alloc_fail_at(n = sized_next(n));
		result = ctf_layout_new(&options, names->rig->diag, &names->layout);
		alloc_fail_at(0);
		assert_true(result == 0 || result == -ENOMEM);
		assert_true(n < 100000);
	}
	assert_true(n > 3);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(metadata_has_the_names_of_lttng), CASE(no_name_comes_twice),
		CASE(calls_get_the_id_of_their_class), CASE(without_the_number_the_type_stays),
		CASE(an_event_says_who_raised_it),     CASE(a_state_dump_goes_with_the_matches),
		CASE(no_memory_is_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
